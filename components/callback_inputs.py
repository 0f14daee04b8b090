"""The kinds of value that a page's script may send to a callback. Pure.

What a value says is read with doubt where it is used; a value of another kind altogether was sent
by no page of ours. BadRequest for that: the door to Dash (`callbacks`) answers it.
"""

from __future__ import annotations

from typing import Any

from api.errors import BadRequest


def read_question(value: Any) -> dict[str, Any]:
    """Of a Store; without a value it holds nothing yet."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _foreign("a question")
    return value


def read_text(value: Any) -> str:
    """Of a field; an empty one may have no value."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _foreign("a text")
    return value


def read_texts(value: Any) -> tuple[str, ...]:
    """Of a choice of several."""
    listed = [] if value is None else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise _foreign("a choice")
    return tuple(listed)


def _foreign(kind: str) -> BadRequest:
    return BadRequest(f"What stands here is not {kind} of a page.")
