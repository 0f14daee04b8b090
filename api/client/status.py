"""The status of devices, as typed values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

from api.catalog import FLOW_RATE, INSIGHT_LIMIT, INSIGHT_PREFIX, Resolution
from api.client.balance import Balance, balance
from api.client.billing import MonthEndSum, month_end_sum
from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    maybe_object,
    maybe_text,
    maybe_whole,
    needed_instant,
    number,
    path_of,
    text,
    whole,
)
from api.client.findings import Finding, finding
from api.client.replies import Device, Series, device
from api.client.request_protocol import Requests
from api.errors import NotFound, NotOffered
from api.metering.cost import Price
from api.metering.windows import DEFAULT_SPAN, SPANS, Span
from api.timez import stamp

StatusPart = Literal["finding", "line", "strip", "notes", "summary", "groups"]


class WindowStatus(NamedTuple):
    """Observed and expected buckets, lowest and highest quality."""

    actual: int
    expected: int
    quality_min: float | None
    quality_max: float | None


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """One device's status.

    ``state`` is a name of `api.metering.status.State`. ``flow`` (gal/min), ``signal_strength`` and
    ``network_rssi`` (dBm) are current, or None. Volumes are gallons. ``windows`` are by the names
    of `SPANS`. ``findings`` are the open kinds. ``as_of_ms`` None: not evaluated yet. ``price`` is
    set only if a single device was requested; ``finding`` (the worst open one), ``line``,
    ``strip``, ``notes`` and ``usual`` only if they were included in the request for a page.
    """

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
    finding: Finding | None = None
    line: Series | None = None
    strip: Strip | None = None
    notes: tuple[StatusNote, ...] = ()
    usual: UsualRates | None = None


class UsualRates(NamedTuple):
    """The usual flow: gal/min in steps of ``step_ms`` from ``start_ms`` on, None for unknown."""

    start_ms: int
    step_ms: int
    rates: tuple[float | None, ...]


class StatusNote(NamedTuple):
    """``to_ms`` None: an instant."""

    from_ms: int
    to_ms: int | None
    text: str


class Strip(NamedTuple):
    """Cells of ``step_ms`` from ``start_ms`` on: buckets with a reading, buckets due."""

    start_ms: int
    step_ms: int
    observed: tuple[int, ...]
    expected: tuple[int, ...]


class UsualToday(NamedTuple):
    """Gallons of today so far and the usual gallons by now, for the ``devices`` with a history."""

    devices: int = 0
    volume: float = 0.0
    usual: float = 0.0


class Observed(NamedTuple):
    """Seconds of buckets with a reading, and of all due buckets."""

    observed_s: int
    expected_s: int


@dataclass(frozen=True, slots=True)
class Attention:
    """``devices`` have an open finding that is critical or a warning, by kind in ``kinds``; their
    cost a day, by currency; notices by kind."""

    devices: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    costs_per_day: Mapping[str, float] = field(default_factory=dict[str, float])
    notices: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class StatusPage:
    """``count`` is the number of all matches; ``summary`` and ``groups`` if they were requested."""

    count: int
    rows: tuple[DeviceStatus, ...]
    summary: StatusSummary | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatusSummary:
    """Counts and sums of active devices; the sums cover ``evaluated`` of them.

    Flow, volume and costs exclude ``sub_meters`` devices, whose water another one has measured.
    ``costs_today`` are by currency; ``uptime_24h`` is 0 to 1; ``flowing`` and ``quiet`` devices
    have a current reading; ``uptime`` is by the names of `SPANS`. Readings of ``unchecked`` devices
    weren't checked for findings yet; those up to ``checked_ms`` were.
    """

    devices: int
    sub_meters: int
    states: Mapping[str, int]
    flow: float | None
    volume_today: float | None
    costs_today: Mapping[str, float]
    uptime_24h: float | None
    findings: Mapping[str, int]
    as_of_ms: int | None
    evaluated: int = 0
    flowing: int = 0
    quiet: int = 0
    uptime: Mapping[str, Observed] = field(default_factory=dict[str, Observed])
    attention: Attention = field(default_factory=Attention)
    usual: UsualToday = field(default_factory=UsualToday)
    unchecked: int = 0
    checked_ms: int | None = None
    month_end: MonthEndSum | None = None


class StatusMethods(Requests, Protocol):
    """The part of `Client` for status."""

    def statuses(
        self,
        *,
        search: str = "",
        states: Iterable[str] = (),
        group: str = "",
        kind: str = "",
        order_by: str = "worst",
        descending: bool = False,
        limit: int = INSIGHT_LIMIT.default or 0,
        offset: int = 0,
        ids: Sequence[str] = (),
        include: Collection[StatusPart] = (),
        window: Span = DEFAULT_SPAN,
    ) -> StatusPage:
        """Returns a page of statuses, or those of these ``ids``. ``include``: parts to add; lines,
        strips and notes cover ``window``, for at most 50 devices. All of these methods raise
        NotOffered where the server keeps no status."""
        params = {
            "q": search,
            "state": ",".join(states),
            "group": group,
            "kind": kind,
            "orderBy": order_by,
            "order": "desc" if descending else "asc",
            "limit": str(limit),
            "offset": str(offset),
            "ids": ",".join(ids),
            "include": ",".join(include),
            "window": window.name if window is not DEFAULT_SPAN else "",
        }
        return status_page(self._insight("/devices", params), window.line)

    def status_summary(self, *, search: str = "", group: str = "", kind: str = "") -> StatusSummary:
        params = {"q": search, "group": group, "kind": kind}
        return status_summary(self._insight("/summary", params))

    def groups(self) -> tuple[str, ...]:
        """Returns the names of the groups within the credential's grant, at most 1,000."""
        return group_names(self._insight("/groups", {"limit": str(INSIGHT_LIMIT.maximum)}))

    def balance(self, identifier: str, *, from_ms: int, to_ms: int) -> Balance:
        """Compares a main with its sub-meters, if any. Raises NotFound and NotOffered."""
        path = f"{path_of('/devices', identifier)}/balance"
        params = {"from": stamp(from_ms, fraction=True), "to": stamp(to_ms, fraction=True)}
        try:
            return balance(self._fetch(INSIGHT_PREFIX + path, params))
        except NotFound as error:
            if "Device" in str(error):
                raise
            raise NotOffered("This server knows no mains and sub-meters.") from error

    def status(self, identifier: str) -> DeviceStatus:
        """Returns one device's status, with its price. Raises NotFound."""
        path = path_of(f"{INSIGHT_PREFIX}/devices", identifier)
        return device_status(self._fetch(path, {}))

    def _insight(self, path: str, params: Mapping[str, str]) -> Any:
        given = {name: value for name, value in params.items() if value}
        try:
            return self._fetch(INSIGHT_PREFIX + path, given)
        except NotFound as error:
            raise NotOffered("This server keeps no status of its devices.") from error


