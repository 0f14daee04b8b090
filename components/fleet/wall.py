"""The wall as one JSON object for the browser, with every text decided here."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from api.client import StatusSummary
from api.insight.findings import KIND_BY_NAME
from api.timez import MINUTE_MS, zone_or_utc
from components import formatting
from components.concurrent_queries import ServiceAccess
from components.finding_text import DIAMONDS
from components.fleet.device_status import SERVICE_NAMES, STATES
from components.fleet.queries import SORTS, FleetPage, FleetView, fleet_page, write_fleet_view
from components.fleet.sparklines import lines_of
from components.fleet.tiles import tiles_of
from components.fleet.totals import totals
from components.formatting import Clock, minute_text

ONLY_READINGS: Final = (
    "This server has readings alone: 50 devices a page by label, search by the exact serial number"
    " or network id. Totals, filters, findings and charts need a Weir."
)
AGAIN_MS: Final = 15_000
STATUS_LATE_MS: Final = 3 * MINUTE_MS  # a status is updated each minute


def board(access: ServiceAccess, view: FleetView, now_ms: int) -> dict[str, Any]:
    """All that the wall shows of that view. Raises a WeirError if the service fails."""
    page = fleet_page(access, view, now_ms)
    rows, summary = page.statuses.rows, page.statuses.summary
    clock, sort = Clock(zone_or_utc(view.zone), now_ms, now_ms), SORTS[view.sort].label
    return {
        "view": write_fleet_view(view),
        "at": now_ms,
        "at_words": formatting.moment(now_ms, clock, seconds=True),
        "again_ms": AGAIN_MS,
        "trouble": "",
        "remark": ONLY_READINGS if page.bare else "",
        "unit": view.units.flow_unit,
        "tiles": tiles_of(rows, lines_of(access, rows, view.span, now_ms), view, now_ms),
        "totals": [] if summary is None else _totals(summary, view),
        "checked": {} if summary is None else checked(summary, clock, now_ms),
        "chips": [] if summary is None else _chips(summary, view),
        "groups": list(page.statuses.groups),
        "pages": {"page": page.number, "last": page.pages, "words": _pages_words(page)},
        "count_text": f"{formatting.plural(page.statuses.count, 'device')}, sorted: {sort}",
        "empty": "" if rows else _empty(view),
    }


def _totals(summary: StatusSummary, view: FleetView) -> list[dict[str, Any]]:
    made = totals(summary, span=view.span, units=view.units)
    return [asdict(total) | {"parts": [list(part) for part in total.parts]} for total in made]


def checked(summary: StatusSummary, clock: Clock, now_ms: int) -> dict[str, Any]:
    """The time up to which the devices were checked, and whether that is late."""
    if summary.as_of_ms is None:
        return {"words": "", "late": False}
    if summary.unchecked:
        since = (
            "" if summary.checked_ms is None else f", checked to {_time(summary.checked_ms, clock)}"
        )
        devices = formatting.plural(summary.unchecked, "device")
        return {"words": f"Findings are catching up: {devices}{since}", "late": True}
    at = _time(summary.as_of_ms, clock)
    if now_ms - summary.as_of_ms > STATUS_LATE_MS:
        return {"words": f"Catching up: the status of some devices is of {at}", "late": True}
    return {"words": f"Checked {at}", "late": False}


def _time(instant_ms: int, clock: Clock) -> str:
    return minute_text(clock.local(instant_ms))


def _chips(summary: StatusSummary, view: FleetView) -> list[dict[str, Any]]:
    """Filters by state, then by the kinds of open findings."""
    states = [
        {
            "field": "status",
            "name": state.name,
            "tone": state.name,
            "shape": state.shape,
            "word": state.word,
            "count": formatting.whole(summary.states.get(SERVICE_NAMES[state.name], 0)),
            "pressed": state.name in view.statuses,
        }
        for state in STATES
    ]
    kinds = [
        {
            "field": "finding",
            "name": name,
            "tone": "warning" if name in summary.attention.kinds else "notice",
            "shape": DIAMONDS["warning" if name in summary.attention.kinds else "notice"],
            "word": kind.label,
            "count": formatting.whole(summary.findings.get(name, 0)),
            "pressed": name == view.kind,
        }
        for name, kind in KIND_BY_NAME.items()
        if summary.findings.get(name) or name == view.kind
    ]
    return states + kinds


def _pages_words(page: FleetPage) -> str:
    """``51–100 of 132``; the number alone if there is one page."""
    if page.pages == 1:
        return formatting.plural(page.statuses.count, "device")
    span = f"{formatting.whole(page.first)}–{formatting.whole(page.last)}"
    return f"{span} of {formatting.whole(page.statuses.count)}"


def _empty(view: FleetView) -> str:
    """The reason for an empty wall."""
    if not (view.search or view.statuses or view.group or view.kind):
        return "No active device yet, or none that you have access to."
    if view.search and not (view.statuses or view.group or view.kind):
        return f"No device matches “{view.search}”."
    return "No device matches this search and these filters."
