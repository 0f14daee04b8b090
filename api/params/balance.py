"""The parameters of a query for a water balance."""

from __future__ import annotations

from pydantic import Field, field_validator

from api.params.param_types import Instant
from api.params.queries import Query, in_order, not_too_long


class BalanceQuery(Query):
    to_ms: Instant = Field(alias="to", description="Inclusive upper bound on the hour's start.")
    from_ms: Instant = Field(alias="from", description="Inclusive lower bound on the hour's start.")

    _from_before_to = field_validator("from_ms")(in_order)

    _not_too_long = field_validator("from_ms")(not_too_long)
