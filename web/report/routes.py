"""The addresses of reports: the PDF, and one chart for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import BoundedSemaphore
from typing import Final

import orjson
from werkzeug.wrappers import Response

from api.errors import BadRequest, NotFound, ParameterProblem, WeirError
from api.timez import now_ms
from components import session
from components.fleet.queries import current_access
from components.image_query import whole
from components.ranges import Window
from components.report.content import CHART
from components.report.url_state import checked_report_view, param_of
from components.usage.queries import days_of, pick
from web.downloads.names import disposition
from web.images.routes import renderer
from web.problems import problem
from web.rendering.messages import BUSY_AGAIN_S, RendererBusy
from web.report.pdf import WIDTHS_PX, Paper, chart, inner, paper

ROUTE: Final = "/export/report.pdf"
MOST_AT_ONCE: Final = 2  # per process, since the renderer does one job at a time


def rules() -> Iterator[tuple[str, str, Callable[..., Response]]]:
    """(address, name, view function)."""
    yield ROUTE, "report_pdf", report_pdf
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
    headers = {"Cache-Control": "private, max-age=60"}
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
