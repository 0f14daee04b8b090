"""The parameters of a query for findings, and the body of a judgement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, field_validator

from api.catalog import INSIGHT_LIMIT, OFFSET
from api.insight.finding_dismissal import JUDGEMENT_BY_NAME, NOT_A_PROBLEM, Judgement
from api.insight.findings import KINDS, SEVERITIES
from api.params.body_fields import one_line
from api.params.body_parser import Body
from api.params.param_types import Flag, Offset, OptionalInstant, Reads, Text, listed, within
from api.params.queries import Query, in_order
from api.store.base.findings import FINDING_STATES

LONGEST_REASON: Final = 500


def some_of(words: Sequence[str], what: str) -> Reads:
    """Accepts some of a few words, comma-separated or repeated."""

    def parse(texts: Sequence[str]) -> tuple[str, ...]:
        entries = tuple(dict.fromkeys(listed(texts)))
        if unknown := [entry for entry in entries if entry not in words]:
            raise ValueError(f"{unknown[0][:80]!r} is not a {what}; there are {', '.join(words)}")
        return entries

    schema = {"type": "array", "items": {"type": "string", "enum": list(words)}}
    return Reads(parse, schema, many=True)


_KINDS: Final = tuple(kind.name for kind in KINDS)
SomeKinds = Annotated[tuple[str, ...], some_of(_KINDS, "kind of finding")]
Severities = Annotated[tuple[str, ...], some_of(SEVERITIES, "severity")]
States = Annotated[tuple[str, ...], some_of(FINDING_STATES, "state")]
InsightLimit = Annotated[int, within(INSIGHT_LIMIT)]


class FindingListQuery(Query):
    device: Text = Field(None, description="Only findings of this device, by any identifier.")
    group: Text = Field(None, description="Only findings of this group's devices.")
    kinds: SomeKinds = Field((), alias="kind", description="Only these kinds.")
    severities: Severities = Field((), alias="severity", description="Only of these severities.")
    states: States = Field((), alias="state", description="Only in these states. Default: all.")
    to_ms: OptionalInstant = Field(
        None, alias="to", description="Only findings that began up to this time."
    )
    from_ms: OptionalInstant = Field(
        None, alias="from", description="Only findings that were open at this time or began later."
    )
    count: Flag = Field(
        False, description="true: data is empty and count is the number of findings."
    )
    limit: InsightLimit = Field(INSIGHT_LIMIT.default or 0, description="Findings per page.")
    offset: Offset = Field(OFFSET.default or 0, description="Findings to skip.")

    _from_before_to = field_validator("from_ms")(in_order)


printable: Final = one_line(LONGEST_REASON)  # of a reason, or another short text


def _judgement(value: Any) -> Judgement:
    judgement = JUDGEMENT_BY_NAME.get(value) if isinstance(value, str) else None
    if judgement is None:
        raise ValueError(f"must be one of {', '.join(JUDGEMENT_BY_NAME)}")
    return judgement


class DismissBody(Body):
    judgement: Annotated[Judgement, PlainValidator(_judgement)] = Field(NOT_A_PROBLEM, alias="as")
    reason: Annotated[str, PlainValidator(printable)] = ""
