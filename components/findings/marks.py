"""Findings as marks on a device's chart, in the reader's units."""

from __future__ import annotations

from collections.abc import Sequence

from api.client.findings import Finding
from components.charts.finding_marks import Mark
from components.findings import texts
from components.url_state import View


def marks_of(found: Sequence[Finding], view: View) -> list[Mark]:
    return [
        Mark(
            each.start_ms,
            each.end_ms,
            each.severity,
            texts.kind_of(each).label,
            ", ".join(filter(None, (texts.how_much(each, view.units), _volume(each, view)))),
        )
        for each in found
    ]


def _volume(finding: Finding, view: View) -> str:
    if finding.gallons is None:
        return ""
    so_far = "so far" if finding.end_ms is None else "in all"
    return f"{texts.so_far(finding, view.units)} {texts.bounded(so_far, finding)}"
