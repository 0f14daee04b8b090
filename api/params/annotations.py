"""The parameters of requests about notes, maintenance, corrections and the audit log."""

from __future__ import annotations

from typing import Annotated, Any, Final, cast

from pydantic import Field, PlainValidator, field_validator, model_validator

from api.catalog import FLOW_AMOUNT, FLOW_RATE, INSIGHT_LIMIT, LIMIT, METRICS, OFFSET
from api.domain.annotations import ALL_METRICS, EXCLUDE, SCALE, Wanted
from api.metering.maintenance import Repeat
from api.metering.units import plain
from api.params.body_fields import instant, optional, zone_name
from api.params.body_parser import Body
from api.params.findings import some_of
from api.params.param_types import Flag, Offset, OptionalInstant, Text, within
from api.params.queries import Query, in_order
from api.store.base import AnnotationKind

LONGEST_TEXT: Final = 2_000
LARGEST_FACTOR: Final = 1e6
_SCALED: Final = (FLOW_RATE.name, FLOW_AMOUNT.name)
InsightLimit = Annotated[int, within(INSIGHT_LIMIT)]
_Kinds = Annotated[
    tuple[str, ...], some_of(tuple(kind.value for kind in AnnotationKind), "kind of annotation")
]


# --- Queries -------------------------------------------------------------------------------------


class AnnotationListQuery(Query):
    device: Text = Field(
        None, description="Only of this device, by any identifier, and of its groups."
    )
    group: Text = Field(None, description="Only of this group.")
    q: Text = Field(None, description="Part of the text or reason, in upper or lower case.")
    to_ms: OptionalInstant = Field(
        None, alias="to", description="Only those begun up to this time."
    )
    from_ms: OptionalInstant = Field(
        None, alias="from", description="Those in progress at this time or later."
    )
    revoked: Flag = Field(True, description="false: without revoked corrections.")
    limit: InsightLimit = Field(INSIGHT_LIMIT.default or 0, description="Entries per page.")
    offset: Offset = Field(OFFSET.default or 0, description="Entries to skip.")

    _from_before_to = field_validator("from_ms")(in_order)


class EveryKindQuery(AnnotationListQuery):
    kinds: _Kinds = Field(
        (), alias="kind", description="Only notes, maintenance or corrections. Default: all three."
    )


class CorrectedReadingsQuery(Query):
    limit: Annotated[int, within(LIMIT)] = Field(
        LIMIT.default or 0, description="Readings, at most."
    )


class AuditListQuery(Query):
    kind: Text = Field(None, description="Only of this kind: key, note, correction, …")
    author: Text = Field(None, description="Only changes by this credential.")
    q: Text = Field(None, description="Text in author, subject or reason.")
    to_ms: OptionalInstant = Field(None, alias="to", description="Up to this time.")
    from_ms: OptionalInstant = Field(None, alias="from", description="From this time on.")
    limit: InsightLimit = Field(INSIGHT_LIMIT.default or 0, description="Entries per page.")
    offset: Offset = Field(OFFSET.default or 0, description="Entries to skip.")

    _from_before_to = field_validator("from_ms")(in_order)


# --- Fields of a body ----------------------------------------------------------------------------


def _text(value: Any) -> str:
    """Keeps line breaks; refuses other control characters."""
    if not isinstance(value, str):
        raise ValueError("must be a string")
    lines = [" ".join(line.split()) for line in value.strip().splitlines()]
    text = "\n".join(lines)
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"has {len(text)} characters; at most {LONGEST_TEXT} are allowed")
    if not all(line.isprintable() for line in lines):
        raise ValueError("has characters that can't be displayed")
    if not text:
        raise ValueError("is required")
    return text


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise ValueError("must be a string of 1 to 200 characters")
    return value


def _repeat(value: Any) -> Repeat:
    words = [repeat.value for repeat in Repeat if repeat.value]
    if value is None or value == "":
        return Repeat.ONCE
    if value not in words:
        raise ValueError(f"must be one of {', '.join(words)}, or null")
    return Repeat(value)


def _effect(value: Any) -> str:
    if value not in (EXCLUDE, SCALE):
        raise ValueError(f"must be {EXCLUDE} or {SCALE}")
    return value