def status_page(body: Any, line: Resolution) -> StatusPage:
    """``line`` is the resolution of lines."""
    answer = an_object(body, "answer")
    rows = a_list(answer.get("data"), "data")
    summary = answer.get("summary")
    return StatusPage(
        whole(answer, "count"),
        tuple(_with_parts(row, line) for row in rows),
        None if summary is None else status_summary(summary),
        tuple(str(name) for name in a_list(answer.get("groups", []), "groups")),
    )


def _with_parts(body: Any, line: Resolution) -> DeviceStatus:
    row = an_object(body, "row")
    open_finding = row.get("finding")
    return replace(
        device_status(row),
        finding=None if open_finding is None else finding(open_finding),
        line=_line(maybe_object(row, "line"), line),
        strip=_strip(maybe_object(row, "strip")),
        usual=_usual_rates(maybe_object(maybe_object(row, "line"), "usual")),
        notes=tuple(map(_note, a_list(row.get("notes", []), "notes"))),
    )


def _usual_rates(body: Json) -> UsualRates | None:
    if not body:
        return None
    rates = tuple(a_list(body.get("rates"), "rates"))
    return UsualRates(needed_instant(body, "start"), whole(body, "step") * 1000, rates)


def _line(body: Json, resolution: Resolution) -> Series | None:
    """Returns the rows that exist."""
    if not body:
        return None
    start, step = needed_instant(body, "start"), whole(body, "step") * 1000
    columns = [a_list(body.get(name), name) for name in ("mean", "least", "greatest")]
    at = [index for index, value in enumerate(columns[0]) if value is not None]
    names = (f"{end}_{FLOW_RATE.name}" for end in ("avg", "min", "max"))
    return Series(
        resolution=resolution,
        times_ms=[start + index * step for index in at],
        columns={
            name: [values[index] for index in at]
            for name, values in zip(names, columns, strict=True)
        },
    )


