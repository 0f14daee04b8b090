"""WSGI middleware that validates callback requests before Dash sees them.

Dash trusts that its own renderer sent a request. This refuses a body that doesn't match one of the
callbacks; the values in it are checked by the callback itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import orjson
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request

from api.errors import BadRequest, TooLarge
from web.responses import problem

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH: Final = "/_dash-update-component"
LARGEST_BODY: Final = 64 * 1024  # a request has a few hundred bytes, for fifty devices two kB
DEEPEST: Final = 32  # nested lists and objects

_ADDRESS: Final = "_pages_location"  # Dash's own component, on every page
_BEGINS: Final = {"pathname": ("/",), "search": ("?", "")}

Callbacks = Mapping[str, Mapping[str, Any]]
_Part = tuple[object, object]


class CallbackGuard:
    """``callbacks``: Dash's callbacks by their outputs; more may be added later."""

    def __init__(self, application: WSGIApplication, callbacks: Callbacks) -> None:
        self._application, self._callbacks = application, callbacks

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != PATH or environ["REQUEST_METHOD"] != "POST":
            return self._application(environ, start_response)
        request = Request(environ)
        request.max_content_length = LARGEST_BODY
        try:
            posted = read(request.get_data(), self._callbacks)
        except RequestEntityTooLarge:
            return problem(TooLarge("The request is too large."))(environ, start_response)
        except BadRequest as error:
            return problem(error)(environ, start_response)
        # Serialized again, so that Dash reads exactly what was validated here.
        body = orjson.dumps(posted)
        inner = {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return self._application({**environ, **inner}, start_response)


def read(body: bytes, callbacks: Callbacks) -> dict[str, Any]:
    """The request in a body. Raises BadRequest if it doesn't match a callback."""
    try:
        posted = orjson.loads(body)
    except ValueError:
        raise BadRequest("The body is not JSON.") from None
    if not isinstance(posted, dict) or _is_deeper(posted, DEEPEST):
        raise BadRequest("The body is not a callback request.")
    output = posted.get("output")
    callback = callbacks.get(output) if isinstance(output, str) else None
    if not isinstance(output, str) or callback is None or "callback" not in callback:
        raise BadRequest("Unknown callback.")
    expected = {
        "inputs": callback["inputs"],
        "state": callback["state"],
        "outputs": _outputs_of(output),
    }
    for name, parts in expected.items():
        if _parts(posted.get(name, [])) != _parts(parts):
            raise BadRequest(f"The {name} don't match this callback.")
    if not all(map(_is_address, posted["inputs"])):
        raise BadRequest("This is not the address of a page.")
    changed = posted.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(each, str) for each in changed):
        raise BadRequest("The changed properties must be names.")
    return posted


def _outputs_of(output: str) -> list[dict[str, str]]:
    """The outputs in a callback's name as Dash joins them: ``..a.children...b.data..``."""
    joined = output[2:-2].split("...") if output.startswith("..") else [output]
    names = (each.rpartition(".") for each in joined)
    return [{"id": id, "property": property} for id, _, property in names]


def _is_address(part: Mapping[str, Any]) -> bool:
    """Whether the page's address, which Dash trusts, is valid."""
    if part.get("id") != _ADDRESS:
        return True
    first, value = _BEGINS[part["property"]], part.get("value")
    return isinstance(value, str) and value[:1] in first


def _parts(posted: object) -> list[_Part] | None:
    """(id, property) of each part; None if any isn't an object. A single part needs no list."""
    listed = posted if isinstance(posted, list) else [posted]
    parts = [part for part in listed if isinstance(part, dict)]
    if len(parts) < len(listed):
        return None
    return [(part.get("id"), part.get("property")) for part in parts]


def _is_deeper(value: object, left: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    within = value.values() if isinstance(value, dict) else value
    return left == 0 or any(_is_deeper(each, left - 1) for each in within)
