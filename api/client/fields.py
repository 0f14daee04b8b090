"""Reads single fields of a response, required and optional ones, and writes paths and spans.

Raises UnexpectedAnswer with the field's name if a response violates the interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from api.errors import UnexpectedAnswer
from api.timez import parse_instant, stamp

Json = Mapping[str, Any]

_REQUIRED: Any = object()


def an_object(value: Any, name: str) -> Json:
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"{name}: must be an object")
    return cast(Json, value)


def a_list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise UnexpectedAnswer(f"{name}: must be an array")
    return cast(list[Any], value)


def rows_of(body: Any) -> list[Any]:
    """Returns the entries of a page."""
    return a_list(an_object(body, "answer").get("data"), "data")


def path_of(collection: str, id: str) -> str:
    """Returns the path of one entry; the id may hold any characters."""
    return f"{collection}/{quote(id, safe='')}"


def span_params(from_ms: int | None, to_ms: int | None) -> dict[str, str]:
    """Returns the parameters of a span; an open side has none."""
    sides = {"from": from_ms, "to": to_ms}
    return {name: stamp(at, fraction=True) for name, at in sides.items() if at is not None}


def maybe_object(body: Json, name: str) -> Json:
    value = body.get(name)
    return cast(Json, value) if isinstance(value, dict) else {}


def text(body: Json, name: str, default: str = _REQUIRED) -> str:
    value = body.get(name)
    if isinstance(value, str):
        return value
    if default is _REQUIRED:
        raise UnexpectedAnswer(f"{name}: must be a string")
    return default


def maybe_text(body: Json, name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def number(body: Json, name: str) -> float | None:
    value = body.get(name)
    return value if type(value) in (int, float) else None


def needed_number(body: Json, name: str) -> float:
    value = number(body, name)
    if value is None:
        raise UnexpectedAnswer(f"{name}: must be a number")
    return value


def maybe_whole(body: Json, name: str) -> int | None:
    value = number(body, name)
    return int(value) if value is not None else None


def whole(body: Json, name: str) -> int:
    value = maybe_whole(body, name)
    if value is None:
        raise UnexpectedAnswer(f"{name}: must be a number")
    return value


def instant(body: Json, name: str) -> int | None:
    """Returns None where it is missing, null or unreadable: an invalid optional date must not break
    a page."""
    value = body.get(name)
    try:
        return parse_instant(value) if isinstance(value, str) else None
    except ValueError:
        return None


def needed_instant(body: Json, name: str) -> int:
    value = instant(body, name)
    if value is None:
        raise UnexpectedAnswer(f"{name}: must be a date-time")
    return value
