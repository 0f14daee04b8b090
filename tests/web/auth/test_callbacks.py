"""Forged requests to every callback of the dashboard, by every principal: each gets a normal reply
or a clear refusal, and no reply reveals a device outside the grant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dash import Dash

from api.client import Client
from api.server import create_service
from api.store.open import open_web_store
from tests import forged
from tests.web.auth.conftest import Site
from tests.world import METER, SECRET, World
from web.auth import Access
from web.callback_guard import LARGEST_BODY, PATH
from web.dashboard import create_dashboard

SPAN = {"from": "2026-03-08T06:00:00Z", "to": "2026-03-08T18:00:00Z"}
SUBJECT = {"device_id": METER, "time_zone": "UTC", "interval_s": 60, "tab": "flow_rate",
           "quality_limit": 60, "installed_on_ms": 0, "active": True}  # fmt: skip
QUESTION = {**SPAN, "device": METER, "width_px": 800, "theme": "light", "range": "7d",
            "metric": "volume", "zone": "UTC", "units": "si", "settled": True,
            "due": ["refresh"], "page": 1, "request_id": 1}  # fmt: skip
SHOWN = {**SPAN, "zone": "UTC", "units": "us", "resolution": "1min", "request_id": 1,
         "due": ["range", "refresh", "steady", "hourly"], "page": 1}  # fmt: skip
WALL_CLOCK = {"first": "2026-03-08 06:00", "last": "2026-03-08 18:00", "first_fold": "0",
              "last_fold": "0", "zone": "UTC", "request_id": 1}  # fmt: skip
USAGE = {"range": "2026-03-01..2026-03-09", "zone": "UTC", "units": "us", "devices": METER, "q": "",
         "group": "", "sort": "label", "open": METER, "metric": "volume", "paper": "a4",
         "request_id": 1}  # fmt: skip
COMPARE = {"range": "2026-03-01..2026-03-09", "zone": "UTC", "units": "us", "by": "mean",
           "items": f"device:{METER},group:north", "layout": "one", "request_id": 1}  # fmt: skip
WALL = {"window": "24h", "q": "m", "status": "live", "group": "north", "sort": "label", "page": 1,
        "zone": "UTC", "units": "us", "held": [METER], "drawn": {METER: "x"}}  # fmt: skip
FINDINGS = {"state": "open", "kind": "", "q": "m", "group": "north", "finding": "no-such",
            "page": 1, "zone": "UTC", "units": "us", "request_id": 1}  # fmt: skip
ROWS = {"startRow": 0, "endRow": 100, "sortModel": [{"colId": "label", "sort": "asc"}],
        "context": {"q": "m", "status": "all"}}  # fmt: skip
FORM = ("a title", "", "", "UTC", "https://a.example", "", "wall", "flow_rate", "86400", "us",
        "light", "week", "30", [METER], ["range"], ["1"])  # fmt: skip

NOTE = {"do": "delete", "kind": "note", "id": "no-such", "zone": "UTC", "request_id": 1}

# By the first output of each callback: a value for each of its inputs, then of its states.
GOOD: dict[str, tuple[Any, ...]] = {
    "chart-graph.figure": (QUESTION, SUBJECT),
    "annotations-done.data": (NOTE,),
    "annotations-list-nodes.data": ({"device": METER, "zone": "UTC"}, NOTE),
    "annotations-question.data": ("note", "x"),
    "audit-list-nodes.data": ("key", "x", "2026-03-01", "2026-03-31"),
    "chart-custom-response.data": (WALL_CLOCK, SUBJECT),
    "chart-due-parts.data": (SHOWN, QUESTION, SUBJECT),
    "device-findings-done.data": ({"finding": "no-such", "as": "", "request_id": 1},),
    "devices-grid.getRowsResponse": (ROWS,),
    "embed-window.options": ("chart", "86400"),
    "embed-fixed.hidden": ("86400", "on"),
    "embed-devices.options": ("m", [METER], "wall"),
    "embeds-go.href": (1, *FORM),
    "embeds-panel.children": (1, "no-such"),
    "findings-answer.data": (FINDINGS,),
    "findings-done.data": ({"finding": "no-such", "do": "dismiss", "reason": "", "request_id": 1},),
    "findings-picture.data": (FINDINGS,),
    "finding-settings-answer.data": (
        {"device": "", "group": "", "kind": "burst", "set": {"score": "21"}, "request_id": 1},
    ),
    "alerts-answer.data": ({"page": "1", "request_id": 1},),
    "alerts-done.data": ({"do": "acknowledge", "id": "no-such", "text": "x", "request_id": 1},),
    "alert-rules-answer.data": ({"rule": "no-such", "form": True, "request_id": 1},),
    "alert-rules-preview-nodes.data": ({"fields": {"name": "R"}, "request_id": 1},),
    "alert-rules-done.data": ({"do": "delete", "id": "no-such", "request_id": 1},),
    "alert-billing-answer.data": ({"tariff": "no-such", "form": True, "request_id": 1},),
    "alert-billing-done.data": ({"do": "delete-budget", "id": "no-such", "request_id": 1},),
    "fleet-board.data": (WALL,),
    "report-answer.data": (USAGE,),
    "report-offered-nodes.data": ("m", USAGE),
    "compare-answer.data": (COMPARE,),
    "compare-offered-nodes.data": ("m", COMPARE),
    "usage-answer.data": (USAGE,),
    "usage-offered-nodes.data": ("m", USAGE),
    "_pages_content.children": (f"/devices/{METER}", "?range=7d"),
}


@pytest.fixture(scope="module")
def app(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dash]:
    folder = tmp_path_factory.mktemp("forged")
    web = open_web_store(f"sqlite:///{folder / 'weir.sqlite'}")
    web.upgrade()
    service = create_service(world.store, world.settings, web=web)
    yield create_dashboard(Client.in_process(service), Access(SECRET, folder / "ended"))
    web.close()


@pytest.fixture
def reader(app: Dash, keys: dict[str, str]) -> Site:
    site = Site(app.server)
    site.sign_in(keys["all"])
    return site


def test_every_callback_is_tested_here(app: Dash) -> None:
    """A new callback needs a request in GOOD."""
    assert set(GOOD) == forged.answered_here(app.callback_map)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_request_gets_a_reply(app: Dash, reader: Site, name: str) -> None:
    requests = forged.callback_request(app.callback_map, name, GOOD[name])
    answer = reader.open(PATH, "POST", json=forged.body(requests))
    assert answer.status_code == 200, answer.text
    assert answer.json["response"]


@pytest.mark.parametrize("name", GOOD)
def test_a_value_that_no_page_sends_breaks_nothing(
    app: Dash, reader: Site, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Each value of each request, and each part of it, is replaced by junk in turn."""
    good = forged.callback_request(app.callback_map, name, GOOD[name])
    for what, requests in forged.mutations(good):
        answer = reader.open(PATH, "POST", json=forged.body(requests))
        assert answer.status_code in (200, 204, 400), (what, answer.text)
        if answer.status_code == 400:
            assert answer.json["detail"], what
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("name", GOOD)
def test_an_invalid_body_is_refused_with_a_message(app: Dash, reader: Site, name: str) -> None:
    good = forged.body(forged.callback_request(app.callback_map, name, GOOD[name]))
    for what, body in forged.broken(good):
        answer = reader.open(PATH, "POST", json=body)
        assert (answer.status_code, answer.mimetype) == (400, "application/problem+json"), what
        assert answer.json["detail"], what


