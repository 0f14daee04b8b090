"""What a query for a water balance may say."""

from __future__ import annotations

from typing import Final

from pydantic import Field, ValidationInfo, field_validator

from api.catalog import DAY_MS
from api.params.param_types import Instant
from api.params.queries import Query, in_order

MOST_BALANCE_DAYS: Final = 400


class BalanceQuery(Query):
    to_ms: Instant = Field(alias="to", description="Inclusive upper bound on the hour's start.")
    from_ms: Instant = Field(alias="from", description="Inclusive lower bound on the hour's start.")

    _from_before_to = field_validator("from_ms")(in_order)

    @field_validator("from_ms")
    @classmethod
    def _not_too_long(cls, from_ms: int, info: ValidationInfo) -> int:
        to_ms: int | None = info.data.get("to_ms")
        if to_ms is not None and to_ms - from_ms > MOST_BALANCE_DAYS * DAY_MS:
            raise ValueError(f"must be at most {MOST_BALANCE_DAYS} days before to")
        return from_ms
