"""A device's findings: chips beside its state, and the card below its chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.client.findings import Finding
from api.insight.finding_dismissal import NEW_NORMAL, judgements_of
from components import finding_text, formatting, session
from components.controls import attributes, labelled
from components.directory_queries import Directory
from components.findings.rows import diamond
from components.formatting import Clock
from components.ranges import Window, around, write_window
from components.shell import FINDING_SETTINGS_PATH, FINDINGS_PATH
from components.units import Units

CARD: Final = "device-findings"
CHIPS: Final = "device-finding-chips"
DEED: Final = "device-findings-deed"
DONE: Final = "device-findings-done"
OUTCOME: Final = "device-findings-outcome"
MOST_LISTED: Final = 20
MOST_CHIPS: Final = 3
EMPTY: Final = "Nothing found so far."
NUMBERS: Final = ("How much", "Volume", "Cost", "A day")
HEADS: Final = ("Finding", "Began", "Ended", *NUMBERS, "")


@dataclass(frozen=True, slots=True)
class FindingContext:
    """The units and zone of the texts."""

    devices: Directory
    units: Units
    tz: ZoneInfo
    now_ms: int


def chips(findings: Sequence[Finding], context: FindingContext) -> list[Component]:
    """The open findings, worst first. A chip moves the chart to its finding's span."""
    return [_chip(each, context) for each in findings[:MOST_CHIPS]]


def _chip(finding: Finding, context: FindingContext) -> Component:
    cost = finding_text.cost(finding, context.devices) if finding.cost_per_day is not None else ""
    parts = (
        finding_text.kind_of(finding).label,
        finding_text.how_much(finding, context.units, context.now_ms),
        f"{cost} a day" if cost else "",
    )
    return html.Button(
        [diamond(finding.severity), html.Span(" · ".join(part for part in parts if part))],
        type="button",
        className="state-chip finding-chip",
        title=finding_text.sentence(finding, context.units),
        **attributes(data_severity=finding.severity, **_shows(finding, context)),
    )


def _shows(finding: Finding, context: FindingContext) -> dict[str, str]:
    span = Window(finding.start_ms, max(finding.start_ms + 1, finding.end_ms or context.now_ms))
    wide = around(span)
    first, last = write_window(Window(wide.from_ms, min(wide.to_ms, context.now_ms)))
    return {"data_from": first, "data_to": last}


# --- The card ------------------------------------------------------------------------------------


def summary(findings: Sequence[Finding]) -> str:
    """``1 open, 6 closed, 2 dismissed``."""
    counts = {state: sum(f.state == state for f in findings) for state in ("open", "closed")}
    counts["dismissed"] = len(findings) - sum(counts.values())
    shown = [f"{formatting.whole(n)} {state}" for state, n in counts.items() if n]
    return ", ".join(shown) or "none"


def listing(findings: Sequence[Finding], context: FindingContext) -> list[Component]:
    """The card's body: open findings first, then the latest."""
    if not findings:
        return [html.P(EMPTY, className="empty")]
    ordered = sorted(findings, key=lambda f: (f.state != "open", -f.start_ms))
    head = html.Tr([html.Th(name, scope="col", className=_align(name)) for name in HEADS])
    body = [_row(each, context) for each in ordered[:MOST_LISTED]]
    table = html.Table([html.Thead(head), html.Tbody(body)], className="rows finding-table")
    made: list[Component] = [
        html.Div(
            table,
            className="finding-scroll",
        )
    ]
    if len(ordered) > MOST_LISTED:
        rest = formatting.whole(len(ordered) - MOST_LISTED)
        made.append(html.P(f"and {rest} earlier ones: the file has all", className="quiet"))
    return made


def _align(name: str) -> str:
    return "number" if name in NUMBERS else "when"


def _row(finding: Finding, context: FindingContext) -> Component:
    clock = Clock(context.tz, finding.start_ms, max(finding.start_ms, context.now_ms))
    devices, units = context.devices, context.units
    word = "dismissed" if finding.state == "dismissed" else ""
    name = html.Th(
        [
            diamond(finding.severity),
            html.Span(finding_text.kind_of(finding).label, className="finding-name"),
            *([html.Span(word, className="quiet")] if word else []),
        ],
        scope="row",
        title=finding_text.sentence(finding, units),
    )
    per_day = finding_text.cost(finding, devices)
    numbers = (
        finding_text.how_much(finding, units, context.now_ms),
        finding_text.so_far(finding, units),
        finding_text.cost_of_gallons(finding, devices) or formatting.NOTHING,
        per_day,
    )
    return html.Tr(
        [
            name,
            _cell("Began", finding_text.instant(finding.start_ms, clock, context.now_ms), "when"),
            _cell("Ended", _ended(finding, clock, context.now_ms), "when"),
            *(_cell(head, text, "number") for head, text in zip(NUMBERS, numbers, strict=True)),
            html.Td(_deeds(finding, context), className="finding-deeds-cell"),
        ],
        className="off" if word else "",
    )


def _cell(head: str, text: str, kind: str) -> Component:
    """``head``: the column's heading, shown in the row on a phone."""
    return html.Td(text, className=kind, **attributes(data_head=head))


def _ended(finding: Finding, clock: Clock, now_ms: int) -> str:
    if finding.end_ms is None:
        return f"still open, {finding_text.lasting(finding, now_ms)}"
    return finding_text.instant(finding.end_ms, clock, now_ms)


def _deeds(finding: Finding, context: FindingContext) -> list[Component]:
    kind = finding_text.kind_of(finding)
    state = finding.state if finding.state != "open" else None
    params = {k: v for k, v in {"state": state, "finding": finding.id}.items() if v}
    began = finding_text.instant(
        finding.start_ms, Clock(context.tz, finding.start_ms, context.now_ms), context.now_ms
    )
    what = f"{kind.label} of {began}"
    show = html.Button(
        "Show",
        type="button",
        className="button small",
        **labelled(f"Show {what} on the chart"),
        **attributes(**_shows(finding, context)),
    )
    evidence = html.A(
        "Evidence",
        href=session.site_path(f"{FINDINGS_PATH}?{urlencode(params)}"),
        className="button small",
        **labelled(f"Evidence of {what}"),
    )
    limits = urlencode({"device": finding.device_id, "kind": finding.kind})
    settings = html.A(
        "Settings",
        href=session.site_path(f"{FINDING_SETTINGS_PATH}?{limits}"),
        className="button small",
        **labelled(f"Settings of {kind.label} on this device"),
    )
    return [show, evidence, settings, _dismissal(finding, what)]


def _dismissal(finding: Finding, what: str) -> Component:
    """The judgements to dismiss it with, or the button that takes one back."""
    if finding.state == "dismissed":
        return _judge("Restore", finding, "", small=True)
    kind = finding_text.kind_of(finding)
    choices = [
        html.Li(_judge(each.label, finding, each.name, finding_text.consequence(each, kind)))
        for each in judgements_of(finding.kind)
        if each is not NEW_NORMAL or finding.end_ms is None
    ]
    return html.Details(
        [
            html.Summary("Dismiss", className="button small", **labelled(f"Dismiss {what}")),
            html.Div(html.Ul(choices, className="menu-entries"), className="menu-body"),
        ],
        className="menu",
    )


def _judge(
    label: str, finding: Finding, judgement: str, note: str = "", *, small: bool = False
) -> Component:
    parts = [html.Span(label), *([html.Span(note, className="quiet")] if note else [])]
    return html.Button(
        parts,
        type="button",
        className="button small" if small else "menu-entry judgement",
        **attributes(data_finding=finding.id, data_judge=judgement),
    )
