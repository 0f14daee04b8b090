"""The device list: its frame, and the grid's requests, as functions and over HTTP."""

from __future__ import annotations

import importlib
import json
from typing import Any

import httpx
import pytest
from dash import no_update

from components.devices.columns import USUAL
from components.devices.queries import CONTEXT
from tests.dashboards import MANY, ORGANIZATION_NAME, TRICKY, Site
from tests.pages.elements import of_kind, text

ACTIVE = MANY + 4


@pytest.fixture
def page(looking: Site) -> Any:
    return importlib.import_module("pages.devices")


def grid(layout: Any) -> Any:
    (result,) = of_kind(layout, "AgGrid")
    return result


def rows_request(first: int = 0, sort: str = "label", order: str = "asc", **context: str) -> Any:
    """The grid's request for a block."""
    return {
        "startRow": first,
        "endRow": first + 100,
        "sortModel": [{"colId": sort, "sort": order, "type": "default"}],
        "filterModel": {},
        "api": {},
        "context": context,
    }


def test_the_frame_needs_no_reply_of_the_service(page: Any, looking: Site) -> None:
    looking.broken.set()
    try:
        shown = page.layout(q="tower")
    finally:
        looking.broken.clear()
    assert "Devices" in text(shown)
    (search,) = of_kind(shown, "Input")
    assert search.value == "tower"
    assert ORGANIZATION_NAME in text(page.layout())


@pytest.mark.parametrize(
    ("fields", "sorted_by", "context"),
    [
        ({}, {"label": "asc"}, {}),
        (
            {"status": "all", "q": "x", "sort": "model", "order": "desc"},
            {"model": "desc"},
            {"status": "all", "q": "x"},
        ),
        ({"sort": "groups", "status": "?"}, {"label": "asc"}, {}),
        ({"sort": "flow", "kind": "burst"}, {"flow": "asc"}, {"kind": "burst"}),
    ],
)
def test_the_address_sets_the_grids_first_request(
    page: Any, fields: dict[str, str], sorted_by: dict[str, str], context: dict[str, Any]
) -> None:
    made = grid(page.layout(**fields))
    assert {c["field"]: c["sort"] for c in made.columnDefs if "sort" in c} == sorted_by
    assert made.dashGridOptions["context"] == dict.fromkeys(CONTEXT) | context
    assert made.rowModelType == "infinite"


def test_the_address_sets_the_columns(page: Any) -> None:
    def shown(**query: str) -> set[str]:
        return {c["field"] for c in grid(page.layout(**query)).columnDefs if not c["hide"]}

    assert shown() == {"label", "state", *USUAL}
    assert shown(columns="model,parent,secret") == {"label", "state", "model", "parent"}
    assert shown(columns="label") == {"label", "state"}


def test_before_its_first_request_the_grid_gets_nothing(page: Any) -> None:
    assert page.answer(None) == (no_update, no_update)


@pytest.mark.parametrize(
    ("request_", "first", "many", "total"),
    [
        (rows_request(), "<img src=x onerror=alert(1)> & Sons", 100, ACTIVE),
        (rows_request(100), "Zone 096 drip", ACTIVE - 100, ACTIVE),
        (rows_request(order="desc"), "Zone 119 drip", 100, ACTIVE),
        (rows_request(sort="deviceTimeZone"), "Tenant 12 main", 100, ACTIVE),
        (rows_request(status="inactive"), "Old main", 1, 1),
        (rows_request(100, status="all"), "Zone 095 drip", ACTIVE - 99, ACTIVE + 1),
        (rows_request(q="DRIP"), "Zone 000 drip", 100, MANY),
        (rows_request(100, q="drip"), "Zone 100 drip", MANY - 100, MANY),
        (rows_request(q="70b3d57ed0051a2c"), "Tenant 12 main", 1, 1),
        (rows_request(sort="secret", order="up", status="?"), "<img src=x", 100, ACTIVE),
    ],
)
def test_the_grids_request_gets_its_rows(
    page: Any, request_: dict[str, Any], first: str, many: int, total: int
) -> None:
    response, result = page.answer(request_)
    assert response["rowCount"] == total
    assert len(response["rowData"]) == many
    assert response["rowData"][0]["label"].startswith(first)
    assert result["count_text"].startswith(f"{total} ")


def test_a_failing_service_has_a_message_and_changes_no_row(page: Any, looking: Site) -> None:
    looking.broken.set()
    try:
        response, result = page.answer(rows_request(sort="model"))
    finally:
        looking.broken.clear()
    assert response is no_update
    assert result == {"error": "Internal error. The store is on fire."}


def test_the_list_over_http(web: httpx.Client, site: Site) -> None:
    """The shell, then rows as the grid requests them; labels are data, not markup."""
    shell = web.get("/devices")
    assert shell.status_code == 200
    question = {
        "output": "..devices-grid.getRowsResponse...devices-answer.data..",
        "outputs": [
            {"id": "devices-grid", "property": "getRowsResponse"},
            {"id": "devices-answer", "property": "data"},
        ],
        "inputs": [{"id": "devices-grid", "property": "getRowsRequest", "value": rows_request()}],
        "changedPropIds": ["devices-grid.getRowsRequest"],
    }
    answer = web.post("/_dash-update-component", json=question)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "private, no-store"
    body = answer.json()["response"]
    assert body["devices-answer"]["data"]["count_text"] == f"{ACTIVE} active devices"
    rows = body["devices-grid"]["getRowsResponse"]["rowData"]
    assert rows[0]["id"] == site.fleet.ids[TRICKY]
    assert json.dumps(rows[0]["label"]) == '"<img src=x onerror=alert(1)> & Sons"'


def test_the_grids_scripts_are_loaded_on_demand(web: httpx.Client) -> None:
    """Every page has their addresses; assets/grid.js loads them where there is a grid. Nothing else
    of the library is served."""
    shell = web.get("/").text
    assert shell.count("dash_ag_grid.v") == 1
    _, _, named = shell.partition('<meta name="grid-scripts" content="')
    addresses = named.partition('"')[0].split(" ")
    assert len(addresses) == 2
    for address in addresses:
        script = web.get(address)
        assert script.status_code == 200
        assert script.headers["Cache-Control"].endswith("immutable")
    prefix = addresses[0].rpartition("/")[0]
    for file in ("async-enterprise.js", "dash_ag_grid.min.js.map"):
        assert web.get(f"{prefix}/{file}").status_code == 404, file