def _factor(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) <= LARGEST_FACTOR:
        largest = plain(LARGEST_FACTOR)
        raise ValueError(f"must be a number from -{largest} to {largest}")
    return float(value)


def _metrics(value: Any) -> tuple[str, ...]:
    names = [metric.name for metric in METRICS]
    chosen = cast(list[Any], value) if isinstance(value, list) else []
    if not chosen:
        raise ValueError("must be a list of metrics")
    if unknown := [each for each in chosen if each not in names]:
        raise ValueError(f"{str(unknown[0])[:80]!r} is not a metric; there are {', '.join(names)}")
    return tuple(name for name in names if name in chosen)


Instant = Annotated[int, PlainValidator(instant)]
MaybeInstant = Annotated[int | None, optional(instant)]
Name = Annotated[str | None, optional(_name)]
FreeText = Annotated[str, PlainValidator(_text)]
RepeatWord = Annotated[Repeat, PlainValidator(_repeat)]
ZoneName = Annotated[str | None, optional(zone_name)]


# --- Bodies --------------------------------------------------------------------------------------


class NoteBody(Body):
    device: Name = None
    group: Name = None
    from_ms: Instant = Field(alias="from")
    to_ms: MaybeInstant = Field(None, alias="to")
    text: FreeText

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.device, self.group, self.from_ms, self.to_ms, self.text)


class MaintenanceBody(Body):
    device: Name = None
    group: Name = None
    from_ms: Instant = Field(alias="from")
    to_ms: Instant = Field(alias="to")
    reason: FreeText
    repeat: RepeatWord = Repeat.ONCE
    until_ms: MaybeInstant = Field(None, alias="until")
    zone: ZoneName = None

    @property
    def wanted(self) -> Wanted:
        return Wanted(
            self.device, self.group, self.from_ms, self.to_ms, self.reason, self.repeat,
            self.until_ms, self.zone,
        )  # fmt: skip


class CorrectionBody(Body):
    """``metrics``: by default all metrics are excluded; flow rate and volume are scaled."""

    device: Annotated[str, PlainValidator(_name)]
    from_ms: Instant = Field(alias="from")
    to_ms: Instant = Field(alias="to")
    effect: Annotated[str, PlainValidator(_effect)]
    factor: Annotated[float | None, optional(_factor)] = Field(None, validate_default=True)
    metrics: Annotated[tuple[str, ...] | None, optional(_metrics)] = None
    reason: FreeText

    @property
    def wanted(self) -> Wanted:
        usual = ALL_METRICS if self.effect == EXCLUDE else _SCALED
        return Wanted(
            self.device, None, self.from_ms, self.to_ms, self.reason,
            metrics=self.metrics or usual, factor=self.factor,
        )  # fmt: skip

    @field_validator("factor", mode="after")
    @classmethod
    def _never_both(cls, value: float | None, info: Any) -> float | None:
        effect = info.data.get("effect")
        if effect == SCALE and value is None:
            raise ValueError("is required to scale")
        if effect == EXCLUDE and value is not None:
            raise ValueError("doesn't go with exclude")
        return value


class _Changes(Body):
    """Changes only the fields that are sent."""

    @model_validator(mode="after")
    def _something(self) -> _Changes:
        if not self.model_fields_set:
            raise ValueError("has no field to change")
        return self

    def sent_fields(self, **names: str) -> dict[str, Any]:
        """Returns the fields that were sent, by their names in `Annotation`."""
        return {
            names.get(name, name): getattr(self, name) for name in sorted(self.model_fields_set)
        }


class NoteChanges(_Changes):
    from_ms: Instant = Field(0, alias="from")
    to_ms: MaybeInstant = Field(None, alias="to")
    text: FreeText = ""

    @property
    def changes(self) -> dict[str, Any]:
        return self.sent_fields(text="body")


class MaintenanceChanges(_Changes):
    from_ms: Instant = Field(0, alias="from")
    to_ms: Instant = Field(0, alias="to")
    reason: FreeText = ""
    repeat: RepeatWord = Repeat.ONCE
    until_ms: MaybeInstant = Field(None, alias="until")

    @property
    def changes(self) -> dict[str, Any]:
        return self.sent_fields(reason="body", repeat="repeats")


class RevokeBody(Body):
    reason: FreeText
