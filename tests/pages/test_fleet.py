"""The fleet page."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.store.open import open_store
from tests.dashboards import ORGANIZATION_NAME, Fleet, Site
from tests.fleets import SILENT, serial, watched_fleet
from tests.pages.elements import of_kind, text


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('watched') / 'weir.sqlite'}")
    store.upgrade()
    yield watched_fleet(store)
    store.close()


@pytest.fixture
def page(looking: Site) -> Any:
    return importlib.import_module("pages.fleet")


def test_the_frame_needs_no_request_for_devices(page: Any, looking: Site) -> None:
    made = page.layout(window="7d", q="riser 1", status="silent", zone="Asia/Kolkata")
    stores = {store.id: getattr(store, "data", None) for store in of_kind(made, "Store")}
    assert stores[page.Ids.QUESTION]["window"] == "7d"
    assert stores[page.Ids.QUESTION]["q"] == "riser 1"
    assert stores[page.Ids.BOARD] is None
    assert ORGANIZATION_NAME in text(made)


def test_invalid_parameters_of_the_address_are_ignored(page: Any) -> None:
    made = page.layout(window="<script>", zone="Mars", page="-1", nonsense="1")
    (question,) = [s.data for s in of_kind(made, "Store") if s.id == page.Ids.QUESTION]
    assert set(question.values()) == {None}


def test_the_wall(page: Any) -> None:
    made = page.answer({"sort": "label", "request_id": 7})
    assert len(made["tiles"]) == 50
    assert made["request_id"] == 7
    assert made["view"]["sort"] == "label"


@pytest.mark.parametrize("question", [None, {}, {"held": 5, "q": None, "page": []}])
def test_any_request_has_a_reply(page: Any, question: Any) -> None:
    assert len(page.answer(question)["tiles"]) == 50


def test_a_failing_service_has_a_message_and_the_next_reply_is_complete(
    page: Any, looking: Site
) -> None:
    looking.broken.set()
    try:
        made = page.answer({"window": "30d", "request_id": 8})
    finally:
        looking.broken.clear()
    assert made == {"error": "Internal error. The store is on fire.", "request_id": 8}
    assert len(page.answer({"window": "30d"})["tiles"]) == 50


def test_the_wall_over_http(page: Any, web: httpx.Client) -> None:
    assert web.get("/").status_code == 200
    body = {
        "output": f"{page.Ids.BOARD}.data",
        "outputs": {"id": page.Ids.BOARD, "property": "data"},
        "inputs": [{"id": page.Ids.QUESTION, "property": "data", "value": {"q": serial(SILENT)}}],
        "changedPropIds": [f"{page.Ids.QUESTION}.data"],
    }
    answer = web.post("/_dash-update-component", json=body)
    assert answer.status_code == 200, answer.text
    made = answer.json()["response"][page.Ids.BOARD]["data"]
    assert [tile["word"] for tile in made["tiles"]] == ["Silent"]
    assert made["pages"]["words"] == "1 device"
    assert sum(int(chip["count"]) for chip in made["chips"]) == 1
    assert made["totals"][1]["value"] == "0 / 1"  # the totals follow the search
    assert answer.headers["Cache-Control"] == "private, no-store"
