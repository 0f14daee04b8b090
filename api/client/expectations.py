"""Usual hours, forecasts and comparisons, as typed values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Final, NamedTuple, Protocol

from api.catalog import COLUMNS_TYPE, FLOW_RATE, INSIGHT_PREFIX, Metric, Resolution
from api.client.billing import BudgetStatus, budget_status
from api.client.fields import (
    Json,
    a_list,
    an_object,
    maybe_object,
    maybe_text,
    needed_instant,
    needed_number,
    number,
    path_of,
    text,
    whole,
)
from api.client.request_protocol import Requests
from api.client.transport import Params
from api.errors import NotFound, NotOffered, UnexpectedAnswer
from api.metering.forecast import ForecastHour, Interval
from api.metering.usual_band import UsualHour
from api.timez import stamp

_Fetch = Callable[[str, Params, str], Any]
_COLUMNS: Final = f"{COLUMNS_TYPE}, application/json;q=0.9"


class Amounts(NamedTuple):
    """``so_far`` in this month, and the expected total; None where it is too early to say."""

    so_far: float
    expected: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class MonthEnd:
    """``month``: 2026-11, in the device's zone. ``cost`` None: no price is known. ``tariff``: the
    name of the tariff used, "" for a plain price. ``budgets``: the device's own."""

    month: str
    volume: Amounts
    cost: Amounts | None
    currency: str
    tariff: str = ""
    budgets: tuple[BudgetStatus, ...] = ()


class ComparedBucket(NamedTuple):
    """``bucket_start_ms`` is the bucket's own; level, gallons and ``other_start_ms`` are those of
    its counterpart."""

    bucket_start_ms: int
    other_start_ms: int
    level: float | None
    gallons: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """``difference`` (gallons) and ``percent`` None: unknown."""

    gallons: float | None
    other_gallons: float | None
    difference: float | None
    percent: float | None
    buckets: tuple[ComparedBucket, ...]


@dataclass(frozen=True, slots=True)
class ItemVolumes:
    """The volumes of one device or group. ``device_id`` empty: a group. ``volumes``: gallons of
    each bucket, None without a reading; ``coverage`` 0 to 1."""

    item: str
    label: str
    device_id: str
    serial_number: str
    devices: int
    sub_meters: int
    attributes: Mapping[str, float]
    gallons: float | None
    coverage: float
    volumes: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Volumes:
    """``edges_ms``: the starts of the buckets, and the end of the last one."""

    timezone: str
    edges_ms: tuple[int, ...]
    items: tuple[ItemVolumes, ...]


class ExpectationMethods(Requests, Protocol):
    """The part of `Client` for usual hours, forecasts and month ends.

    Raises NotOffered if the server isn't Weir.
    """

    def usual(self, identifier: str, *, from_ms: int, to_ms: int) -> list[UsualHour]:
        """Returns the usual hours of a device; none for days with fewer than 21 days before
        them."""
        params = {"from": stamp(from_ms, fraction=True), "to": stamp(to_ms, fraction=True)}
        body = _of_device(self._fetch, identifier, "usual", params, _COLUMNS)
        names = ("bucket_start", "volume", "low", "high")
        return list(starmap(UsualHour, _columns(body, names)))

    def comparison(
        self,
        identifier: str,
        compare: str,
        resolution: Resolution,
        *,
        from_ms: int,
        to_ms: int,
        timezone: str | None = None,
        metric: Metric = FLOW_RATE,
    ) -> Comparison:
        """``compare``: day, week, month, year, or ``device:`` and an identifier."""
        params = {
            "compare": compare,
            "resolution": resolution.name,
            "from": stamp(from_ms, fraction=True),
            "to": stamp(to_ms, fraction=True),
            "metric": metric.name,
            **({} if timezone is None else {"timezone": timezone}),
        }
        answer = _of_device(self._fetch, identifier, "comparison", params, _COLUMNS)
        body = an_object(answer, "answer")
        names = ("bucket_start", "other_start", "value", "volume")
        return Comparison(
            number(body, "volume"),
            number(body, "otherVolume"),
            number(body, "difference"),
            number(body, "percent"),
            tuple(starmap(ComparedBucket, _columns(body, names))),
        )

    def volumes(
        self,
        items: Sequence[str],
        resolution: Resolution,
        *,
        from_ms: int,
        to_ms: int,
        timezone: str | None = None,
    ) -> Volumes:
        """``items``: ``device:`` and an identifier, or ``group:`` and a name. Those that don't
        exist are left out. Raises NotFound where none exists."""
        params: Params = {
            "item": list(items),
            "resolution": resolution.name,
            "from": stamp(from_ms, fraction=True),
            "to": stamp(to_ms, fraction=True),
            **({} if timezone is None else {"timezone": timezone}),
        }
        try:
            body = an_object(self._fetch(f"{INSIGHT_PREFIX}/volumes", params), "answer")
        except NotFound as error:
            if "Device" in str(error):
                raise
            raise NotOffered("This server can't compare devices.") from error
        starts = [_instant(each) for each in a_list(body.get("starts"), "starts")]
        edges = (*starts, needed_instant(body, "end")) if starts else ()
        items_ = a_list(body.get("data"), "data")
        return Volumes(
            text(body, "timezone"),
            edges,
            tuple(_item_volumes(an_object(each, "item"), len(starts)) for each in items_),
        )

    def forecast(
        self, identifier: str, *, hours: int | None = None, as_of_ms: int | None = None
    ) -> list[ForecastHour]:
        """Returns the coming hours, from readings before ``as_of_ms`` (default: now) only."""
        params = _as_of(as_of_ms) | ({} if hours is None else {"hours": str(hours)})
        return [
            ForecastHour(
                needed_instant(row, "bucket_start"), needed_number(row, "volume"), _interval(row)
            )
            for row in _rows(_of_device(self._fetch, identifier, "forecast", params))
        ]

    def month_end(self, identifier: str, *, as_of_ms: int | None = None) -> MonthEnd:
        answer = _of_device(self._fetch, identifier, "month-end", _as_of(as_of_ms))
        body = an_object(answer, "answer")
        cost = maybe_object(body, "cost")
        return MonthEnd(
            text(body, "month"),
            _amounts(body),
            _amounts(cost) if cost else None,
            text(cost, "currency") if cost else "",
            (maybe_text(cost, "tariff") or "") if cost else "",
            tuple(map(budget_status, a_list(body.get("budgets") or [], "budgets"))),
        )


