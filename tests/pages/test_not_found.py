"""Addresses without a page."""

from __future__ import annotations

import importlib
from urllib.parse import quote

import httpx
import pytest

from tests.dashboards import LIVE, RETIRED, TRICKY, Site
from tests.pages.elements import links, text
from web.dashboard import is_page


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/devices", 200),
        (f"/devices/{LIVE}", 200),
        (f"/devices/{quote(TRICKY, safe='')}", 200),
        ("/devices/FM-1", 404),
        ("/devices/00000000-0000-4000-8000-00000000dead", 404),
        ("/devices/%00", 404),
        (f"/devices/{RETIRED}", 404),  # an inactive one is found by its id alone
        ("/devices/", 404),
        ("/nope", 404),
        ("/404", 404),
        ("/devices.php", 404),
        ("/assets/nope.js", 404),
        ("/assets/../app.py", 404),
        ("/assets/%2e%2e/app.py", 404),
    ],
)
def test_only_pages_are_found(web: httpx.Client, path: str, status: int) -> None:
    assert web.get(path).status_code == status


@pytest.mark.parametrize(
    ("path", "where"),
    [("/wall", "/?wall=1"), ("/wall?group=Mesa&wall=0", "/?group=Mesa&wall=1")],
)
def test_the_walls_address_redirects_to_the_fleet_page(
    web: httpx.Client, path: str, where: str
) -> None:
    answer = web.get(path)
    assert (answer.status_code, answer.headers["location"]) == (302, where)


def test_a_devices_page_is_not_404_while_the_service_fails(site: Site, web: httpx.Client) -> None:
    """The page has the failure's message; a 404 would mean that there is no such device."""
    site.broken.set()
    try:
        assert web.get(f"/devices/{LIVE}").status_code == 200
    finally:
        site.broken.clear()


def test_the_not_found_page_has_a_way_back(looking: Site) -> None:
    page = importlib.import_module("pages.not_found_404").layout(anything="at all")
    assert "Page not found" in text(page)
    assert links(page)["The whole fleet"] == "/"


@pytest.mark.usefixtures("site")
def test_the_not_found_page_has_no_address_of_its_own() -> None:
    assert not is_page("/404")
