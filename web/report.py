"""A report as PDF, by address and from the command line: the page's document with everything
inline, printed by the renderer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from html import escape
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final

import orjson
from werkzeug.wrappers import Response

from api.catalog import REPORT_PDF_PATH
from api.client import Client
from api.errors import BadRequest, NotFound, ParameterProblem, WeirError
from api.timez import now_ms
from components import chart_query, html_json, session, theme
from components.chart_query import Subject
from components.charts import labels
from components.charts.figure import MARGIN_PX
from components.concurrent_queries import ReplyCache, ServiceAccess, current_access
from components.image_query import Size, whole
from components.queries import find_device, usual_interval_s
from components.ranges import Window
from components.report import text as report_text
from components.report.content import CHART, document
from components.report.queries import (
    PAPERS,
    Report,
    ReportView,
    checked_report_view,
    load_report,
    param_of,
    window_of,
)
from components.report.text import page_rules
from components.theme import LIGHT
from components.units import US
from components.url_state import USUAL, View
from components.usage.queries import days_of, pick
from web.images.chart import bare
from web.images.routes import cache_control, renderer
from web.rendering import Renderer, RendererBusy
from web.rendering.messages import BUSY_AGAIN_S
from web.responses import disposition, file_stem, problem
from web.static import ASSETS

PRINTING_S: Final = 60.0  # three thousand rows and fifty charts take a while
_VOID: Final = frozenset(("br", "hr", "img", "col", "wbr"))


@dataclass(frozen=True, slots=True)
class Paper:
    """The PDF, its name without the ending, and what it covers."""

    body: bytes
    name: str
    devices: int
    first: str
    last: str


def paper(access: ServiceAccess, renderer: Renderer, view: ReportView, now_ms: int) -> Paper:
    """The PDF. Raises BadRequest for an invalid report, what the client raises, RenderingError."""
    report = load_report(access, view, now_ms)
    charts = _charts(access.client, renderer, report, view, now_ms)
    page = html(report, view, organization(access.client), charts)
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
    """The charts by device id. The first raises RendererBusy at once; later ones wait."""
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
    """A complete page without external resources."""
    title = report_text.title(report, view)
    nodes = html_json.as_nodes(document(report, view, organization))
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
    """The HTML in place of a chart."""
    return (
        f'<div role="img" aria-label="{escape(chart.words)}">{chart.svg}</div>'
        f"<figcaption>{escape(chart.note)}</figcaption>"
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")


def markup(nodes: Sequence[html_json.Node], inside: Mapping[str, str]) -> str:
    """The document's data as HTML; ``inside``: the charts' HTML by device id."""
    return "".join(_markup(node, inside) for node in nodes)


def _markup(node: html_json.Node, inside: Mapping[str, str]) -> str:
    if isinstance(node, str):
        return escape(node)
    tag, attributes, nodes = node
    params = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    if tag in _VOID:
        return f"<{tag}{params}>"
    chart = inside.get(attributes.get("data-device", ""), "")
    return f"<{tag}{params}>{chart}{markup(nodes, inside)}</{tag}>"


# --- Charts --------------------------------------------------------------------------------------

HEIGHT_PX: Final = 244
WIDTHS_PX: Final = (320, 1_200)
PAPER_PX: Final = 900  # scaled down to the paper, so that labels match the tables
PATIENCE_S: Final = 30.0  # of a report whose first chart was rendered
_SIZE: Final = re.compile(r' width="[\d.]+" height="[\d.]+"')
# Names of the figure's colours; of two names for one colour the first.
_NAMES: Final = {
    colour: name
    for name, colour in reversed(list(asdict(LIGHT).items()))
    if name not in ("on_accent", "series")
}
_PAINT: Final = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")


@dataclass(frozen=True, slots=True)
class Chart:
    """``svg``: fluid in width. ``words``: the text alternative. ``note``: below it."""

    svg: str
    words: str
    note: str


def chart(
    client: Client,
    renderer: Renderer,
    device_id: str,
    view: ReportView,
    window: Window,
    width_px: int,
    now_ms: int,
) -> Chart:
    """Raises what the client raises, and RenderingError."""
    device = find_device(client, device_id, now_ms)
    subject = Subject.of(device, usual_interval_s(client, device))
    chart_view = View(
        custom=window,
        tab=view.tab,
        zone=view.usage.zone,
        units=view.usage.units,
        width_px=width_px - MARGIN_PX["l"] - MARGIN_PX["r"],
        compare=view.compare,
        usual=view.compare == USUAL,
    )
    drawn = chart_query.draw(client, subject, chart_view, now_ms)
    made = bare(drawn, Size(width_px, HEIGHT_PX, 1))
    svg = renderer.render_figure(made, "svg", width_px, HEIGHT_PX).decode()
    tz = drawn.canvas.tz
    summary = labels.summary(drawn.frame, tz, chart_view.units, chart_query.data_share(drawn))
    metric = subject.tab_of(chart_view).label
    parts = (metric, chart_query.detail(drawn), chart_query.zone_note(drawn))
    note = " · ".join(part for part in (*parts, chart_query.compared_words(drawn)) if part)
    return Chart(fluid(svg), f"{metric}. {summary}", note)


def patiently(make: Callable[[], Chart], until_s: float) -> Chart:
    """Retry while the renderer is busy, until that monotonic time."""
    while True:
        try:
            return make()
        except RendererBusy as error:
            pause_s = error.retry_after_s or 1.0
            if time.monotonic() + pause_s > until_s:
                raise
            time.sleep(pause_s)


def fluid(svg: str) -> str:
    """The SVG without a fixed size, in the colours of the page's theme."""

    def paint(match: re.Match[str]) -> str:
        colour = "#" + bytes(int(part) for part in match.groups()).hex()
        name = _NAMES.get(colour)
        return f"var(--{name.replace('_', '-')})" if name else match[0]

    return _PAINT.sub(paint, _SIZE.sub("", svg, count=1))


