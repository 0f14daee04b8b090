"""The list of devices."""

from __future__ import annotations

import importlib
import json
from typing import Any

import httpx
import pytest

from tests.dashboards import LIVE, MANY, ORGANIZATION_NAME, TRICKY, Site
from tests.pages.elements import links, of_kind, text

ACTIVE = MANY + 4


@pytest.fixture
def layout(looking: Site) -> Any:
    return importlib.import_module("pages.devices").layout


def rows(page: Any) -> list[str]:
    return [text(row) for row in of_kind(page, "Tr")[1:]]


def test_the_first_page_by_label(layout: Any, looking: Site) -> None:
    page = layout()
    shown = rows(page)
    assert len(shown) == 50
    assert shown[0].startswith("<img src=x onerror=alert(1)> & Sons FM-<b>&amp;")
    assert shown == sorted(shown)
    assert f"1–50 of {ACTIVE}" in text(page)
    assert ORGANIZATION_NAME in text(page)
    assert links(page)["Tenant 12 main"] == f"/devices/{looking.fleet.ids[LIVE]}"


def test_a_row_says_who_the_device_is(layout: Any) -> None:
    (row,) = [row for row in rows(layout()) if LIVE in row]
    assert row == (
        "Tenant 12 main FM-LIVE 70B3D57ED0051A2C EndDevice FX-200 America/Denver 12 Mar 2025 Active"
    )


@pytest.mark.parametrize(
    ("said", "first", "many"),
    [
        ({"page": "3"}, "Zone 096 drip", ACTIVE - 100),
        ({"order": "desc"}, "Zone 119 drip", 50),
        ({"sort": "deviceTimeZone"}, "Tenant 12 main", 50),
        ({"status": "inactive"}, "Old main", 1),
        ({"status": "all", "page": "3"}, "Zone 095 drip", ACTIVE - 99),
        ({"sort": "secret", "order": "up", "page": "-1", "status": "?"}, "<img", 50),
    ],
)
def test_the_address_says_which_devices(
    layout: Any, said: dict[str, str], first: str, many: int
) -> None:
    shown = rows(layout(**said))
    assert shown[0].startswith(first)
    assert len(shown) == many


def test_all_tells_the_inactive_apart(layout: Any) -> None:
    shown = rows(layout(status="all"))
    (retired,) = [row for row in shown if row.endswith("Inactive")]
    assert retired.startswith("Old main FM-RETIRED")


def test_pages_turn_and_columns_sort_by_links(layout: Any) -> None:
    there = links(layout(sort="model", page="2"))
    assert there["‹"] == "/devices?sort=model"
    assert there["›"] == "/devices?sort=model&page=3"
    assert there["Model ↑"] == "/devices?sort=model&order=desc"
    assert there["Device"] == "/devices?"
    assert there["Inactive"] == "/devices?status=inactive&sort=model"
    last = links(layout(page="3"))
    assert "›" not in last


def test_a_page_beyond_the_end_says_so(layout: Any) -> None:
    assert "ends before this page" in text(layout(page="99"))


def test_a_service_that_fails_is_said_to(layout: Any, looking: Site) -> None:
    looking.broken.set()
    try:
        page = layout(sort="model")
    finally:
        looking.broken.clear()
    assert "The devices can't be listed" in text(page)
    assert "The store is on fire." in text(page)
    assert links(page)["Try again"] == "/devices?sort=model"


def test_over_the_wire(web: httpx.Client, site: Site) -> None:
    """The shell, then the page as the browser's router asks for it; labels are data, not markup."""
    shell = web.get("/devices")
    assert shell.status_code == 200
    question = {
        "output": ".._pages_content.children..._pages_store.data..",
        "outputs": [
            {"id": "_pages_content", "property": "children"},
            {"id": "_pages_store", "property": "data"},
        ],
        "inputs": [
            {"id": "_pages_location", "property": "pathname", "value": "/devices"},
            {"id": "_pages_location", "property": "search", "value": "?status=active"},
        ],
        "changedPropIds": ["_pages_location.pathname"],
    }
    answer = web.post("/_dash-update-component", json=question)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "private, no-store"
    body = answer.json()["response"]
    assert body["_pages_store"]["data"] == {"title": "Devices · Weir"}
    assert site.fleet.ids[TRICKY] in json.dumps(body)
