"""The page's answer to a question: the document as far as it is known, and what is said around."""

from __future__ import annotations

from typing import Any

from api.timez import local_ordinal
from components import formatting
from components.clock import known_zone
from components.fleet.queries import Deadline, Desk
from components.html_json import sheet
from components.report import text
from components.report.content import document
from components.report.queries import gathered
from components.report.text import page_rules
from components.report.url_state import MOST_DEVICES, ReportView
from components.usage import table
from components.usage.queries import PAGE_PATIENCE_S


def answer(desk: Desk, view: ReportView, organization: str, now_ms: int) -> dict[str, Any]:
    """Raises a WeirError where the service as a whole can't answer."""
    report = gathered(desk, view, Deadline(PAGE_PATIENCE_S), now_ms)
    today = local_ordinal(known_zone(view.usage.zone), now_ms)
    first, last = view.usage.dates(today)
    body = [] if report.trouble else sheet(document(report, view, organization))
    return {
        "empty": report.trouble,
        "body": body,
        "progress": report.progress.words,
        "complete": report.progress.complete,
        "range": "the last 366 days of the range" if view.usage.cut else "",
        "dates": [table.iso(first), table.iso(max(first, last))],
        "chosen": f"{formatting.whole(report.picked.found)} of at most {MOST_DEVICES} devices",
        "groups": list(report.picked.groups),
        "moves": view.usage.moves,
        "page": page_rules(text.title(report, view), text.range_words(report.usages)),
    }
