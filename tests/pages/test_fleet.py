"""The fleet page."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.store.open import open_store
from components.fleet.layout import Ids
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


def test_the_frame_is_there_before_any_device_is_asked_about(page: Any, looking: Site) -> None:
    made = page.layout(window="7d", q="riser 1", status="silent", zone="Asia/Kolkata")
    stores = {store.id: getattr(store, "data", None) for store in of_kind(made, "Store")}
    assert stores[Ids.QUESTION]["window"] == "7d"
    assert stores[Ids.QUESTION]["q"] == "riser 1"
    assert stores[Ids.BOARD] is None
    assert ORGANIZATION_NAME in text(made)


def test_what_an_address_says_wrongly_counts_as_not_said(page: Any) -> None:
    made = page.layout(window="<script>", zone="Mars", page="-1", nonsense="1")
    (question,) = [s.data for s in of_kind(made, "Store") if s.id == Ids.QUESTION]
    assert set(question.values()) == {None}


def test_the_wall(page: Any) -> None:
    made = page.answer({"sort": "label", "asked": 7})
    assert len(made["tiles"]) == 50
    assert made["asked"] == 7
    assert made["view"]["sort"] == "label"


@pytest.mark.parametrize("question", [None, {}, {"held": 5, "q": None, "page": []}])
def test_any_question_has_an_answer(page: Any, question: Any) -> None:
    assert len(page.answer(question)["tiles"]) == 50


def test_a_failing_service_is_told_and_the_next_answer_is_whole_again(
    page: Any, looking: Site
) -> None:
    looking.broken.set()
    try:
        made = page.answer({"window": "30d", "asked": 8})
    finally:
        looking.broken.clear()
    assert made == {"error": "Internal error. The store is on fire.", "asked": 8}
    assert len(page.answer({"window": "30d"})["tiles"]) == 50


def test_over_the_wire(web: httpx.Client) -> None:
    assert web.get("/").status_code == 200
    body = {
        "output": f"{Ids.BOARD}.data",
        "outputs": {"id": Ids.BOARD, "property": "data"},
        "inputs": [{"id": Ids.QUESTION, "property": "data", "value": {"q": serial(SILENT)}}],
        "changedPropIds": [f"{Ids.QUESTION}.data"],
    }
    answer = web.post("/_dash-update-component", json=body)
    assert answer.status_code == 200, answer.text
    made = answer.json()["response"][Ids.BOARD]["data"]
    assert [tile["word"] for tile in made["tiles"]] == ["Silent"]
    assert made["pages"]["words"] == "1 device"
    assert sum(int(chip["count"]) for chip in made["chips"]) == 1
    assert made["totals"][1]["value"] == "0 / 1"  # the sums are of what is sought
    assert answer.headers["Cache-Control"] == "private, no-store"
