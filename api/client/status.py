"""The status of devices, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    maybe_object,
    maybe_whole,
    number,
    text,
    whole,
)
from api.client.replies import Device, device
from api.metering.cost import Price
from api.metering.windows import SPANS


class WindowStatus(NamedTuple):
    """Observed and expected buckets, least and greatest quality."""

    actual: int
    expected: int
    quality_min: float | None
    quality_max: float | None


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """One device's row. ``state`` is a name of `api.metering.status.State`; ``flow`` (gal/min),
    ``signal_strength`` and ``network_rssi`` (dBm) are of now or None; volumes in gallons;
    ``windows`` by the names of `SPANS`; ``findings`` the kinds that are open. ``as_of_ms`` None: it
    was never looked at. ``price`` only where a single device was asked for."""

    device: Device
    state: str
    cadence_s: float | None
    event_driven: bool
    last_seen_ms: int | None
    flow: float | None
    signal_strength: float | None
    network_rssi: float | None
    windows: Mapping[str, WindowStatus]
    volume_today: float | None
    volume_month: float | None
    findings: tuple[str, ...]
    as_of_ms: int | None
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class StatusPage:
    """``count`` is of all that match."""

    count: int
    rows: tuple[DeviceStatus, ...]


@dataclass(frozen=True, slots=True)
class StatusSummary:
    """Counts and sums of active devices; flow, volume and costs leave ``sub_meters`` of them out,
    whose water another one has measured. ``costs_today`` by currency; ``uptime_24h`` 0 to 1."""

    devices: int
    sub_meters: int
    states: Mapping[str, int]
    flow: float | None
    volume_today: float | None
    costs_today: Mapping[str, float]
    uptime_24h: float | None
    findings: Mapping[str, int]
    as_of_ms: int | None


def status_page(body: Any) -> StatusPage:
    answer = an_object(body, "answer")
    rows = a_list(answer.get("data"), "data")
    return StatusPage(whole(answer, "count"), tuple(device_status(row) for row in rows))


def group_names(body: Any) -> tuple[str, ...]:
    rows = a_list(an_object(body, "answer").get("data"), "data")
    return tuple(text(an_object(row, "group"), "name") for row in rows)


def device_status(body: Any) -> DeviceStatus:
    row = an_object(body, "row")
    windows, volume = maybe_object(row, "windows"), maybe_object(row, "volume")
    radio = maybe_object(row, "radio")
    return DeviceStatus(
        device=device(an_object(row.get("device"), "device")),
        state=text(row, "state"),
        cadence_s=number(row, "cadence"),
        event_driven=row.get("eventDriven") is True,
        last_seen_ms=instant(row, "lastSeen"),
        flow=number(row, "flow"),
        signal_strength=number(radio, "signalStrength"),
        network_rssi=number(radio, "networkRssi"),
        windows={span.name: _window(maybe_object(windows, span.name)) for span in SPANS},
        volume_today=number(volume, "today"),
        volume_month=number(volume, "month"),
        findings=tuple(str(kind) for kind in a_list(row.get("findings"), "findings")),
        as_of_ms=instant(row, "asOf"),
        price=_price(maybe_object(row, "price")),
    )


def _window(body: Json) -> WindowStatus:
    uptime, quality = maybe_object(body, "uptime"), maybe_object(body, "quality")
    return WindowStatus(
        maybe_whole(uptime, "actual") or 0,
        maybe_whole(uptime, "expected") or 0,
        number(quality, "min"),
        number(quality, "max"),
    )


def _price(body: Json) -> Price | None:
    per_gallon = number(body, "perGallon")
    if per_gallon is None:
        return None
    return Price(per_gallon, text(body, "currency"), own=body.get("source") == "device")


def status_summary(body: Any) -> StatusSummary:
    answer = an_object(body, "answer")
    costs = [an_object(each, "costToday") for each in a_list(answer.get("costToday"), "costToday")]
    return StatusSummary(
        devices=whole(answer, "devices"),
        sub_meters=maybe_whole(answer, "subMeters") or 0,
        states=_counts(answer, "states"),
        flow=number(answer, "flow"),
        volume_today=number(answer, "volumeToday"),
        costs_today={text(cost, "currency"): number(cost, "amount") or 0.0 for cost in costs},
        uptime_24h=number(answer, "uptime24h"),
        findings=_counts(answer, "findings"),
        as_of_ms=instant(answer, "asOf"),
    )


def _counts(body: Json, name: str) -> dict[str, int]:
    counts = an_object(body.get(name), name)
    return {key: whole(counts, key) for key in counts}
