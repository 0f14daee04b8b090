"""What is usual for a device, its coming hours, and its month end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from api.catalog import COLUMNS_TYPE, INSIGHT_PREFIX
from api.domain.identify import identify
from api.errors import BadRequest, ParameterProblem
from api.insight.budgets import BudgetState, budgets_of, state_of_row
from api.insight.comparison import MOST_BUCKETS, Question, buckets, with_device, with_earlier
from api.insight.expectations import forecast_of, usual_of
from api.insight.month_ends import row_of
from api.insight.tariffs import Prices
from api.metering.comparison import OTHER_DEVICE, SHIFT_BY_NAME
from api.metering.forecast import Interval
from api.openapi import Operation, ref
from api.params.expectations import AsOfQuery, ComparisonQuery, ForecastQuery, UsualQuery
from api.routes.billing import budget_object
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import Device, MonthEndRow
from api.timez import now_ms, zone_or_utc

_BOUNDS: Final = Interval._fields
_AMOUNTS: Final = ("soFar", "expected", *_BOUNDS)
_FIRST: Final = MonthEndRow._fields.index("so_far")
_VOLUMES: Final = slice(_FIRST, _FIRST + len(_AMOUNTS))
_COSTS: Final = slice(_FIRST + len(_AMOUNTS), _FIRST + 2 * len(_AMOUNTS))


def get_usual(call: Call[UsualQuery]) -> Reply:
    query = call.query
    device = identify(call.store, call.scope, call.identifier)
    rows = usual_of(call.store, call.scope, device, query.from_ms, query.to_ms)
    body = {"timezone": zone_or_utc(device.time_zone).key, "count": len(rows)}
    return _rows_reply(call, body, ("bucket_start", "volume", "low", "high"), rows)


def get_forecast(call: Call[ForecastQuery]) -> Reply:
    query = call.query
    device = identify(call.store, call.scope, call.identifier)
    as_of_ms = now_ms() if query.as_of_ms is None else query.as_of_ms
    rows = forecast_of(call.store, call.scope, device, as_of_ms, query.hours)
    data = [
        {
            "bucket_start": instant(row.bucket_start_ms),
            "volume": row.volume,
            **_interval(row.interval),
        }
        for row in rows
    ]
    body = {"asOf": instant(as_of_ms), "timezone": zone_or_utc(device.time_zone).key}
    return Reply(body | {"count": len(data), "data": data})


def get_month_end(call: Call[AsOfQuery]) -> Reply:
    device = identify(call.store, call.scope, call.identifier)
    as_of_ms = now_ms() if call.query.as_of_ms is None else call.query.as_of_ms
    prices = Prices.read(call.store, device.organization_id)
    groups = prices.groups(call.store, [device]).get(device.key, ())
    row = row_of(call.store, device, prices, groups, as_of_ms)
    amounts, costs = row[_VOLUMES], row[_COSTS]
    cost = None
    if row.currency:
        named = dict(zip(_AMOUNTS, costs, strict=True))
        cost = {"currency": row.currency, "tariff": row.tariff or None, **named}
    return Reply(
        {
            "month": row.month,
            "asOf": instant(as_of_ms),
            "timezone": zone_or_utc(device.time_zone).key,
            **dict(zip(_AMOUNTS, amounts, strict=True)),
            "cost": cost,
            "budgets": [budget_object(each) for each in _budgets(call, device, row)],
        }
    )


def _budgets(call: Call[AsOfQuery], device: Device, row: MonthEndRow) -> list[BudgetState]:
    """Returns the device's own budgets, compared with this month end."""
    own = [
        each
        for each in budgets_of(call.store, device.organization_id)
        if each.row.name == f"device:{device.id}"
    ]
    return [state_of_row(each, device, row) for each in own]


def get_comparison(call: Call[ComparisonQuery]) -> Reply:
    query = call.query
    device = identify(call.store, call.scope, call.identifier)
    tz = query.timezone or zone_or_utc(device.time_zone)
    question = Question(query.from_ms, query.to_ms, query.resolution, tz, now_ms(), query.metric)
    if buckets(question) > MOST_BUCKETS:
        problem = f"holds more than {MOST_BUCKETS:,} buckets with from and to"
        raise BadRequest("", errors=(ParameterProblem("resolution", problem),))
    shift = SHIFT_BY_NAME.get(query.compare)
    if shift is not None:
        result = with_earlier(call.store, call.scope, device, shift, question)
    else:
        other = identify(call.store, call.scope, query.compare.removeprefix(OTHER_DEVICE))
        result = with_device(call.store, call.scope, device, other, question)
    rows = [(start, *value) for start, value in sorted(result.others.items())]
    body: dict[str, Any] = {
        "compare": query.compare,
        "resolution": query.resolution.name,
        "timezone": tz.key,
        "volume": result.own.gallons,
        "otherVolume": result.other.gallons,
        "coverage": result.own.coverage,
        "otherCoverage": result.other.coverage,
        "difference": result.difference,
        "percent": result.percent,
        "count": len(rows),
    }
    return _rows_reply(call, body, ("bucket_start", "other_start", "value", "volume"), rows)


def _rows_reply(
    call: Call[Any], body: dict[str, Any], names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> Reply:
    """Responds in columns where they are requested, as for readings: they cost much less than
    objects."""
    if call.columns is not None:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
        return Reply(body | {"columns": dict(zip(names, columns, strict=True))}, COLUMNS_TYPE)
    stamped = {name for name in names if name.endswith("_start")}
    data = [
        {
            name: instant(value) if name in stamped else value
            for name, value in zip(names, row, strict=True)
        }
        for row in rows
    ]
    return Reply(body | {"data": data})


def _interval(interval: Interval | None) -> dict[str, float | None]:
    values = (None,) * len(_BOUNDS) if interval is None else interval
    return dict(zip(_BOUNDS, values, strict=True))


_DEVICE: Final = f"{INSIGHT_PREFIX}/devices/{{id}}"
EXPECTATION_ROUTES: Final = (
    Route(
        Operation(
            id="getComparison",
            path=f"{_DEVICE}/comparison",
            tag="expectations",
            summary="Readings of a range, compared with earlier ones or another device's",
            answer=ref("Comparison"),
            query=ComparisonQuery,
            of_device=True,
        ),
        get_comparison,
    ),
    Route(
        Operation(
            id="getUsual",
            path=f"{_DEVICE}/usual",
            tag="expectations",
            summary="The usual hours of a device: the median, and the band of eight days in ten",
            answer=ref("UsualHours"),
            query=UsualQuery,
            of_device=True,
        ),
        get_usual,
    ),
    Route(
        Operation(
            id="getForecast",
            path=f"{_DEVICE}/forecast",
            tag="expectations",
            summary="The coming hours of a device, with intervals of 80 and 95 %",
            answer=ref("Forecast"),
            query=ForecastQuery,
            of_device=True,
        ),
        get_forecast,
    ),
    Route(
        Operation(
            id="getMonthEnd",
            path=f"{_DEVICE}/month-end",
            tag="expectations",
            summary="The expected end of the device's local month, in volume and cost",
            answer=ref("MonthEnd"),
            query=AsOfQuery,
            of_device=True,
        ),
        get_month_end,
    ),
)
