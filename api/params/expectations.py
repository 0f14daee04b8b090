"""What a query for usual hours, a forecast or a month's end may say."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator

from api.catalog import DAY_MS, Limit
from api.metering.forecast import MOST_HOURS
from api.params.param_types import Instant, OptionalInstant, within
from api.params.queries import Query, in_order

MOST_USUAL_DAYS: Final = 400
_HOURS: Final = Limit(1, MOST_HOURS, MOST_HOURS)
Hours = Annotated[int, within(_HOURS)]


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

    @field_validator("from_ms")
    @classmethod
    def _not_too_long(cls, from_ms: int, info: ValidationInfo) -> int:
        to_ms: int | None = info.data.get("to_ms")
        if to_ms is not None and to_ms - from_ms > MOST_USUAL_DAYS * DAY_MS:
            raise ValueError(f"must be at most {MOST_USUAL_DAYS} days before to")
        return from_ms