# --- For the command line ------------------------------------------------------------------------


def written(
    client: Client, folder: Path, identifiers: Sequence[str], params: Mapping[str, str]
) -> Paper:
    """``folder``: of the machine's shared renderer. Raises BadRequest for an invalid report,
    NotFound, what the client raises, and RenderingError."""
    now = now_ms()
    pairs = list({"units": _units_of(client), **params}.items())
    if identifiers:
        ids = (find_device(client, identifier, now).device.id for identifier in identifiers)
        pairs.append(("devices", ",".join(ids)))
    view = checked_report_view(pairs)
    renderer = Renderer(folder)
    try:
        return paper(ServiceAccess(client, ReplyCache()), renderer, view, now)
    finally:
        renderer.close()


def _units_of(client: Client) -> str:
    """The organization's; the usual ones of a server that doesn't tell."""
    try:
        return client.me().units or US.name
    except WeirError:
        return US.name


# --- Addresses ------------------------------------------------------------------------------------


MOST_AT_ONCE: Final = 2  # per process, since the renderer does one job at a time


def rules() -> Iterator[tuple[str, str, Callable[..., Response]]]:
    """(address, name, view function)."""
    yield REPORT_PDF_PATH, "report_pdf", report_pdf
    yield CHART, "report_chart", report_chart


def report_pdf() -> Response:
    try:
        made = _made()
    except WeirError as error:
        return problem(error)
    return Response(
        made.body,
        content_type="application/pdf",
        headers={
            "Content-Disposition": disposition(f"{made.name}.pdf", "inline"),
            "Cache-Control": "no-store",
        },
    )


def _made() -> Paper:
    view = checked_report_view(session.pairs())
    semaphore = session.singleton("reports", lambda: BoundedSemaphore(MOST_AT_ONCE))
    if not semaphore.acquire(blocking=False):
        raise RendererBusy(
            f"{MOST_AT_ONCE} reports are already in progress: try again in a few seconds.",
            retry_after_s=BUSY_AGAIN_S,
        )
    try:
        return paper(current_access(), renderer(), view, now_ms())
    finally:
        semaphore.release()


def report_chart() -> Response:
    """``{"html": …}``: the HTML of a chart on the page."""
    try:
        body = {"html": _chart()}
    except WeirError as error:
        return problem(error)
    headers = {"Cache-Control": cache_control()}
    return Response(orjson.dumps(body), content_type="application/json", headers=headers)


def _chart() -> str:
    pairs = session.pairs()
    view = checked_report_view(pairs, {"width": whole(*WIDTHS_PX)})
    if len(view.usage.devices) != 1:
        raise BadRequest("", errors=(ParameterProblem("devices", "must be one device"),))
    access, now = current_access(), now_ms()
    meters = pick(access, view.usage, now).meters
    if not meters:
        raise NotFound("Device not found, or you don't have access.")
    windows = [window for _, window in days_of(meters[0], view.usage, now)]
    if not windows:
        raise BadRequest("", errors=(ParameterProblem("range", "is in the future"),))
    window = Window(windows[0].from_ms, windows[-1].to_ms)
    width = int(param_of(pairs, "width") or WIDTHS_PX[1])
    return inner(chart(access.client, renderer(), meters[0].id, view, window, width, now))
