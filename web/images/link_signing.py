"""Signing the address of an image: what the menu's "Copy image link" asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

import orjson
from werkzeug.wrappers import Response

from api.errors import BadRequest, Forbidden, ParameterProblem, ServiceError, WeirError
from api.timez import DAY_MS, now_ms
from components import session
from components.image_menu import DAYS
from components.image_query import read_chart, read_wall
from components.queries import find_device
from web.images.signed_links import Links, Place, place_of
from web.problems import problem

ROUTE: Final = "/export/links"


class NoLinks(ServiceError):
    """The keys are another server's: nothing here could say later what one may see."""

    status, code, title = 501, "no-signed-links", "No signed links here"


def view(links: Links | None) -> Callable[[], Response]:
    """``{"address": "/export/…?…", "days": 30}`` → ``{"href": "/export/…&sig=…"}``, with the
    site in front where WEIR_PUBLIC_URL says it."""

    def sign() -> Response:
        try:
            href = session.public_site() + signed(links, session.body())
        except WeirError as error:
            return problem(error)
        return Response(orjson.dumps({"href": href}), content_type="application/json")

    return sign


def signed(links: Links | None, said: Any) -> str:
    """The address with its signature. Raises what the address itself would be refused for,
    Forbidden for a reader without a key, NoLinks."""
    address, days = _read(said)
    parts = urlsplit(address)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    place = place_of(parts.path)
    if place is None:
        raise _wrong("address", "is no image's")
    client = session.current_client()
    path = _checked(place, parts.path, pairs)
    if links is None:
        raise NoLinks(
            "This dashboard shows another server's devices (WEIR_API_URL), whose keys it can't"
            " look up later. Images are there for whoever is signed in."
        )
    key_id = links.signer(client.headers)
    if key_id is None:
        raise Forbidden("Only who has signed in by an API key can sign links: they end with it.")
    return f"{quote(path)}?{links.sign(path, pairs, key_id, days * DAY_MS // 1000)}"


def _checked(place: Place, path: str, pairs: list[tuple[str, str]]) -> str:
    """The path by the device's own id, so that no later device of its serial number is meant."""
    if place.device_id is None:
        read_wall(pairs)
        return path
    read_chart(pairs)
    device = find_device(session.current_client(), place.device_id, now_ms()).device
    return f"/export/devices/{device.id}/chart.{place.format}"


def _read(said: Any) -> tuple[str, int]:
    told = said if isinstance(said, dict) else {}
    address, days = told.get("address"), told.get("days")
    if not isinstance(address, str):
        raise _wrong("address", "must be an image's address")
    if type(days) is not int or days not in DAYS:
        raise _wrong("days", f"must be one of {', '.join(map(str, DAYS))}")
    return address, days


def _wrong(name: str, words: str) -> BadRequest:
    return BadRequest("", errors=(ParameterProblem(name, words),))
