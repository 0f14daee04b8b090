"""The whole range as a small strip below the chart of a part of it."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.client import Client
from api.timez import DAY_MS
from components.chart_query import Subject
from components.charts.frames import frame
from components.fleet.sparklines import spark
from components.queries import flow_series, last_seen_ms
from components.ranges import Window
from components.url_state import View, write_window

LONG_MS: Final = 7 * DAY_MS
POINTS: Final = 400


def overview(client: Client, subject: Subject, view: View, now_ms: int) -> dict[str, Any] | None:
    """{from, to, width, line, band, gaps} of a long range; None of a short one."""
    last_ms = None if view.custom else last_seen_ms(client, subject.device_id, now_ms)
    whole = view.whole(last_ms, now_ms)
    if whole.length_ms < LONG_MS:
        return None
    return _drawn(client, subject, view, whole, now_ms)


def _drawn(
    client: Client, subject: Subject, view: View, whole: Window, now_ms: int
) -> dict[str, Any]:
    tz, metric = subject.zone(view), subject.tab_of(view).metric
    series = flow_series(client, subject.device_id, whole, POINTS / 2, tz)
    framed = frame(
        series,
        FLOW_RATE if metric is FLOW_AMOUNT else metric,
        whole,
        tz=tz,
        cadence_ms=subject.cadence_ms,
        until_ms=now_ms,
    )
    made = spark(framed, whole, max(1, whole.length_ms // POINTS))
    first, last = write_window(whole)
    return {
        "from": first,
        "to": last,
        "width": made.width,
        "line": made.line,
        "band": made.band,
        "gaps": made.gaps,
    }
