"""Origins: exact ones as browsers send them, and nothing that a policy would read as more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.params.origins import origin
from tests.tables import cases


@cases(
    ("text", "stored"),
    [
        ("https://portal.example", "https://portal.example"),
        ("https://portal.example/", "https://portal.example"),
        (" https://portal.example ", "https://portal.example"),
        ("HTTPS://Portal.EXAMPLE:443", "https://portal.example"),
        ("https://portal.example:8443", "https://portal.example:8443"),
        ("https://xn--zhler-gra.example", "https://xn--zhler-gra.example"),
        ("https://192.0.2.7:444", "https://192.0.2.7:444"),
        ("http://localhost", "http://localhost"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://intranet", "https://intranet"),
    ],
)
def test_an_origin_is_stored_as_a_browser_sends_it(text: str, stored: str) -> None:
    assert origin(text) == stored
    assert origin(stored) == stored


@cases(
    "text",
    [
        "", "*", "null", "portal.example", "https://", "https://*.example", "https:/portal.example",
        "http://portal.example", "http://127.0.0.2.example", "ftp://portal.example",
        "https://portal.example/wiki", "https://portal.example?x", "https://portal.example#t",
        "https://portal.example/?", "https://me@portal.example", "https://me:pw@portal.example",
        "https://portal.example:0", "https://portal.example:99999", "https://portal.example:x",
        "https://portal.example;script-src *", "https://portal.example 'self'", "https://a b",
        "https://a\nb.example", "https://zähler.example", "https://[::1]", "https://-a.example",
        "https://a..example", "https://999.1.1.1", "https://1", "javascript:alert(1)",
        "data:text/html,x", "https://" + "a." * 130 + "example", "https://" + "a" * 64 + ".example",
    ],
)  # fmt: skip
def test_an_inexact_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"origin|host|http"):
        origin(text)


@given(st.text() | st.from_regex(r"https://[^/]{0,30}", fullmatch=True))
def test_a_stored_origin_cannot_end_its_source_in_a_policy(text: str) -> None:
    try:
        stored = origin(text)
    except ValueError:
        return
    assert stored.isascii()
    assert not set(stored) & set(" ;,'\"*\t\r\n")