@pytest.mark.parametrize("what", forged.BROKEN)
def test_invalid_bytes_are_refused_with_a_message(reader: Site, what: str) -> None:
    answer = reader.open(PATH, "POST", data=forged.BROKEN[what], content_type="application/json")
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")


def test_browser_side_callbacks_are_refused(app: Dash, reader: Site) -> None:
    own = [name for name, one in app.callback_map.items() if "callback" not in one]
    assert own
    for name in own:
        body = {"output": name, "inputs": [], "changedPropIds": []}
        assert reader.open(PATH, "POST", json=body).status_code == 400


def test_an_oversized_body_is_not_read(reader: Site) -> None:
    answer = reader.open(PATH, "POST", data=b" " * (LARGEST_BODY + 1))
    assert answer.status_code == 413
    assert answer.json["title"] == "Too large"


# Texts that identify the meter, except those that the request itself has.
TELLING = ("beta", "net-m1", "FM-2", "reseller-9")


@pytest.mark.parametrize("other", ["devices", "foreign"])
@pytest.mark.parametrize("name", sorted(set(GOOD) - {"embed-window.options", "embed-fixed.hidden"}))
def test_no_reply_reveals_a_device_outside_the_grant(
    app: Dash, reader: Site, keys: dict[str, str], name: str, other: str
) -> None:
    """Also right after another principal with access has filled every cache."""
    requests = forged.body(forged.callback_request(app.callback_map, name, GOOD[name]))
    outsider = Site(app.server)
    outsider.sign_in(keys[other])
    for _ in range(2):
        assert reader.open(PATH, "POST", json=requests).status_code == 200
        reply = outsider.open(PATH, "POST", json=requests)
        assert reply.status_code == 200, reply.text
        for word in TELLING:
            assert word not in reply.text
