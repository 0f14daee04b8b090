"""One finding: its sentence, three numbers, its evidence, its facts and the possible actions."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from dash import html
from dash.development.base_component import Component

from api.catalog import HOUR_MS, METRICS, RESOLUTION_BY_NAME
from api.client.findings import Finding, FindingDetail
from api.insight.finding_dismissal import (
    JUDGEMENT_BY_NAME,
    NEW_NORMAL,
    NOT_A_PROBLEM,
    Judgement,
    judgements_of,
)
from api.timez import stamp
from components import finding_text, formatting, session
from components.charts.labels import axis, ticks
from components.controls import attributes, labelled
from components.finding_text import kind_of
from components.findings.queries import FindingsView, One, metric_of
from components.findings.rows import diamond
from components.shell import FINDING_SETTINGS_PATH
from components.units import Scale, Units
from components.url_state import BETWEEN, TABS

AROUND_MS: Final = 24 * HOUR_MS


def detail(shown: One, view: FindingsView, now_ms: int) -> list[Component]:
    finding, devices = shown.detail.finding, shown.devices
    at = finding_text.clock(finding, devices, view.zone, now_ms)
    return [
        _heading(shown, now_ms),
        _numbers(finding, shown, view, now_ms),
        html.Div(
            className="finding-figure",
            role="img",
            **labelled(f"The readings around it. {finding_text.sentence(finding, view.units)}."),
            **attributes(data_severity=finding.severity),
        ),
        _facts(shown, view, at, now_ms),
        *_earlier(shown, view, at),
        _actions(shown, view, now_ms),
    ]


def _heading(shown: One, now_ms: int) -> Component:
    finding, devices = shown.detail.finding, shown.devices
    kind = finding_text.kind_of(finding)
    lasting = finding_text.lasting(finding, now_ms)
    state = f"open {lasting}" if finding.end_ms is None else f"lasted {lasting}"
    place = " · ".join(filter(None, (finding.serial_number, finding_text.group(finding, devices))))
    return html.Header(
        [
            html.P(
                [
                    html.Span(
                        [
                            diamond(finding.severity),
                            f" {finding_text.SEVERITY_WORDS[finding.severity]} · {kind.label}",
                        ],
                        className="finding-tag",
                        **attributes(data_severity=finding.severity),
                    ),
                    html.Span(state, className="quiet"),
                    html.Span(className="quiet finding-place"),
                ],
                className="finding-line",
            ),
            html.H2(
                f"{finding_text.label(finding, devices)}: {finding_text.headline(finding, now_ms)}"
            ),
            html.P(place, className="quiet"),
        ]
    )


def _numbers(finding: Finding, shown: One, view: FindingsView, now_ms: int) -> Component:
    kind, units, devices = finding_text.kind_of(finding), view.units, shown.devices
    so_far = "So far" if finding.end_ms is None else "In all"
    a_day = finding_text.gallons_a_day(finding, devices)
    volume_a_day = "" if a_day is None else units.volume(a_day)
    priced = finding_text.cost(finding, devices) if finding.cost_per_day is not None else ""
    numbers = (
        (
            _capital(kind.caption),
            finding_text.how_much(finding, units, now_ms),
            finding_text.against(finding, units),
        ),
        (
            finding_text.bounded(so_far, finding) if finding.gallons is not None else so_far,
            finding_text.so_far(finding, units),
            finding_text.cost_of_gallons(finding, devices),
        ),
        (
            finding_text.bounded("A day", finding) if a_day is not None else "A day",
            priced or volume_a_day or formatting.NOTHING,
            volume_a_day if priced else "",
        ),
    )
    return html.Dl(
        [
            html.Div(
                [
                    html.Dt(label),
                    html.Dd(value, className="finding-value"),
                    html.Dd(note, className="quiet"),
                ]
            )
            for label, value, note in numbers
        ],
        className="finding-numbers",
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _facts(shown: One, view: FindingsView, at: Any, now_ms: int) -> Component:
    finding = shown.detail.finding
    zone = f" ({at.tz.key})"
    facts = [("Began", formatting.moment(finding.start_ms, at) + zone)]
    if finding.end_ms is not None:
        facts.append(("Ended", formatting.moment(finding.end_ms, at)))
    facts.append(("Known since", formatting.moment(finding.opened_ms, at)))
    if shown.detail.dismissed_ms is not None:
        when = formatting.moment(shown.detail.dismissed_ms, at)
        facts.append(("Dismissed", f"{when}, by {shown.detail.dismissed_by or 'somebody'}"))
        judgement = JUDGEMENT_BY_NAME.get(shown.detail.judgement or "", NOT_A_PROBLEM)
        why = ": ".join(part for part in (judgement.label, shown.detail.reason) if part)
        facts.append(("Because", why))
    return html.Dl(
        [html.Div([html.Dt(name), html.Dd(value)]) for name, value in facts],
        className="finding-facts",
    )


def _earlier(shown: One, view: FindingsView, at: Any) -> list[Component]:
    if not shown.earlier:
        return []
    head = html.H3(f"{finding_text.kind_of(shown.detail.finding).label}: earlier on this device")
    rows = [
        html.Tr(
            [
                html.Td(finding_text.dates(each, at)),
                html.Td(finding_text.how_much(each, view.units)),
                html.Td(finding_text.so_far(each, view.units)),
                html.Td("still open" if each.state == "open" else each.state),
            ]
        )
        for each in shown.earlier
    ]
    return [head, html.Table(html.Tbody(rows), className="finding-earlier")]


# --- Actions -------------------------------------------------------------------------------------


def chart_address(finding: Finding, view: FindingsView, now_ms: int) -> str:
    """The device's page at the finding's span, with one more day on both sides."""
    first = finding.start_ms - AROUND_MS
    last = max(first + HOUR_MS, min(now_ms, (finding.end_ms or now_ms) + AROUND_MS))
    metric = metric_of(finding.kind)
    tab = next((tab.name for tab in TABS if metric in tab.metrics and not tab.bars), None)
    params = {
        "range": BETWEEN.join((stamp(first), stamp(last))),
        "metric": tab,
        "zone": view.zone,
        "units": view.units.name,
    }
    query = urlencode({name: value for name, value in params.items() if value})
    return session.site_path(f"/devices/{finding.device_id}?{query}")


def _actions(shown: One, view: FindingsView, now_ms: int) -> Component:
    finding = shown.detail.finding
    chart = html.A(
        "Open chart",
        href=chart_address(finding, view, now_ms),
        className="button primary",
        id="finding-chart-link",
    )
    query = urlencode({"device": finding.device_id, "kind": finding.kind})
    settings = html.A(
        "Settings",
        href=session.site_path(f"{FINDING_SETTINGS_PATH}?{query}"),
        className="button",
        **labelled(f"Settings of {finding_text.kind_of(finding).label} on this device"),
    )
    if finding.state == "dismissed":
        undo = html.Button("Take the dismissal back", type="button", className="button",
                           **attributes(data_do="restore"))  # fmt: skip
        return html.Div([chart, undo, settings], className="finding-actions")
    dismiss = html.Button(
        "Dismiss…",
        type="button",
        className="button",
        **attributes(data_do="ask", aria_expanded="false", aria_controls="finding-dismiss"),
    )
    return html.Div(
        [html.Div([chart, dismiss, settings], className="finding-actions"), _form(finding)],
        className="finding-deeds",
    )


def _fits(judgement: Judgement, finding: Finding) -> bool:
    return judgement is not NEW_NORMAL or finding.end_ms is None


def _form(finding: Finding) -> Component:
    """The form of a dismissal; assets/findings.js adds the fields."""
    kind = finding_text.kind_of(finding)
    offered = [each for each in judgements_of(finding.kind) if _fits(each, finding)]
    choices = [
        "\t".join((each.name, each.label, finding_text.consequence(each, kind))) for each in offered
    ]
    consequence = "It leaves the open ones. Undo takes all of it back."
    return html.Form(
        id="finding-dismiss",
        hidden=True,
        **attributes(data_consequence=consequence, data_reasons="\n".join(choices)),
    )


# --- The evidence as a chart ----------------------------------------------------------------------


WIDTH: Final = 1000  # of the box; its height is 100
USUAL_PX: Final = 460
_YEAR: Final = re.compile(r"(?<=[A-Z][a-z]{2}) \d{4}$")


def figure(detail: FindingDetail, units: Units, tz: ZoneInfo) -> dict[str, Any] | None:
    """None without readings. ``line`` and ``span``: in a box of 1000 × 100. Ticks are (share of the
    length, text)."""
    values = [value for _, value in detail.series if value is not None]
    if not values:
        return None
    scale, unit = _scale(detail, units, max(values, key=abs))
    limit = _limit(detail)
    levels = [scale.of(v) for v in values] + ([] if limit is None else [scale.of(limit)])
    low, high, marks = axis(min(levels), max(levels))
    length = max(1, detail.to_ms - detail.from_ms)

    def x(at_ms: float) -> float:
        return round(min(1.0, max(0.0, (at_ms - detail.from_ms) / length)) * WIDTH, 1)

    def y(value: float) -> float:
        return round(100 - (value - low) / (high - low) * 100, 2)

    end_ms = detail.finding.end_ms or detail.to_ms
    return {
        "unit": unit,
        "line": _path(detail, scale, x, y),
        "span": [x(detail.finding.start_ms), max(x(detail.finding.start_ms) + 2, x(end_ms))],
        "limit": None if limit is None else y(scale.of(limit)),
        "rows": [[y(mark), formatting.number(mark)] for mark in marks],
        "columns": [
            [x(at), text.split("<br>")]
            for at, text in _times(detail, tz)
        ],
    }  # fmt: skip


def _times(detail: FindingDetail, tz: ZoneInfo) -> list[tuple[int, str]]:
    """Without the years, for which there is no room; the facts below name it."""
    made = ticks(detail.from_ms, detail.to_ms, tz, USUAL_PX)
    pairs = zip(made.values_ms, made.texts, strict=True)
    return [(at, _YEAR.sub("", text)) for at, text in pairs if detail.from_ms <= at <= detail.to_ms]


def metric_name(detail: FindingDetail) -> str:
    return detail.metric.split("_", 1)[1]  # its aggregate precedes it


def _scale(detail: FindingDetail, units: Units, largest: float) -> tuple[Scale, str]:
    """Totals of hours have a unit by the hour."""
    metric = next(m for m in METRICS if m.name == metric_name(detail))
    scale = units.scale(metric, largest)
    return scale, f"{scale.unit}/h" if detail.metric.startswith("total_") else scale.unit


def _limit(detail: FindingDetail) -> float | None:
    """The kind's limit, if its number is of the metric shown."""
    kind = kind_of(detail.finding)
    same = kind.against == "limit" and kind.unit in ("%", "dBm", "°C")
    return detail.finding.usual if same and not detail.metric.startswith("total_") else None


def _path(detail: FindingDetail, scale: Scale, x: Any, y: Any) -> str:
    """SVG path data; nothing is drawn across a gap."""
    length_ms = RESOLUTION_BY_NAME[detail.resolution].length_ms or 0
    points = [(at, value) for at, value in detail.series if value is not None]
    made = [f"M{x(points[0][0])} {y(scale.of(points[0][1]))}"]
    for (before, _), (at, value) in pairwise(points):
        broken = at - before > 1.5 * length_ms
        if broken:
            made.append(f"h{0.1}")
        made.append(f"{'M' if broken else 'L'}{x(at)} {y(scale.of(value))}")
    return "".join(made) + "h0.1"