def _of_device(
    fetch: _Fetch, identifier: str, what: str, params: Params, accept: str = "application/json"
) -> Any:
    """Raises NotOffered where the server isn't Weir, NotFound for an unknown device."""
    try:
        return fetch(f"{path_of(f'{INSIGHT_PREFIX}/devices', identifier)}/{what}", params, accept)
    except NotFound as error:
        if "Device" in str(error):
            raise
        raise NotOffered("This server knows nothing of what is usual.") from error


def _item_volumes(body: Json, buckets: int) -> ItemVolumes:
    volumes = tuple(_number_or_none(each) for each in a_list(body.get("volumes"), "volumes"))
    if len(volumes) != buckets:
        raise UnexpectedAnswer("volumes: must be one a bucket")
    attributes = maybe_object(body, "attributes")
    return ItemVolumes(
        item=text(body, "item"),
        label=text(body, "label", ""),
        device_id=text(body, "deviceId", ""),
        serial_number=text(body, "serialNumber", ""),
        devices=whole(body, "devices"),
        sub_meters=whole(body, "subMeters"),
        attributes={name: needed_number(attributes, name) for name in attributes},
        gallons=number(body, "volume"),
        coverage=needed_number(body, "coverage"),
        volumes=volumes,
    )


def _number_or_none(value: Any) -> float | None:
    if value is None:
        return None
    return needed_number({"volumes": value}, "volumes")


def _instant(value: Any) -> int:
    return needed_instant({"starts": value}, "starts")


def _as_of(as_of_ms: int | None) -> dict[str, str]:
    return {} if as_of_ms is None else {"asOf": stamp(as_of_ms, fraction=True)}


def _rows(body: Any) -> list[Json]:
    rows = a_list(an_object(body, "answer").get("data"), "data")
    return [an_object(row, "row") for row in rows]


def _columns(body: Any, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of a columnar response, whose starts are epoch milliseconds."""
    columns = an_object(an_object(body, "answer").get("columns"), "columns")
    lists = [a_list(columns.get(name), name) for name in names]
    if len({len(each) for each in lists}) > 1:
        raise UnexpectedAnswer("columns: must be of one length")
    return zip(*lists, strict=True)


def _interval(row: Json) -> Interval | None:
    low80, high80, low95, high95 = (number(row, name) for name in Interval._fields)
    if low80 is None or high80 is None or low95 is None or high95 is None:
        return None
    return Interval(low80, high80, low95, high95)


def _amounts(body: Json) -> Amounts:
    return Amounts(number(body, "soFar") or 0.0, number(body, "expected"), _interval(body))
