"""The schemas of usual hours, forecasts and comparisons."""

from __future__ import annotations

from typing import Any, Final

from api.metering.forecast import Interval
from api.openapi.components import (
    INSTANT,
    NUMBER,
    STRING,
    Schema,
    array,
    nullable,
    one_of,
    record,
    ref,
)

_GALLONS: Final[Schema] = NUMBER | {"description": "Volume of the hour in gallons."}
_BOUNDS: Final[dict[str, Schema]] = {name: nullable(NUMBER) for name in Interval._fields}
_AMOUNTS: Final[dict[str, Schema]] = {"soFar": NUMBER, "expected": nullable(NUMBER), **_BOUNDS}
EXPECTATION_COMPONENTS: Final[dict[str, Any]] = {
    "ComparedBucket": record(
        {
            "bucket_start": INSTANT,
            "other_start": INSTANT | {"description": "The volume of the counterpart in gallons."},
            "value": nullable(NUMBER)
            | {"description": "The mean of the metric in the counterpart."},
            "volume": nullable(NUMBER) | {"description": "The other's gallons."},
        }
    ),
    "Comparison": record(
        {
            "compare": STRING,
            "resolution": STRING,
            "timezone": STRING,
            "volume": nullable(NUMBER),
            "otherVolume": nullable(NUMBER),
            "coverage": NUMBER,
            "otherCoverage": NUMBER,
            "difference": nullable(NUMBER)
            | {"description": "Gallons. null below 1 gal, or with under 90 % data on a side."},
            "percent": nullable(NUMBER),
            "count": NUMBER,
            "data": array(ref("ComparedBucket")),
        }
    ),
    "ItemVolumes": record(
        {
            "item": STRING,
            "kind": one_of(("device", "group")),
            "label": STRING,
            "deviceId": nullable(STRING) | {"description": "null for a group."},
            "serialNumber": nullable(STRING),
            "devices": NUMBER | {"description": "The number of devices that are summed."},
            "subMeters": NUMBER
            | {"description": "Devices left out: another one has measured their water."},
            "attributes": {"type": "object", "additionalProperties": NUMBER}
            | {"description": "From config.attributes; for a group the sums, where all have one."},
            "volume": nullable(NUMBER) | {"description": "Gallons over all buckets."},
            "coverage": NUMBER | {"description": "Share of the expected readings, 0 to 1."},
            "volumes": array(nullable(NUMBER))
            | {"description": "Gallons of each bucket; null without a reading."},
        }
    ),
    "Volumes": record(
        {
            "resolution": STRING,
            "timezone": STRING,
            "starts": array(INSTANT),
            "end": nullable(INSTANT) | {"description": "The end of the last bucket."},
            "data": array(ref("ItemVolumes")),
        }
    )
    | {"description": "Items that don't exist are left out."},
    "UsualHour": record(
        {
            "bucket_start": INSTANT,
            "volume": _GALLONS,
            "low": NUMBER | {"description": "One day in ten is below."},
            "high": NUMBER | {"description": "One day in ten is above."},
        }
    ),
    "UsualHours": record({"timezone": STRING, "count": NUMBER, "data": array(ref("UsualHour"))})
    | {"description": "Hours of days with fewer than 21 days before them are missing."},
    "ForecastHour": record({"bucket_start": INSTANT, "volume": _GALLONS, **_BOUNDS}),
    "Forecast": record(
        {
            "asOf": INSTANT,
            "timezone": STRING,
            "count": NUMBER,
            "data": array(ref("ForecastHour")),
        }
    ),
    "MonthEnd": record(
        {
            "month": STRING | {"description": "2026-11, in the device's zone."},
            "asOf": INSTANT,
            "timezone": STRING,
            **_AMOUNTS,
            "cost": nullable(record({"currency": STRING, "tariff": nullable(STRING), **_AMOUNTS})),
            "budgets": array(ref("Budget")) | {"description": "The budgets of the device itself."},
        }
    )
    | {"description": "Gallons. null: too few days, or too few past months."},
}
