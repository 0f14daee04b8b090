"""The parameters of queries for usual hours, forecasts and month ends."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, field_validator

from api.catalog import (
    COARSEST_STORED,
    DAY,
    FLOW_DURATION,
    FLOW_RATE,
    METRICS,
    STORED,
    Limit,
    Metric,
    Resolution,
)
from api.metering.comparison import OTHER_DEVICE, SHIFTS
from api.metering.forecast import MOST_HOURS
from api.params.param_types import Instant, OptionalInstant, Reads, Zone, one_of, within
from api.params.queries import Query, in_order, not_too_long

_HOURS: Final = Limit(1, MOST_HOURS, MOST_HOURS)
Hours = Annotated[int, within(_HOURS)]


def _with_what(text: str) -> str:
    shift = text in SHIFTS
    if not shift and not (text.startswith(OTHER_DEVICE) and len(text) > len(OTHER_DEVICE)):
        raise ValueError(f"must be one of {', '.join(SHIFTS)}, or {OTHER_DEVICE} and a device")
    return text


_LENGTHS: Final = {each.name: each for each in (*STORED, DAY)}
_METRICS: Final = {metric.name: metric for metric in METRICS if metric is not FLOW_DURATION}
WithWhat = Annotated[str, Reads(_with_what, {"type": "string"})]
Length = Annotated[Resolution, one_of(_LENGTHS)]
OneMetric = Annotated[Metric, one_of(_METRICS)]


class ComparisonQuery(Query):
    compare: WithWhat = Field(
        description=f"{', '.join(SHIFTS)}: the one before on the local wall clock;"
        f" {OTHER_DEVICE}…: another device, by any identifier, at the same instants."
    )
    to_ms: Instant = Field(alias="to", description="Inclusive upper bound on the bucket's start.")
    from_ms: Instant = Field(
        alias="from", description="Inclusive lower bound on the bucket's start."
    )
    resolution: Length = Field(COARSEST_STORED, description="The length of the buckets.")
    metric: OneMetric = Field(FLOW_RATE, description="The metric whose means are compared.")
    timezone: Zone = Field(None, description="IANA time zone name. Default: the device's.")

    _from_before_to = field_validator("from_ms")(in_order)


class AsOfQuery(Query):
    as_of_ms: OptionalInstant = Field(
        None, alias="asOf", description="Only readings before this time count. Default: now."
    )


class ForecastQuery(AsOfQuery):
    hours: Hours = Field(MOST_HOURS, description="How many hours.")


class UsualQuery(Query):
    to_ms: Instant = Field(alias="to", description="Inclusive upper bound on the hour's start.")
    from_ms: Instant = Field(alias="from", description="Inclusive lower bound on the hour's start.")

    _from_before_to = field_validator("from_ms")(in_order)

    _not_too_long = field_validator("from_ms")(not_too_long)
