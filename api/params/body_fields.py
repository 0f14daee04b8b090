"""The types that fields of several bodies share: each function takes a JSON value, and raises
ValueError in words for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import PlainValidator

from api import timez


def optional(parse: Callable[[Any], Any]) -> PlainValidator:
    """Returns the validator of a field that may be null."""
    return PlainValidator(lambda value: None if value is None else parse(value))


def instant(value: Any) -> int:
    """Returns epoch ms."""
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 date-time")
    return timez.parse_instant(value)


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def zone_name(value: Any) -> str:
    if not isinstance(value, str) or value not in timez.zone_names():
        raise ValueError("must be an IANA time zone name")
    return value


def one_line(longest: int) -> Callable[[Any], str]:
    """Returns the parser of a text of one line, of at most ``longest`` characters."""

    def parse(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        text = " ".join(value.split())
        if len(text) > longest:
            raise ValueError(f"has {len(text)} characters; at most {longest} are allowed")
        if not text.isprintable():
            raise ValueError("has characters that can't be displayed")
        return text

    return parse
