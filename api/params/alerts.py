"""The parameters of requests about alerts, rules, receivers and silences."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, field_validator

from api.catalog import INSIGHT_LIMIT, OFFSET
from api.params.body_fields import instant, optional
from api.params.body_parser import Body
from api.params.findings import InsightLimit, printable, some_of
from api.params.param_types import Flag, Offset, OptionalInstant, Text
from api.params.queries import Query, in_order
from api.store.base.alerts import ALERT_STATES

_States = Annotated[tuple[str, ...], some_of(ALERT_STATES, "state of an alert")]


class AlertListQuery(Query):
    device: Text = Field(None, description="Only alerts of this device, by any identifier.")
    group: Text = Field(None, description="Only alerts of this group's devices.")
    rule: Text = Field(None, description="Only alerts of this rule.")
    states: _States = Field((), alias="state", description="Only in these states. Default: both.")
    to_ms: OptionalInstant = Field(
        None, alias="to", description="Only alerts that fired up to this time."
    )
    from_ms: OptionalInstant = Field(
        None, alias="from", description="Only alerts that fired at this time or later."
    )
    count: Flag = Field(False, description="true: data is empty and count is the number of alerts.")
    limit: InsightLimit = Field(INSIGHT_LIMIT.default or 0, description="Alerts per page.")
    offset: Offset = Field(OFFSET.default or 0, description="Alerts to skip.")

    _from_before_to = field_validator("from_ms")(in_order)


class AcknowledgeBody(Body):
    text: Annotated[str, PlainValidator(printable)] = ""


class RuleBody(Body):
    """Its fields are checked together by `api.insight.alerts.rules`."""

    name: Any = None
    enabled: Any = None
    source: Any = None
    kinds: Any = None
    severity: Any = None
    costPerDay: Any = None
    states: Any = None
    metric: Any = None
    comparison: Any = None
    limit: Any = None
    duration: Any = None
    devices: Any = None
    groups: Any = None
    hold: Any = None
    reminder: Any = None
    receivers: Any = None

    @property
    def sent_fields(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class ReceiverBody(Body):
    """Its fields depend on its kind (`api.insight.receivers`)."""

    name: Any = None
    kind: Any = None
    enabled: Any = None
    url: Any = None
    secret: Any = None
    to: Any = None
    topic: Any = None

    @property
    def sent_fields(self) -> dict[str, Any]:
        given = self.model_dump(exclude_unset=True)
        return {name: value for name, value in given.items() if value is not None}


def _text(value: Any) -> str:
    text = printable(value)
    if not text:
        raise ValueError("is empty")
    return text


_Optional: Final = optional(_text)


class SilenceBody(Body):
    device: Annotated[str | None, _Optional] = None
    group: Annotated[str | None, _Optional] = None
    rule: Annotated[str | None, _Optional] = None
    kind: Annotated[str | None, _Optional] = None
    reason: Annotated[str, PlainValidator(printable)] = ""
    until: Annotated[int, PlainValidator(instant)]
    since: Annotated[int | None, PlainValidator(instant)] = Field(None, alias="from")

    @property
    def sent_fields(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "group": self.group,
            "rule": self.rule,
            "kind": self.kind,
            "reason": self.reason,
            "from_ms": self.since,
            "until_ms": self.until,
        }