def _strip(body: Json) -> Strip | None:
    if not body:
        return None
    counts = (tuple(a_list(body.get(name), name)) for name in ("observed", "expected"))
    return Strip(needed_instant(body, "start"), whole(body, "step") * 1000, *counts)


def _note(value: Any) -> StatusNote:
    body = an_object(value, "note")
    return StatusNote(needed_instant(body, "from"), instant(body, "to"), text(body, "text"))


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
    own, tariff = body.get("source") == "device", maybe_text(body, "tariff") or ""
    return Price(per_gallon, text(body, "currency"), own, tariff)


def status_summary(body: Any) -> StatusSummary:
    answer = an_object(body, "answer")
    return StatusSummary(
        devices=whole(answer, "devices"),
        sub_meters=maybe_whole(answer, "subMeters") or 0,
        states=_counts(answer, "states"),
        flow=number(answer, "flow"),
        volume_today=number(answer, "volumeToday"),
        costs_today=_costs(answer, "costToday"),
        uptime_24h=number(answer, "uptime24h"),
        findings=_counts(answer, "findings"),
        as_of_ms=instant(answer, "asOf"),
        evaluated=maybe_whole(answer, "evaluated") or 0,
        flowing=maybe_whole(answer, "flowing") or 0,
        quiet=maybe_whole(answer, "quiet") or 0,
        uptime={span.name: _observed(answer, span.name) for span in SPANS},
        usual=_usual(maybe_object(answer, "usualToday")),
        attention=_attention(maybe_object(answer, "attention")),
        unchecked=maybe_whole(maybe_object(answer, "unchecked"), "devices") or 0,
        checked_ms=instant(maybe_object(answer, "unchecked"), "checkedTo"),
        month_end=month_end_sum(answer),
    )


def _observed(body: Json, name: str) -> Observed:
    fields = maybe_object(maybe_object(body, "uptime"), name)
    return Observed(maybe_whole(fields, "observed") or 0, maybe_whole(fields, "expected") or 0)


def _usual(body: Json) -> UsualToday:
    return UsualToday(
        maybe_whole(body, "devices") or 0,
        number(body, "volume") or 0.0,
        number(body, "usual") or 0.0,
    )


def _attention(body: Json) -> Attention:
    if not body:
        return Attention()
    return Attention(
        devices=whole(body, "devices"),
        kinds=_counts(body, "kinds"),
        costs_per_day=_costs(body, "costPerDay"),
        notices=_counts(body, "notices"),
    )


def _costs(body: Json, name: str) -> dict[str, float]:
    costs = [an_object(each, name) for each in a_list(body.get(name), name)]
    return {text(cost, "currency"): number(cost, "amount") or 0.0 for cost in costs}


def _counts(body: Json, name: str) -> dict[str, int]:
    counts = an_object(body.get(name), name)
    return {key: whole(counts, key) for key in counts}
