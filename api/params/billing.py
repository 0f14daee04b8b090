"""Parameters and bodies of billing: costs, tariffs, budgets and scheduled reports."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from api.params.body_parser import Body
from api.params.param_types import Identifiers, Instant, Zone
from api.params.queries import Query, in_order, not_too_long


class CostsQuery(Query):
    ids: Identifiers = Field(description="Devices, by any identifier.")
    to_ms: Instant = Field(alias="to", description="Inclusive upper bound on the readings.")
    from_ms: Instant = Field(alias="from", description="Inclusive lower bound on the days.")
    timezone: Zone = Field(None, description="IANA time zone of the days. Default: the device's.")

    _from_before_to = field_validator("from_ms")(in_order)

    _not_too_long = field_validator("from_ms")(not_too_long)


class _Fields(Body):
    """Checked together by `api.insight.billing_changes`."""

    @property
    def sent_fields(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class BudgetBody(_Fields):
    device: Any = None
    group: Any = None
    measure: Any = None
    amount: Any = None


class ScheduleBody(_Fields):
    name: Any = None
    every: Any = None
    timezone: Any = None
    receivers: Any = None
    devices: Any = None
    group: Any = None
    paused: Any = None


class TariffBody(_Fields):
    name: Any = None
    currency: Any = None
    versions: Any = None
    organization: Any = None
    groups: Any = None
    devices: Any = None
