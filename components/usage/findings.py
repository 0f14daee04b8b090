"""The findings of the devices of a summary, in its days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from dash import html
from dash.development.base_component import Component

from api.client.findings import Finding
from components import formatting, session
from components.findings import summary_table
from components.fleet.device_list import Directory
from components.usage.sums import DeviceUsage
from components.usage.url_state import UsageView

MOST_LISTED: Final = 20


def section(
    found: Sequence[Finding], usages: Sequence[DeviceUsage], price: float | None, view: UsageView
) -> list[Component]:
    """Worst first; nothing where there are none."""
    by_id = {usage.meter.id: usage for usage in usages if usage.days}
    mine = [each for each in found if each.device_id in by_id]
    if not mine:
        return []
    devices = summary_table.directory_of((usage.meter for usage in by_id.values()), price)
    rows = [_row(each, by_id[each.device_id], devices, view) for each in mine[:MOST_LISTED]]
    note = formatting.plural(len(mine), "finding")
    if len(mine) > MOST_LISTED:
        note += f", the {MOST_LISTED} worst"
    return [
        html.H2(["Findings", html.Span(f" · {note}", className="quiet")]),
        summary_table.table(rows, "Findings by device", several=True, kind="usage"),
    ]


def _row(finding: Finding, usage: DeviceUsage, devices: Directory, view: UsageView) -> Component:
    href = session.site_path(f"/devices/{quote(usage.meter.id, safe='')}")
    who = html.A(usage.meter.label, href=href)
    return summary_table.row(finding, devices, view.units, usage.tz, usage.days[-1].end_ms, who)
