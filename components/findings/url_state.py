"""The view of the inbox, in its address and in the browser's query.

Input from a browser is checked: invalid values are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.insight.findings import KIND_BY_NAME, SEVERITIES
from components.units import Units, usual_units, write_units
from components.url_state import text_param, units_param, zone_param

STATES: Final = {"open": "Open", "closed": "Closed", "dismissed": "Dismissed"}
LONGEST_TEXT: Final = 100
LAST_PAGE: Final = 20


@dataclass(frozen=True, slots=True)
class FindingsView:
    """Empty ``kinds``, ``severity`` and ``group`` filter nothing. ``page`` counts from 1.
    ``finding``: the id of the one whose detail is shown."""

    state: str = "open"
    kinds: tuple[str, ...] = ()
    severity: str = ""
    group: str = ""
    page: int = 1
    finding: str = ""
    zone: str | None = None
    units: Units = field(default_factory=usual_units)

    @property
    def filtered(self) -> bool:
        return bool(self.kinds or self.severity or self.group)


def read_findings_view(query: Mapping[str, Any]) -> FindingsView:
    state, severity = text_param(query, "state"), text_param(query, "severity")
    kinds = text_param(query, "kind", 500).split(",")
    page = text_param(query, "page", 3)
    return FindingsView(
        state=state if state in STATES else "open",
        kinds=tuple(dict.fromkeys(kind for kind in kinds if kind in KIND_BY_NAME)),
        severity=severity if severity in SEVERITIES else "",
        group=text_param(query, "group", LONGEST_TEXT),
        page=min(LAST_PAGE, max(1, int(page))) if page.isascii() and page.isdigit() else 1,
        finding=text_param(query, "finding", LONGEST_TEXT),
        zone=zone_param(query),
        units=units_param(query),
    )


def write_findings_view(view: FindingsView) -> dict[str, str | None]:
    """The view's parameters in an address; None for defaults."""
    return {
        "state": view.state if view.state != "open" else None,
        "kind": ",".join(view.kinds) or None,
        "severity": view.severity or None,
        "group": view.group or None,
        "page": str(view.page) if view.page > 1 else None,
        "finding": view.finding or None,
        "zone": view.zone,
        "units": write_units(view.units),
    }
