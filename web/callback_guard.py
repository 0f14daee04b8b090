"""What a page's scripts ask of its callbacks, looked at before it gets to Dash.

Dash takes for granted that its own renderer has asked. Here a body that isn't a question which one
of the callbacks knows is refused in words; what the values within mean is the callback's to judge.
A layer around Dash's WSGI application, which stays unaware of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import orjson
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request

from api.errors import BadRequest, TooLarge
from web.problems import problem

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH: Final = "/_dash-update-component"
LARGEST_BODY: Final = 64 * 1024  # a question is a few hundred bytes, fifty devices two kB
DEEPEST: Final = 32  # lists and objects within each other

_ADDRESS: Final = "_pages_location"  # Dash's own part, which every page has
_BEGINS: Final = {"pathname": ("/",), "search": ("?", "")}

Known = Mapping[str, Mapping[str, Any]]
_Part = tuple[object, object]


class CallbackGuard:
    """``known`` are Dash's callbacks by what they put out: it may still fill up."""

    def __init__(self, application: WSGIApplication, known: Known) -> None:
        self._application, self._known = application, known

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != PATH or environ["REQUEST_METHOD"] != "POST":
            return self._application(environ, start_response)
        request = Request(environ)
        request.max_content_length = LARGEST_BODY
        try:
            question = read(request.get_data(), self._known)
        except RequestEntityTooLarge:
            return problem(TooLarge("The request is too large."))(environ, start_response)
        except BadRequest as error:
            return problem(error)(environ, start_response)
        # As it was read here, so that Dash can read nothing else: no other number, no second name.
        body = orjson.dumps(question)
        asked = {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return self._application({**environ, **asked}, start_response)


def read(body: bytes, known: Known) -> dict[str, Any]:
    """The question in a body. Raises BadRequest where it is none of a known callback."""
    try:
        posted = orjson.loads(body)
    except ValueError:
        raise BadRequest("The body is not JSON.") from None
    if not isinstance(posted, dict) or _deep(posted, DEEPEST):
        raise BadRequest("The body is not a callback request.")
    output = posted.get("output")
    callback = known.get(output) if isinstance(output, str) else None
    if not isinstance(output, str) or callback is None or "callback" not in callback:
        raise BadRequest("Unknown callback.")
    owed = {"inputs": callback["inputs"], "state": callback["state"], "outputs": _put_out(output)}
    for name, parts in owed.items():
        if _parts(posted.get(name, [])) != _parts(parts):
            raise BadRequest(f"The {name} don't match this callback.")
    if not all(map(_is_address, posted["inputs"])):
        raise BadRequest("This is not the address of a page.")
    changed = posted.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(each, str) for each in changed):
        raise BadRequest("The changed properties must be names.")
    return posted


def _put_out(output: str) -> list[dict[str, str]]:
    """The parts that Dash has joined into a callback's name: ``..a.children...b.data..``."""
    joined = output[2:-2].split("...") if output.startswith("..") else [output]
    names = (each.rpartition(".") for each in joined)
    return [{"id": id, "property": property} for id, _, property in names]


def _is_address(part: Mapping[str, Any]) -> bool:
    """Dash reads the page's address itself, and trusts it to be one."""
    if part.get("id") != _ADDRESS:
        return True
    first, value = _BEGINS[part["property"]], part.get("value")
    return isinstance(value, str) and value[:1] in first


def _parts(posted: object) -> list[_Part] | None:
    """Ids and properties; None for what holds anything else. One part may stand by itself."""
    listed = posted if isinstance(posted, list) else [posted]
    parts = [part for part in listed if isinstance(part, dict)]
    if len(parts) < len(listed):
        return None
    return [(part.get("id"), part.get("property")) for part in parts]


def _deep(value: object, left: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    within = value.values() if isinstance(value, dict) else value
    return left == 0 or any(_deep(each, left - 1) for each in within)
