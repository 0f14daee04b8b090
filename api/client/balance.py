"""A main compared with its sub-meters, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from api.client.fields import Json, a_list, an_object, maybe_object, number, text, whole


class MeteredVolume(NamedTuple):
    """``gallons`` None: no hour was comparable."""

    device_id: str
    serial_number: str
    label: str
    gallons: float | None


@dataclass(frozen=True, slots=True)
class Balance:
    """``outlet`` and ``difference`` are gallons over the ``compared`` hours of ``hours``; ``share``
    is that of the inlet, 0 to 1."""

    main: MeteredVolume
    sub_meters: tuple[MeteredVolume, ...]
    outlet: float | None
    difference: float | None
    share: float | None
    compared: int
    hours: int


def balance(body: Any) -> Balance:
    answer = an_object(body, "answer")
    hours = maybe_object(answer, "hours")
    return Balance(
        main=_volume(an_object(answer.get("main"), "main")),
        sub_meters=tuple(
            _volume(an_object(each, "subMeters"))
            for each in a_list(answer.get("subMeters"), "subMeters")
        ),
        outlet=number(answer, "outlet"),
        difference=number(answer, "difference"),
        share=number(answer, "share"),
        compared=whole(hours, "compared"),
        hours=whole(hours, "of"),
    )


def _volume(body: Json) -> MeteredVolume:
    return MeteredVolume(
        text(body, "deviceId"),
        text(body, "serialNumber"),
        text(body, "label", ""),
        number(body, "gallons"),
    )
