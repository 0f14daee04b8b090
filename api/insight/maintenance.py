"""Planned maintenance as spans of time."""

from __future__ import annotations

from collections.abc import Iterable

from api.metering.maintenance import Plan, Span, merged, occurrences
from api.store.base import Annotation
from api.timez import FIRST_INSTANT_MS, LAST_INSTANT_MS, zone


def plan_of(annotation: Annotation) -> Plan:
    return Plan(
        annotation.from_ms,
        annotation.to_ms or annotation.from_ms,
        annotation.repeats,
        annotation.until_ms,
        zone(annotation.zone),
    )


def maintenance_spans(
    planned: Iterable[Annotation],
    low_ms: int = FIRST_INSTANT_MS,
    high_ms: int = LAST_INSTANT_MS,
) -> list[Span]:
    """Returns [start, end) of all maintenance that overlaps [low_ms, high_ms), ascending,
    merged."""
    return merged(span for each in planned for span in occurrences(plan_of(each), low_ms, high_ms))
