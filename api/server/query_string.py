"""Parses a query string."""

from __future__ import annotations

from urllib.parse import parse_qsl


def pairs(query_string: str) -> list[tuple[str, str]]:
    """Returns names and values in order, empty ones included. Bytes that aren't UTF-8 become
    U+FFFD."""
    if not query_string.isascii():  # WSGI passes bytes as Latin-1
        query_string = query_string.encode("latin-1").decode("utf-8", "replace")
    return parse_qsl(query_string, keep_blank_values=True, errors="replace")
