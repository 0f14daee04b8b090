"""The addresses of images; each responds with an image or a problem."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from werkzeug.wrappers import Response

from api.errors import WeirError
from api.timez import now_ms
from components import session
from components.concurrent_queries import current_access
from web.images.cards import DRAWINGS, card_image
from web.images.chart import chart_image
from web.images.compare import compare_image
from web.images.svg import Image
from web.images.wall import wall_image
from web.rendering import Renderer
from web.rendering.messages import Format
from web.responses import ConcurrencyLimit, disposition, problem

ROOT: Final = "/export"
CHART: Final = f"{ROOT}/devices/<path:device_id>/chart"
CARD: Final = f"{ROOT}/devices/<path:device_id>"
WALL: Final = f"{ROOT}/fleet"
COMPARE: Final = f"{ROOT}/compare"
TYPES: Final[dict[Format, str]] = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}
MOST_EACH: Final = 5  # of its lane's eight threads; a page with images asks for six at a time
CACHE_S: Final = 60  # in the browser's cache; a rolling image is a minute old at most
# No program may run anything in an image.
_INERT: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'"
)


def rules() -> Iterator[tuple[str, str, Callable[..., Response]]]:
    """(address, name, view function) of every image, in each of its formats."""
    for format in TYPES:
        yield f"{CHART}.{format}", f"chart_{format}", _chart(format)
        for card in DRAWINGS:
            yield f"{CARD}/{card}.{format}", f"{card}_{format}", _card(card, format)
        yield f"{WALL}.{format}", f"fleet_{format}", _of_access(wall_image, format)
        yield f"{COMPARE}.{format}", f"compare_{format}", _of_access(compare_image, format)


def renderer() -> Renderer:
    """This process' connection to the renderer."""

    def made() -> Renderer:
        return Renderer(session.shared_folder() or Path(tempfile.gettempdir()))

    return session.singleton("renderer", made)


def _limit() -> ConcurrencyLimit:
    return ConcurrencyLimit(MOST_EACH, "images")


def _chart(format: Format) -> Callable[..., Response]:
    def view(device_id: str) -> Response:
        return answer(
            lambda: chart_image(
                session.current_client(), renderer(), device_id, session.pairs(), format, now_ms()
            ),
            format,
        )

    return view


def _card(card: str, format: Format) -> Callable[..., Response]:
    def view(device_id: str) -> Response:
        return answer(
            lambda: card_image(renderer(), device_id, card, session.pairs(), format, now_ms()),
            format,
        )

    return view


def _of_access(make: Callable[..., Image], format: Format) -> Callable[..., Response]:
    def view() -> Response:
        return answer(
            lambda: make(current_access(), renderer(), session.pairs(), format, now_ms()),
            format,
        )

    return view


def answer(make: Callable[[], Image], format: Format) -> Response:
    """The image, within the reader's limit."""

    def limited() -> Image:
        give_back = session.singleton("images", _limit).take(session.current_client().principal)
        try:
            return make()
        finally:
            give_back()

    return image_response(limited, format)


def cache_control() -> str:
    """An address without units shows the organization's, which may change: no browser keeps it."""
    return f"private, max-age={CACHE_S if 'units' in session.query_params() else 0}"


def image_response(make: Callable[[], Image], format: Format) -> Response:
    """The image, or the problem."""
    try:
        image = make()
    except WeirError as error:
        return problem(error)
    return Response(
        image.body,
        content_type=TYPES[format],
        headers={
            "Content-Disposition": disposition(f"{image.name}.{format}", "inline"),
            "Cache-Control": cache_control(),
            "Content-Security-Policy": _INERT,
        },
    )
