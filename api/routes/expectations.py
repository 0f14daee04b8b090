"""What is usual of a device, its coming hours, and where its month will end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from api.catalog import COLUMNS_TYPE, INSIGHT_PREFIX
from api.domain.identify import identify
from api.errors import BadRequest, ParameterProblem
from api.insight.comparison import MOST_BUCKETS, Question, buckets, with_device, with_earlier
from api.insight.expectations import forecast_of, month_of_device, usual_of, zone_of
from api.metering.comparison import OTHER_DEVICE, SHIFT_BY_NAME
from api.metering.cost import Price, device_price, price_of
from api.metering.forecast import Interval
from api.openapi import Operation, ref
from api.params.expectations import AsOfQuery, ComparisonQuery, ForecastQuery, UsualQuery
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import Device, Store
from api.timez import now_ms

_BOUNDS: Final = Interval._fields


def get_usual(call: Call[UsualQuery]) -> Reply:
    query = call.query
    device = identify(call.store, call.scope, call.identifier)
    rows = usual_of(call.store, call.scope, device, query.from_ms, query.to_ms)
    body = {"timezone": zone_of(device).key, "count": len(rows)}
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
    body = {"asOf": instant(as_of_ms), "timezone": zone_of(device).key}
    return Reply(body | {"count": len(data), "data": data})


def get_month_end(call: Call[AsOfQuery]) -> Reply:
    device = identify(call.store, call.scope, call.identifier)
    as_of_ms = now_ms() if call.query.as_of_ms is None else call.query.as_of_ms
    result = month_of_device(call.store, device, as_of_ms)
    expected = None if result.end is None else result.end.expected
    volumes: dict[str, float | None] = {
        "soFar": result.so_far,
        "expected": expected,
        **_interval(None if result.end is None else result.end.interval),
    }
    return Reply(
        {
            "month": result.month.isoformat()[:7],
            "asOf": instant(as_of_ms),
            "timezone": zone_of(device).key,
            **volumes,
            "cost": _cost(_price(call.store, device), volumes),
        }
    )


def get_comparison(call: Call[ComparisonQuery]) -> Reply:
    query = call.query
    device = identify(call.store, call.scope, call.identifier)
    tz = query.timezone or zone_of(device)
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
    """``columns`` for who asks for them, as readings have them: a fraction of objects' cost."""
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


def _cost(price: Price | None, volumes: dict[str, float | None]) -> dict[str, Any] | None:
    if price is None:
        return None
    amounts = {
        name: None if volume is None else price.cost(volume) for name, volume in volumes.items()
    }
    return {"currency": price.currency, **amounts}


def _price(store: Store, device: Device) -> Price | None:
    organization = store.organization(device.organization_id)
    default = organization.default_cost_per_gallon if organization else None
    own, currency = device_price(device.cost_per_gallon)
    return price_of(own, currency, default)


_DEVICE: Final = f"{INSIGHT_PREFIX}/devices/{{id}}"
EXPECTATION_ROUTES: Final = (
    Route(
        Operation(
            id="getComparison",
            path=f"{_DEVICE}/comparison",
            tag="expectations",
            summary="Earlier readings, or another device's, beside those of a range",
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
            summary="The usual hours of a device: middle, and the band of eight days in ten",
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
            summary="Where the device's local month will end, in volume and cost",
            answer=ref("MonthEnd"),
            query=AsOfQuery,
            of_device=True,
        ),
        get_month_end,
    ),
)
