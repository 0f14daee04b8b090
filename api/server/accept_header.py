"""Checks a request's Accept header: the service responds in JSON only."""

from __future__ import annotations

from typing import Final

from api.errors import NotAcceptable

_ANY: Final = frozenset({"*", "*/*", "application/*"})


def require_json(accept: str) -> None:
    """Raises NotAcceptable if an Accept header excludes JSON. A missing or malformed header accepts
    anything."""
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    if ranges and not any(ranges):
        raise NotAcceptable(
            "The service only returns application/json; CSV and Excel files come from the"
            " dashboard's downloads."
        )


def _range(part: str) -> bool:
    """Whether one media range of the header accepts JSON."""
    name, *parameters = (text.strip().lower() for text in part.split(";"))
    if any(text.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for text in parameters):
        return False
    return name in _ANY or "json" in name or "/" not in name
