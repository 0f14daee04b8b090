"""Signed addresses of images at the door: who has one needs no session, and sees that image alone.

A layer around the door. An address of an image with a signature never gets to the door: it is good
or it isn't, whoever brings it. It lets nobody near anything else, since only the paths of images
are looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from urllib.parse import parse_qsl, urlencode

from werkzeug.wrappers import Response

from api.client import Client, Credential
from api.errors import Forbidden
from api.telemetry.request_record import VISIT, Visit
from components.reader import READER, EntryMethod, Reader
from web.problems import problem
from web.static import RESOURCE_POLICY

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SIGNATURE: Final = "sig"
OWN_NAMES: Final = ("key", "exp", SIGNATURE)
_PATH: Final = re.compile(r"/export/(?:devices/(?P<device>.+)/chart|fleet)\.(?P<format>\w+)")
EVERYWHERE: Final = "cross-origin"  # a mail or a wiki of another site shows the image
REFUSED: Final = "This image's address isn't good, or isn't any more."

Pairs = Iterable[tuple[str, str]]


class Links(Protocol):
    """What signs addresses and reads them again; kept by whoever has the keys."""

    def signer(self, headers: Mapping[str, str]) -> str | None: ...

    def sign(self, path: str, pairs: Pairs, key_id: str, lasts_s: int) -> str: ...

    def opened(self, path: str, query: str, device_id: str | None) -> str | None: ...


class Place(NamedTuple):
    """An image's path: of a device, or None for the wall."""

    device_id: str | None
    format: str


def place_of(path: str) -> Place | None:
    found = _PATH.fullmatch(path)
    return Place(found["device"], found["format"]) if found else None


class SignedImages:
    def __init__(
        self, door: WSGIApplication, inside: WSGIApplication, client: Client, links: Links | None
    ) -> None:
        """``inside`` is the application behind the door, ``client`` the way to the service.
        Without ``links`` no address is good."""
        self._door, self._inside, self._client, self._links = door, inside, client, links

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8", "replace")
        query, place = environ.get("QUERY_STRING", ""), place_of(path)
        signed = place is not None and SIGNATURE in dict(parse_qsl(query, keep_blank_values=True))
        if place is None or not signed:
            return self._door(environ, start_response)
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
        asked = [p for p in parse_qsl(query, keep_blank_values=True) if p[0] not in OWN_NAMES]
        inner = {
            **environ,
            "QUERY_STRING": urlencode(asked),
            READER: Reader(client, EntryMethod.SIGNED, refused),
        }
        seen: Visit | None = environ.get(VISIT)
        if seen is not None:
            seen.kind = EntryMethod.SIGNED.value
        response = Response.from_app(self._inside, inner)
        if refused or response.status_code == 404:
            response.close()
            return _refused()
        response.headers[RESOURCE_POLICY] = EVERYWHERE
        return response


def _refused() -> Response:
    """One body, whatever is wrong: it tells nothing of keys and devices."""
    response = problem(Forbidden(REFUSED))
    response.headers[RESOURCE_POLICY] = EVERYWHERE
    return response
