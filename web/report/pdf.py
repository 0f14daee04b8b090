"""A report on paper: the document of the page, whole in itself, and the PDF that a browser makes of
it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Final

from api.client import Client
from components import html_json, theme
from components.fleet.queries import Desk
from components.report import text as report_text
from components.report.content import document
from components.report.page_rules import page_rules
from components.report.queries import Report, whole, window_of
from components.report.url_state import PAPERS, ReportView
from web.bundle import ASSETS
from web.downloads.names import file_stem
from web.rendering import Renderer
from web.report.charts import PAPER_PX, PATIENCE_S, Chart, chart, patiently

PRINTING_S: Final = 60.0  # three thousand rows and fifty charts take a while
_VOID: Final = frozenset(("br", "hr", "img", "col", "wbr"))


@dataclass(frozen=True, slots=True)
class Paper:
    """The PDF, what it is called (without the ending), and of what it is."""

    body: bytes
    name: str
    devices: int
    first: str
    last: str


def paper(desk: Desk, renderer: Renderer, view: ReportView, now_ms: int) -> Paper:
    """Raises BadRequest for what is no report, what the client raises, and RenderingError."""
    report = whole(desk, view, now_ms)
    charts = _charts(desk.client, renderer, report, view, now_ms)
    page = html(report, view, organization(desk.client), charts)
    body = renderer.render_page(page, timeout_s=PRINTING_S)
    first, last = (
        date.fromordinal(day).isoformat() for day in report_text.ends(report.usages) or (1, 1)
    )
    name = file_stem("report", report_text.title(report, view), first, last)
    return Paper(body, name, len(report.usages), first, last)


def organization(client: Client) -> str:
    return next((each.name for each in client.organizations()), "")


def _charts(
    client: Client, renderer: Renderer, report: Report, view: ReportView, now_ms: int
) -> dict[str, Chart]:
    """By device id. Who finds the browser busy at first is told so; later charts wait."""
    made: dict[str, Chart] = {}
    for usage in report.usages:
        if usage.failure or not usage.days:
            continue
        id, window = usage.meter.id, window_of(usage)
        until_s = time.monotonic() + (PATIENCE_S if made else 0.0)
        made[id] = patiently(
            lambda id=id, window=window: chart(
                client, renderer, id, view, window, PAPER_PX, now_ms
            ),
            until_s,
        )
    return made


def html(report: Report, view: ReportView, organization: str, charts: Mapping[str, Chart]) -> str:
    """A page that needs nothing else."""
    title = report_text.title(report, view)
    nodes = html_json.sheet(document(report, view, organization))
    inside = {id: inner(each) for id, each in charts.items()}
    own = ("style.css", "report-pictures.css", "report.css")
    styles = (theme.light_css(), *map(_asset, own))
    rules = page_rules(title, report_text.range_words(report.usages), PAPERS[view.paper])
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{''.join(styles)}{rules}</style></head>"
        f'<body><main class="report paper">{markup(nodes, inside)}</main></body></html>'
    )


def inner(chart: Chart) -> str:
    """What stands in a chart's place."""
    return (
        f'<div role="img" aria-label="{escape(chart.words)}">{chart.svg}</div>'
        f"<figcaption>{escape(chart.note)}</figcaption>"
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")


def markup(nodes: Sequence[html_json.Node], inside: Mapping[str, str]) -> str:
    """The document's data as HTML; ``inside`` is what stands in the charts' places."""
    return "".join(_markup(node, inside) for node in nodes)


def _markup(node: html_json.Node, inside: Mapping[str, str]) -> str:
    if isinstance(node, str):
        return escape(node)
    tag, attributes, nodes = node
    said = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    if tag in _VOID:
        return f"<{tag}{said}>"
    chart = inside.get(attributes.get("data-device", ""), "")
    return f"<{tag}{said}>{chart}{markup(nodes, inside)}</{tag}>"
