"""How often a rule would have fired, and on which devices."""

from __future__ import annotations

from typing import Final

from api.client.alerts import FiredDevice, RulePreview
from api.timez import DAY_MS
from components import formatting
from components.alerts.elements import Element, el
from components.alerts.lists import moment
from components.html_json import Node

MOST: Final = 12


def preview(found: RulePreview, now_ms: int) -> list[Node]:
    times = "once" if found.count == 1 else f"{found.count:,} times"
    title = f"Would have fired {times} in the last {found.days} days"
    where = f"on {len(found.devices):,} of {formatting.plural(found.covered, 'device')}"
    if not found.count:
        title = f"Would not have fired in the last {found.days} days"
        where = f"on {formatting.plural(found.covered, 'device')}"
    head = el("div", el("strong", title), el("span", where, class_="quiet"), class_="alert-fired")
    rows = [_row(each, found.days, now_ms) for each in found.devices[:MOST]]
    more = len(found.devices) - MOST
    notes = [
        f"And {formatting.plural(more, 'more device')}." if more > 0 else "",
        f"{found.open:,} open now: sent once on saving." if found.open else "",
        _last(found, now_ms),
        found.note,
    ]
    said = " ".join(each for each in notes if each)
    axis = [_axis(found.days)] if rows else []
    return [head, *rows, *axis, *([el("p", said, class_="quiet")] if said else [])]


def _row(device: FiredDevice, days: int, now_ms: int) -> Element:
    first_ms = now_ms - days * DAY_MS
    bars = [
        el("i", style=f"left:{left:.2f}%;width:{width:.2f}%")
        for left, width in (_place(span, first_ms, now_ms) for span in device.spans)
    ]
    return el(
        "div",
        el("span", device.label, class_="alert-device"),
        el("span", *bars, class_="alert-line", role="img",
           aria_label=formatting.plural(device.count, "alert")),
        el("span", f"{device.count:,}", class_="quiet"),
        class_="alert-bar",
    )  # fmt: skip


def _place(span: tuple[int, int | None], first_ms: int, now_ms: int) -> tuple[float, float]:
    fired_ms, ended_ms = span
    whole_ms = now_ms - first_ms
    left = 100 * max(0, fired_ms - first_ms) / whole_ms
    width = 100 * ((now_ms if ended_ms is None else ended_ms) - fired_ms) / whole_ms
    return min(left, 98.5), max(1.5, min(width, 100 - left))


def _axis(days: int) -> Element:
    return el("div", el("span", f"{days} days ago"), el("span", "now"), class_="alert-axis quiet")


def _last(found: RulePreview, now_ms: int) -> str:
    spans = [(fired, each.label) for each in found.devices for fired, _ in each.spans]
    if not spans:
        return ""
    at_ms, label = max(spans)
    return f"Last: {moment(at_ms, now_ms, 'UTC')} UTC, {label}."
