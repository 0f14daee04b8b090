"""The joined scripts and styles that every page loads."""

from __future__ import annotations

import re

import pytest

from api.timez import zone_names
from web import static
from web.static import ASSETS, FOUNDATION


@pytest.mark.parametrize(
    ("made", "pattern"), [(static.styles(), "*.css"), (static.scripts(), "*.js")]
)
def test_every_file_is_in_it_once(made: static.Bundle, pattern: str) -> None:
    names = re.findall(rb"^/\* (\S+\.(?:css|js)) \*/$", made.body, re.MULTILINE)
    assert sorted(name.decode() for name in names) == sorted(f.name for f in ASSETS.glob(pattern))


def test_sheets_are_joined_as_they_are() -> None:
    assert all(file.read_bytes() in static.styles().body for file in ASSETS.glob("*.css"))


def test_base_styles_come_first() -> None:
    names = re.findall(rb"^/\* (\S+\.css) \*/$", static.styles().body, re.MULTILINE)
    assert tuple(name.decode() for name in names[: len(FOUNDATION)]) == FOUNDATION


def test_every_zone_is_listed() -> None:
    named = re.search(rb'^window\.weir\.zoneNames = "([^"]*)"', static.scripts().body)
    assert named is not None
    assert set(named[1].decode().split()) == zone_names()


def test_different_contents_have_different_addresses() -> None:
    one, other = static.Bundle("a.css", b"a"), static.Bundle("a.css", b"b")
    assert one.path == other.path
    assert one.address != other.address


def test_the_sign_in_page_loads_only_what_it_needs() -> None:
    assert len(static.sign_in_styles().body) < len(static.styles().body) / 2
