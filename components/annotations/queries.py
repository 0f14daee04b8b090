"""Asking the service for what the list of notes, maintenance and corrections shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import Resolution
from api.client import Client
from api.client.annotations import PATHS, Annotation
from api.errors import WeirError
from api.metering.maintenance import Plan, Repeat, Span, bucket_count, excused, merged, occurrences
from api.metering.windows import Window
from api.timez import zone, zone_names
from components import session
from components.annotations.form_actions import carry_out
from components.annotations.texts import effect
from components.charts.annotation_marks import AnnotationMark, shortened
from components.units import Units

MOST: Final = 100
PAGE: Final = 1_000


def matching(
    *, kind: str = "", device: str = "", group: str = "", search: str = ""
) -> tuple[list[Annotation], int]:
    """(latest first, how many there are in all); of one kind, or of all three."""
    client = session.current_client()
    kinds = [kind] if kind in PATHS else list(PATHS)
    pages = [
        client.annotations(each, device=device, group=group, search=search, limit=MOST)
        for each in kinds
    ]
    matches = [each for page in pages for each in page.annotations]
    matches.sort(key=lambda each: -each.from_ms)
    return matches[:MOST], sum(page.count for page in pages)


def within(client: Client, device_id: str, window: Window, kind: str = "note") -> list[Annotation]:
    """All that have a part in the window and are in force, latest first. Raises what the client
    raises."""
    matches: list[Annotation] = []
    while True:
        page = client.annotations(
            kind, device=device_id, from_ms=window.from_ms, to_ms=window.to_ms, revoked=False,
            limit=PAGE, offset=len(matches),
        )  # fmt: skip
        matches += page.annotations
        if len(page.annotations) < PAGE:
            return matches


def carried_out(deed: Mapping[str, Any], tz: ZoneInfo, units: Units) -> Any:
    """What comes of a deed of the form, as its reader."""
    return carry_out(session.current_client(), deed, tz, units)


class Uptime(NamedTuple):
    """Buckets observed and expected outside maintenance, and how long that takes up."""

    actual: int
    expected: int
    left_out_ms: int = 0


def without_maintenance(
    client: Client, device_id: str, due: Window, resolution: Resolution, counted: Uptime
) -> Uptime:
    """``counted`` without the buckets that meet maintenance, on both sides."""
    length_ms = resolution.fixed_ms
    spans = excused(_maintenance(client, device_id, due), *due, length_ms)
    if not spans:
        return counted
    observed = sum(
        client.count(device_id, resolution, from_ms=start, to_ms=end - 1) for start, end in spans
    )
    expected = max(0, counted.expected - bucket_count(spans, length_ms))
    left_out_ms = sum(end - start for start, end in spans)
    return Uptime(min(expected, max(0, counted.actual - observed)), expected, left_out_ms)


def _maintenance(client: Client, device_id: str, due: Window) -> list[Span]:
    """A server that plans none has none."""
    try:
        planned = within(client, device_id, due, "maintenance")
    except WeirError:
        return []
    return merged(
        span for each in planned for span in occurrences(plan_of(each), due.from_ms, due.to_ms + 1)
    )


MOST_MARKS: Final = 200  # of a kind on one chart


def annotation_marks(client: Client, device_id: str, reach: Window) -> list[AnnotationMark]:
    """What a chart of that range shows. A server that has none of it, or an embed, shows none."""
    matches: list[Annotation] = []
    try:
        for kind in PATHS:
            page = client.annotations(
                kind, device=device_id, from_ms=reach.from_ms, to_ms=reach.to_ms, revoked=False,
                limit=MOST_MARKS,
            )  # fmt: skip
            matches += page.annotations
    except WeirError:
        return []
    return [mark for each in matches for mark in _marks(each, reach)]


def _marks(annotation: Annotation, reach: Window) -> list[AnnotationMark]:
    body = shortened(annotation.body)
    if annotation.kind == "maintenance":
        return [
            AnnotationMark("maintenance", start, end, f"Maintenance: {body}")
            for start, end in occurrences(plan_of(annotation), reach.from_ms, reach.to_ms + 1)[
                :MOST_MARKS
            ]
        ]
    if annotation.kind == "correction":
        words = f"Correction ({effect(annotation)}): {body}"
        return [AnnotationMark("correction", annotation.from_ms, annotation.to_ms, words)]
    return [AnnotationMark("note", annotation.from_ms, annotation.to_ms, f"Note: {body}")]


def plan_of(annotation: Annotation) -> Plan:
    words = tuple(repeat.value for repeat in Repeat)
    return Plan(
        annotation.from_ms,
        annotation.to_ms or annotation.from_ms,
        Repeat(annotation.repeat) if annotation.repeat in words else Repeat.ONCE,
        annotation.until_ms,
        zone(annotation.zone if annotation.zone in zone_names() else "UTC"),
    )
