"""The parameters of Weir's own interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator

from api.catalog import INSIGHT_LIMIT, MAX_IDS, OFFSET
from api.insight.findings.registry import KIND_BY_NAME
from api.metering.status import STATE_NAMES
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME, Span
from api.params.param_types import (
    Identifiers,
    Offset,
    OptionalInstant,
    Order,
    Reads,
    Text,
    listed,
    one_of,
    within,
)
from api.params.queries import Query, in_order
from api.store.sql.insight import ORDERS

PARTS: Final = ("finding", "line", "strip", "notes", "summary", "groups")


def _states(texts: Sequence[str]) -> tuple[str, ...]:
    entries = tuple(dict.fromkeys(listed(texts)))
    if unknown := [entry for entry in entries if entry not in STATE_NAMES]:
        raise ValueError(
            f"{unknown[0][:80]!r} is not a state; the states are {', '.join(STATE_NAMES)}"
        )
    return entries


States = Annotated[
    tuple[str, ...],
    Reads(
        _states,
        {"type": "array", "items": {"type": "string", "enum": list(STATE_NAMES)}},
        many=True,
    ),
]
Kind = Annotated[str | None, one_of({name: name for name in KIND_BY_NAME})]
StatusOrder = Annotated[str, one_of({name: name for name in ORDERS})]
InsightLimit = Annotated[int, within(INSIGHT_LIMIT)]


class SummaryQuery(Query):
    q: Text = Field(
        None,
        description="Part of a label, serial number or network identifier, in upper or lower case.",
    )
    group: Text = Field(None, description="Only the devices of this group.")
    kind: Kind = Field(None, description="Only devices with an open finding of this kind.")


class PageQuery(Query):
    limit: InsightLimit = Field(INSIGHT_LIMIT.default or 0, description="Entries per page.")
    offset: Offset = Field(OFFSET.default or 0, description="Entries to skip.")


class RegisterListQuery(PageQuery):
    to_ms: OptionalInstant = Field(
        None, alias="to", description="Inclusive upper bound on recordedAt."
    )
    from_ms: OptionalInstant = Field(
        None, alias="from", description="Inclusive lower bound on recordedAt."
    )
    descending: Order = Field(
        False, alias="order", description="By recordedAt: asc or desc, in upper or lower case."
    )

    _from_before_to = field_validator("from_ms")(in_order)


def _parts(texts: Sequence[str]) -> tuple[str, ...]:
    entries = tuple(dict.fromkeys(listed(texts)))
    if unknown := [entry for entry in entries if entry not in PARTS]:
        raise ValueError(f"{unknown[0][:80]!r} is not one of {', '.join(PARTS)}")
    return entries


Parts = Annotated[
    tuple[str, ...],
    Reads(_parts, {"type": "array", "items": {"type": "string", "enum": list(PARTS)}}, many=True),
]
Window = Annotated[Span, one_of(SPAN_BY_NAME)]


class StatusListQuery(SummaryQuery):
    states: States = Field(
        (),
        alias="state",
        description="Only devices in one of these states. Inactive devices are listed only where"
        " that state is asked for.",
    )
    order_by: StatusOrder = Field("worst", alias="orderBy", description="The column to sort by.")
    descending: Order = Field(
        False,
        alias="order",
        description="asc or desc, in upper or lower case. Nulls come last in both.",
    )
    limit: InsightLimit = Field(INSIGHT_LIMIT.default or 0, description="Devices per page.")
    offset: Offset = Field(OFFSET.default or 0, description="Devices to skip.")
    ids: Identifiers = Field(
        (),
        description="These devices in this order, whatever their state, instead of a page; count is"
        " still that of all matches.",
    )
    window: Window = Field(
        DEFAULT_SPAN, description="What line, strip and notes are of, up to now."
    )
    include: Parts = Field(
        (),
        description="Parts to add: finding (the worst open one), line (of flow), strip"
        f" (of uptime) and notes of each device, for pages of at most {MAX_IDS} devices; summary"
        " and groups of all devices that match q and group.",
    )

    @field_validator("include")
    @classmethod
    def _of_a_page(cls, parts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        some = [part for part in parts if part in ("line", "strip", "notes")]
        if some and not info.data.get("ids") and info.data.get("limit", 0) > MAX_IDS:
            raise ValueError(f"{some[0]} needs a limit of {MAX_IDS} or less")
        return parts
