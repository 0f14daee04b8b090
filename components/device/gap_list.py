"""Gaps and poor readings of a chart, as a list that opens on demand. Its rows zoom the chart to
their span."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.timez import DAY_MS
from components import formatting
from components.charts.gap_causes import LOW_QUALITY, NO_DATA, Stretch
from components.clock import Clock, day_text, minute_text
from components.controls import attributes, labelled
from components.ranges import Window
from components.url_state import write_window

MOST: Final = 40
_KINDS: Final = {NO_DATA: "bad", LOW_QUALITY: "warn"}


def summary(stretches: Sequence[Stretch]) -> str:
    """``3 gaps, 6 h 12 min · 2 spans below the quality limit, 40 min``; empty if there are none."""
    silent = [s for s in stretches if s.cause.silent]
    poor = [s for s in stretches if not s.cause.silent]
    parts = [(silent, "gap", "gaps"), (poor, "span", "spans")]
    texts = [f"{_count(spans, one, many)}, {_length(spans)}" for spans, one, many in parts if spans]
    if poor:
        texts[-1] = texts[-1].replace(",", f" {LOW_QUALITY.word},", 1)
    return " · ".join(texts)


def _count(spans: Sequence[Stretch], one: str, many: str) -> str:
    return f"{formatting.whole(len(spans))} {one if len(spans) == 1 else many}"


def _length(spans: Sequence[Stretch]) -> str:
    return formatting.duration(sum(s.window.length_ms for s in spans))


def gap_list(
    stretches: Sequence[Stretch], tz: ZoneInfo, *, now_ms: int, counted_in: str
) -> list[Component]:
    """Latest first; nothing where there are none. ``counted_in`` names the rows that they are gaps
    between: finer rows show more of them, and uptime counts by the device's own cadence."""
    if not stretches:
        return []
    latest = list(reversed(stretches))
    made: list[Component] = [
        html.Summary(f"{summary(stretches)} · by {counted_in} rows"),
        _table(latest[:MOST], tz, now_ms),
    ]
    if len(latest) > MOST:
        rest = formatting.whole(len(latest) - MOST)
        made.append(html.P(f"and {rest} earlier ones: zoom in to see them", className="quiet"))
    return made


def _table(latest: Sequence[Stretch], tz: ZoneInfo, now_ms: int) -> Component:
    clock = Clock(tz, latest[-1].window.from_ms, max(s.window.to_ms for s in latest))
    lead = html.Span("On the chart", className="sr-only")
    head = html.Tr([html.Th(name, scope="col") for name in ("When", "How long", "Why", lead)])
    return html.Table(
        [html.Thead(head), html.Tbody([_row(s, clock, now_ms) for s in latest])],
        className="gap-table",
        **labelled("Gaps and poor readings"),
    )


def _row(stretch: Stretch, clock: Clock, now_ms: int) -> Component:
    when = span_words(stretch.window, clock, now_ms)
    first, last = write_window(around(stretch.window))
    show = html.Button(
        "Show",
        type="button",
        className="button small",
        **labelled(f"Show {when}"),
        **attributes(data_from=first, data_to=last),
    )
    why = html.Span(
        stretch.cause.word,
        className="cause",
        **attributes(data_kind=_KINDS.get(stretch.cause, "off")),
    )
    length = formatting.duration(stretch.window.length_ms)
    return html.Tr([html.Td(when), html.Td(length), html.Td(why), html.Td(show)])


def span_words(window: Window, clock: Clock, now_ms: int) -> str:
    """``Mon 16 Nov, 13:54–14:06``; the second day too where it is another."""
    first, last = clock.local(window.from_ms), clock.local(window.to_ms + 1)
    start = f"{day_text(first // DAY_MS)}, {minute_text(first)}"
    if window.to_ms >= now_ms - 1000:
        return f"{start} – now"
    if first // DAY_MS == last // DAY_MS:
        return f"{start}–{minute_text(last)}"
    return f"{start} – {day_text(last // DAY_MS)}, {minute_text(last)}"


def around(window: Window) -> Window:
    """A window around a span: as much again on both sides."""
    room = max(window.length_ms, 60_000)
    return Window(window.from_ms - room, window.to_ms + room)
