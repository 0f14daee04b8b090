"""WSGI middleware for signed addresses of images, which show one image without a session.

It runs before authentication. The address of an image with a signature is accepted or refused here,
whoever sends it. Only paths of images are handled, so that it gives access to nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import orjson
from werkzeug.wrappers import Response

from api.catalog import REPORT_PDF_PATH
from api.client import Client, Credential
from api.errors import BadRequest, Forbidden, ParameterProblem, ServiceError, WeirError
from api.telemetry.request_record import REQUEST_RECORD, RequestRecord
from api.timez import DAY_MS, now_ms
from components import session
from components.controls import LINK_DAYS
from components.image_query import read_chart, read_wall
from components.queries import find_device
from components.session import READER, EntryMethod, Reader
from components.units import usual_units
from web.responses import problem
from web.static import RESOURCE_POLICY

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SIGNATURE: Final = "sig"
OWN_NAMES: Final = ("key", "exp", SIGNATURE)
_PATH: Final = re.compile(
    r"/export/(?:devices/(?P<device>.+)/chart|fleet|report(?=\.pdf$))\.(?P<format>\w+)"
)
EVERYWHERE: Final = "cross-origin"  # a mail or a wiki of another site shows the image
REFUSED: Final = "This image link is invalid or has expired."

Pairs = Iterable[tuple[str, str]]


class Links(Protocol):
    """Signs addresses and verifies them; provided by the server that has the keys."""

    def signer(self, headers: Mapping[str, str]) -> str | None: ...

    def sign(self, path: str, pairs: Pairs, key_id: str, lasts_s: int) -> str: ...

    def opened(self, path: str, query: str, device_id: str | None) -> str | None: ...


class Place(NamedTuple):
    """What an image's path names: a device, or None for the wall; and the format."""

    device_id: str | None
    format: str


def place_of(path: str) -> Place | None:
    match = _PATH.fullmatch(path)
    return Place(match["device"], match["format"]) if match else None


class SignedImages:
    def __init__(
        self, guarded: WSGIApplication, inside: WSGIApplication, client: Client, links: Links | None
    ) -> None:
        """``guarded``: the application with authentication. ``inside``: the one without.
        ``client``: connection to the service. Without ``links`` every signed address is refused."""
        self._guarded, self._inside, self._client, self._links = guarded, inside, client, links

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8", "replace")
        query, place = environ.get("QUERY_STRING", ""), place_of(path)
        signed = place is not None and SIGNATURE in dict(parse_qsl(query, keep_blank_values=True))
        if place is None or not signed:
            return self._guarded(environ, start_response)
        return self._image(environ, path, query, place)(environ, start_response)

    def _image(
        self, environ: WSGIEnvironment, path: str, query: str, place: Place
    ) -> WSGIApplication:
        reading = environ.get("REQUEST_METHOD") in ("GET", "HEAD")
        token = self._links.opened(path, query, place.device_id) if self._links else None
        if token is None or not reading:
            return _refused()
        refused: list[bool] = []
        client = self._client.as_principal(
            Credential.bearer(token), on_unauthorized=lambda: refused.append(True)
        )
        params = [p for p in parse_qsl(query, keep_blank_values=True) if p[0] not in OWN_NAMES]
        inner = {
            **environ,
            "QUERY_STRING": urlencode(params),
            READER: Reader(client, EntryMethod.SIGNED, refused),
        }
        seen: RequestRecord | None = environ.get(REQUEST_RECORD)
        if seen is not None:
            seen.kind = EntryMethod.SIGNED.value
        response = Response.from_app(self._inside, inner)
        if refused or response.status_code == 404:
            response.close()
            return _refused()
        response.headers[RESOURCE_POLICY] = EVERYWHERE
        return response


def _refused() -> Response:
    """One response for every failure, so that it reveals nothing of keys and devices."""
    response = problem(Forbidden(REFUSED))
    response.headers[RESOURCE_POLICY] = EVERYWHERE
    return response


# --- Signing an address --------------------------------------------------------------------------

ROUTE: Final = "/export/links"


class NoLinks(ServiceError):
    """The keys are another server's, so that this one couldn't check the link later."""

    status, code, title = 501, "no-signed-links", "Signed links aren't available"


def view(links: Links | None) -> Callable[[], Response]:
    """``{"address": "/export/…?…", "days": 30}`` → ``{"href": "/export/…&sig=…"}``, absolute if
    WEIR_PUBLIC_URL is set."""

    def sign() -> Response:
        try:
            href = session.public_site() + signed(links, session.body())
        except WeirError as error:
            return problem(error)
        return Response(orjson.dumps({"href": href}), content_type="application/json")

    return sign


def signed(links: Links | None, posted: Any) -> str:
    """The address with its signature. Raises what a request for it would raise, Forbidden for a
    reader without a key, and NoLinks."""
    address, days = _read(posted)
    parts = urlsplit(address)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    place = place_of(parts.path)
    if place is None or parts.path == REPORT_PDF_PATH:
        raise _wrong("address", "is not the address of an image")
    client = session.current_client()
    path = _checked(place, parts.path, pairs)
    if "units" not in dict(pairs):  # the link shows the same whatever the organization sets later
        pairs.append(("units", usual_units().name))
    if links is None:
        raise NoLinks(
            "This dashboard shows another server's devices (WEIR_API_URL) and can't check that"
            " server's keys later. Images are available to signed-in readers."
        )
    key_id = links.signer(client.headers)
    if key_id is None:
        raise Forbidden(
            "Only readers signed in with an API key can create signed links: the links end with"
            " the key."
        )
    return f"{quote(path)}?{links.sign(path, pairs, key_id, days * DAY_MS // 1000)}"


def _checked(place: Place, path: str, pairs: list[tuple[str, str]]) -> str:
    """The path with the device's UUID, so that it never means a later device."""
    if place.device_id is None:
        read_wall(pairs)
        return path
    read_chart(pairs)
    device = find_device(session.current_client(), place.device_id, now_ms()).device
    return f"/export/devices/{device.id}/chart.{place.format}"


def _read(posted: Any) -> tuple[str, int]:
    fields = posted if isinstance(posted, dict) else {}
    address, days = fields.get("address"), fields.get("days")
    if not isinstance(address, str):
        raise _wrong("address", "must be an image's address")
    if type(days) is not int or days not in LINK_DAYS:
        raise _wrong("days", f"must be one of {', '.join(map(str, LINK_DAYS))}")
    return address, days


def _wrong(name: str, words: str) -> BadRequest:
    return BadRequest("", errors=(ParameterProblem(name, words),))
