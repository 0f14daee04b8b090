"""The registers of a device, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from api.catalog import INSIGHT_LIMIT, INSIGHT_PREFIX
from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    needed_instant,
    number,
    path_of,
    text,
    whole,
)
from api.client.request_protocol import Requests
from api.errors import NotFound, NotOffered
from api.timez import stamp


@dataclass(frozen=True, slots=True)
class Register:
    """The register of a meter, in ``unit``. ``gallons`` since ``since_ms``, the previous register;
    None where unknown. ``flags``: names of `api.metering.register.Flag`."""

    recorded_ms: int
    register: float
    unit: str
    since_ms: int | None
    gallons: float | None
    flags: tuple[str, ...]
    fall: float | None


@dataclass(frozen=True, slots=True)
class RegisterPage:
    """``count`` is the number of all matches."""

    count: int
    registers: tuple[Register, ...]


class RegisterMethods(Requests, Protocol):
    """The client's methods for registers."""

    def registers(
        self,
        identifier: str,
        *,
        from_ms: int | None = None,
        to_ms: int | None = None,
        limit: int = INSIGHT_LIMIT.default or 0,
        newest_first: bool = False,
    ) -> RegisterPage:
        """Returns registers in order of time. Raises NotOffered where the server isn't Weir,
        NotFound for an unknown device."""
        params: dict[str, Any] = {"limit": limit, "order": "desc" if newest_first else "asc"}
        for name, instant_ms in (("from", from_ms), ("to", to_ms)):
            if instant_ms is not None:
                params[name] = stamp(instant_ms, fraction=True)
        path = f"{path_of(f'{INSIGHT_PREFIX}/devices', identifier)}/registers"
        try:
            answer = an_object(self._fetch(path, params), "answer")
        except NotFound as error:
            if "Device" in str(error):
                raise
            raise NotOffered("This server keeps no registers.") from error
        rows = a_list(answer.get("data"), "data")
        registers = tuple(_register(an_object(row, "data")) for row in rows)
        return RegisterPage(whole(answer, "count"), registers)


def _register(row: Json) -> Register:
    value = number(row, "register")
    return Register(
        recorded_ms=needed_instant(row, "recordedAt"),
        register=0.0 if value is None else value,
        unit=text(row, "unit"),
        since_ms=instant(row, "since"),
        gallons=number(row, "volume"),
        flags=tuple(str(flag) for flag in a_list(row.get("flags"), "flags")),
        fall=number(row, "fall"),
    )
