"""Notes, maintenance and corrections as marks on a device's chart."""

from __future__ import annotations

from typing import Final

from api.client import Client
from api.client.annotations import PATHS, Annotation
from api.errors import WeirError
from api.metering.maintenance import Plan, Repeat, occurrences
from api.timez import zone, zone_names
from components.annotations.texts import effect
from components.charts.annotation_marks import AnnotationMark, shortened
from components.ranges import Window

MOST: Final = 200  # of a kind on one chart


def annotation_marks(client: Client, device_id: str, reach: Window) -> list[AnnotationMark]:
    """What a chart of that range shows. A server that has none of it, or an embed, shows none."""
    found: list[Annotation] = []
    try:
        for kind in PATHS:
            page = client.annotations(
                kind, device=device_id, from_ms=reach.from_ms, to_ms=reach.to_ms, revoked=False,
                limit=MOST,
            )  # fmt: skip
            found += page.annotations
    except WeirError:
        return []
    return [mark for each in found for mark in _marks(each, reach)]


def _marks(said: Annotation, reach: Window) -> list[AnnotationMark]:
    body = shortened(said.body)
    if said.kind == "maintenance":
        return [
            AnnotationMark("maintenance", start, end, f"Maintenance: {body}")
            for start, end in occurrences(plan_of(said), reach.from_ms, reach.to_ms + 1)[:MOST]
        ]
    if said.kind == "correction":
        words = f"Correction ({effect(said)}): {body}"
        return [AnnotationMark("correction", said.from_ms, said.to_ms, words)]
    return [AnnotationMark("note", said.from_ms, said.to_ms, f"Note: {body}")]


def plan_of(said: Annotation) -> Plan:
    words = tuple(repeat.value for repeat in Repeat)
    return Plan(
        said.from_ms,
        said.to_ms or said.from_ms,
        Repeat(said.repeat) if said.repeat in words else Repeat.ONCE,
        said.until_ms,
        zone(said.zone if said.zone in zone_names() else "UTC"),
    )
