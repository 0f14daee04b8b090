"""What a device's page says beside its chart: each part answers, is empty and fails for itself."""

from __future__ import annotations

import importlib
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from dash import no_update

from api.auth import key_digest
from api.client import Client
from api.roles import Role
from api.server import create_service
from api.store.base import Grant, Key
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, now_ms, stamp
from components.device.callback_results import MENUS
from components.device.cards import CARDS, CardRow
from components.device.kpi_cards import KPI_ROWS, When
from components.ranges import Window
from components.url_state import Shown, write_shown
from tests.dashboards import (
    CLOCKS,
    LIVE,
    NEVER,
    ORGANIZATION,
    RETIRED,
    SETTINGS,
    SPRING,
    TRICKY,
    Site,
)
from tests.pages.elements import of_kind, of_tag, text
from tests.tables import cases
from web.downloads.routes import FILES
from web.images.cards import DRAWINGS

Json = dict[str, Any]


@pytest.fixture
def page(looking: Site) -> Any:
    return importlib.import_module("pages.device")


def device_store(site: Site, serial: str, **more: Any) -> Json:
    return {"device_id": site.fleet.ids[serial], "time_zone": "America/Denver", **more}


def shown(start_ms: int, length_ms: int, **more: Any) -> Json:
    return write_shown(Shown(Window(start_ms, start_ms + length_ms - 1), **more))


def last_day(site: Site) -> Json:
    end = site.fleet.started_ms // MINUTE_MS * MINUTE_MS
    return shown(end - DAY_MS, DAY_MS)


KPIS = [row.id for row in KPI_ROWS]
CARD_IDS = [row.id for row in CARDS]


def parts(
    page: Any, view: Any, device: Json, *due: str, question: Json | None = None, number: int = 1
) -> Json:
    """What the page answers for those parts: KPIs and cards by their ids, or names of `When`."""
    shown = view and {**view, "due": list(due), "page": number}
    return page.parts(shown, question or {}, device)


def kpi(page: Any, id: str, view: Any, device: Json) -> tuple[Any, str]:
    """A cell's parts and its failure."""
    sheets = parts(page, view, device, id)["nodes"]
    return sheets.get(id, no_update), text(sheets.get(f"{id}-trouble"))


def card(page: Any, id: str, view: Any, device: Json, number: int = 1) -> list[Any]:
    """A card's body, note and failure."""
    sheets = parts(page, view, device, id, number=number)["nodes"]
    return [sheets.get(id), text(sheets.get(f"{id}-note")), text(sheets.get(f"{id}-trouble"))]


def state(page: Any, view: Any, device: Json) -> tuple[str, str]:
    """The chip's words and its name in the stylesheet."""
    ((_, attributes, nodes),) = parts(page, view, device, "device-state")["nodes"]["device-state"]
    return text(nodes), attributes["data-state"]


# --- Numbers -------------------------------------------------------------------------------------


def test_the_numbers_of_a_live_device(page: Any, looking: Site) -> None:
    view, device = last_day(looking), device_store(looking, LIVE)
    body, trouble = kpi(page, "kpi-last", view, device)
    assert text(body).startswith("Last reading ")
    assert (trouble, state(page, view, device)) == ("", ("● Reporting", "reporting"))
    up, _ = kpi(page, "kpi-uptime", view, device)
    quality, _ = kpi(page, "kpi-quality", view, device)
    assert text(up) == "Uptime, 24 h 100.0% 1,440 of 1,440 min"
    assert text(quality).startswith("Quality, 24 h 88 – 99 mean 93")
    volume, _ = kpi(page, "kpi-volume", view, device)
    assert text(volume).startswith("Volume, 24 h ")
    assert text(volume).endswith("not enough data in the day before")  # it holds the hole
    night, _ = kpi(page, "kpi-night", view, device)
    assert "usual" in text(night)
    leak, trouble = kpi(page, "kpi-continuous", view, device)
    assert (text(leak), trouble) == (
        "Leak none nothing found so far",
        "",
    )  # nothing was evaluated here


def test_a_range_of_the_past_is_counted_as_it_was(page: Any, looking: Site) -> None:
    up, _ = kpi(page, "kpi-uptime", shown(SPRING, 23 * HOUR_MS), device_store(looking, CLOCKS))
    assert text(up) == "Uptime, 23 h 100.0% 1,380 of 1,380 min"


def test_a_new_device_is_counted_since_its_first_reading(page: Any, looking: Site) -> None:
    """It says no installation date: what was before it reported isn't missing."""
    up, _ = kpi(
        page, "kpi-uptime", shown(SPRING - 2 * DAY_MS, 2 * DAY_MS), device_store(looking, CLOCKS)
    )
    assert text(up) == "Uptime, 2 d 100.0% 1,440 of 1,440 min · since the first reading"


def test_a_device_that_never_reported(page: Any, looking: Site) -> None:
    view, device = last_day(looking), device_store(looking, NEVER)
    body, _ = kpi(page, "kpi-last", view, device)
    assert text(body) == "Last reading – never reported"
    assert state(page, view, device) == ("○ No data", "nodata")
    assert (
        text(kpi(page, "kpi-volume", view, device)[0]) == "Volume, 24 h – no readings with volume"
    )
    continuous, _ = kpi(page, "kpi-continuous", view, device)
    assert text(continuous) == "Leak none nothing found so far"
    assert text(card(page, "device-days", view, device)[0]) == "No volume in the last six weeks."
    assert text(card(page, "device-heat", view, device)[0]) == "No flow in the last eight weeks."
    assert text(card(page, "device-rows", view, device, 1)[0]) == "No rows in this range."


def test_an_inactive_device_says_so(page: Any, looking: Site) -> None:
    device = device_store(looking, RETIRED, active=False)
    assert state(page, last_day(looking), device)[0] == "○ Inactive"
    stores = of_kind(page.layout(device_id=looking.fleet.ids[RETIRED]), "Store")
    assert next(s for s in stores if s.id == "chart-subject").data["active"] is False  # pyright: ignore[reportAttributeAccessIssue]


def test_without_a_price_there_is_no_cost(page: Any, looking: Site) -> None:
    parts = of_kind(page.layout(device_id=LIVE), "Div")
    cells = [id for part in parts if (id := str(getattr(part, "id", ""))).startswith("kpi-")]
    assert cells == [
        "kpi-last", "kpi-uptime", "kpi-quality", "kpi-volume", "kpi-night", "kpi-continuous",
        "kpi-month",
    ]  # fmt: skip
    assert kpi(page, "kpi-cost", last_day(looking), device_store(looking, LIVE)) == (no_update, "")


EVERYTHING = [when.value for when in When]


def test_one_answer_has_every_part_that_is_due(page: Any, looking: Site) -> None:
    """A refresh is one question: the chart, and whatever else is due."""
    device = device_store(looking, LIVE)
    answer = page.answer({"range": "7d", "due": EVERYTHING, "request_id": 7}, device)["parts"]
    assert (answer["request_id"], answer["fresh"]) == (7, sorted(EVERYTHING))
    assert answer["overview"]["line"].startswith("M")
    water = {"kpi-radio", "kpi-cost"}  # it measures water, and nobody says a price
    assert {*KPIS, *CARD_IDS, *MENUS, "device-state"} - water <= set(answer["nodes"])
    assert not water & set(answer["nodes"])
    assert page.answer({"range": "7d"}, device)["parts"] is None


@pytest.mark.parametrize(
    ("due", "there", "not_there"),
    [
        ("refresh", "kpi-last", "kpi-volume"),
        ("range", "device-rows", "device-days"),
        ("steady", "device-findings", "device-heat"),
        ("hourly", "device-forecast", "kpi-last"),
        ("device-rows", "device-rows", "kpi-volume"),
    ],
)
def test_only_what_is_due_is_asked_for(
    page: Any, looking: Site, due: str, there: str, not_there: str
) -> None:
    answer = parts(page, last_day(looking), device_store(looking, LIVE), due)
    assert there in answer["nodes"]
    assert not_there not in answer["nodes"]
    assert answer["fresh"] == ([due] if due in EVERYTHING else [])


def test_a_note_or_a_correction_is_in_the_very_next_answer(page: Any, looking: Site) -> None:
    """Nothing that a correction changes is kept from one answer to the next."""
    view, device = shown(SPRING, HOUR_MS), device_store(looking, CLOCKS)
    before, _ = kpi(page, "kpi-volume", view, device)
    body = {"device": CLOCKS, "from": stamp(SPRING), "to": stamp(SPRING + HOUR_MS),
            "effect": "scale", "factor": 3.0, "reason": "three pulses a turn"}  # fmt: skip
    fleet, secret = looking.fleet, str(uuid4())
    key = Key("key_parts", ORGANIZATION, "parts", key_digest(secret), Grant(everything=True), 0)
    fleet.store.create_key(replace(key, role=Role.ADMINISTRATOR))
    administrator = Client.in_process(create_service(fleet.store, SETTINGS), secret)
    made = administrator.create_annotation("correction", body)
    try:
        assert text(kpi(page, "kpi-volume", view, device)[0]) != text(before)
    finally:
        administrator.revoke_correction(made.id, "only a test")
    assert text(kpi(page, "kpi-volume", view, device)[0]) == text(before)


def test_each_part_says_that_it_failed_and_keeps_what_it_had(page: Any, looking: Site) -> None:
    # A range, a zone and a device that nothing has been remembered of.
    view = shown(now_ms() - 3 * HOUR_MS, HOUR_MS, zone="Europe/Rome")
    looking.broken.set()
    try:
        result = parts(page, view, device_store(looking, TRICKY), *EVERYTHING)
    finally:
        looking.broken.clear()
    assert result["fresh"] == []
    assert "overview" not in result
    failed = {id: text(nodes) for id, nodes in result["nodes"].items() if id not in MENUS}
    assert set(failed) == {f"{id}-trouble" for id in (*KPIS, *CARD_IDS)}  # the state's chip stays
    assert set(failed.values()) == {"Internal error. The store is on fire."}


@pytest.mark.parametrize("view", [None, {}, {"from": "x", "to": 7}])
def test_before_anything_is_shown_nothing_is_said(
    page: Any, looking: Site, view: Json | None
) -> None:
    assert parts(page, view, device_store(looking, LIVE), *EVERYTHING) is no_update


def test_a_forged_device_has_no_numbers(page: Any, looking: Site) -> None:
    forged = {"device_id": "00000000-0000-4000-8000-00000000000f", "time_zone": "UTC"}
    result = parts(page, last_day(looking), forged, *EVERYTHING)["nodes"]
    for part in (*KPIS, *CARD_IDS):
        assert "Not found" in text(result[f"{part}-trouble"]), part
        assert part not in result


# --- Below ---------------------------------------------------------------------------------------


def test_days_lead_to_their_span(page: Any, looking: Site) -> None:
    bars, note, _ = card(page, "device-days", last_day(looking), device_store(looking, LIVE))
    days = of_tag(bars, "button")
    assert len(days) == 42
    assert days[-1]["class"].split() == ["day", "partial"]
    assert " so far" in days[-1]["aria-label"]
    assert [a["data-to"] < b["data-from"] for a, b in pairwise(days)] == [True] * 41
    assert note == "· last 6 weeks, days in America/Denver"


def test_the_weeks_of_a_device_that_is_long_silent_end_with_its_last_reading(
    page: Any, looking: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = now_ms() + 200 * DAY_MS
    monkeypatch.setattr(page, "now_ms", lambda: later)
    device = {**device_store(looking, CLOCKS), "time_zone": "America/New_York"}
    bars, note, _ = card(page, "device-days", shown(SPRING, DAY_MS), device)
    assert note == "· 6 weeks to 2 Nov 2026, days in America/New_York"
    last_of_all = of_tag(bars, "button")[-1]
    assert "Mon 2 Nov 2026" in last_of_all["title"]
    assert last_of_all["class"] == "day"
    assert "6 weeks" not in card(page, "device-heat", shown(SPRING, DAY_MS), device)[1]
    assert card(page, "device-heat", shown(SPRING, DAY_MS), device)[1].endswith(
        "8 weeks to 2 Nov 2026"
    )
    up, _ = kpi(page, "kpi-uptime", shown(SPRING, 23 * HOUR_MS), device)
    assert text(up) == "Uptime, 23 h 100.0% 1,380 of 1,380 min"
    last, _ = kpi(page, "kpi-last", shown(SPRING, DAY_MS), device)
    assert "gpm on 2 Nov 2026" in text(last)


def test_rows_are_paged_from_the_latest(page: Any, looking: Site) -> None:
    view, device = shown(SPRING, HOUR_MS), device_store(looking, CLOCKS)
    first, note, _ = card(page, "device-rows", view, device, 1)
    assert note == "· raw, latest first, America/Denver"
    assert "1–20 of 180 rows" in text(first)
    last = card(page, "device-rows", view, device, 9)[0]
    assert "161–180 of 180 rows" in text(last)
    assert text(card(page, "device-rows", view, device, 10**9)[0]) == text(last)


def hrefs(body: Any) -> list[str]:
    return [attributes["href"] for attributes in of_tag(body, "a")]


def menus(page: Any, view: Any, device: Json) -> list[Any]:
    sheets = parts(page, view, device, "range")["nodes"]
    return [sheets[id] for id in MENUS]


def test_each_menu_offers_what_its_card_shows(page: Any, looking: Site) -> None:
    device = device_store(looking, CLOCKS)
    chart, findings, days, week, _, rows, _ = menus(page, shown(SPRING, HOUR_MS), device)
    assert len(hrefs(findings)) == 2
    assert [href.partition("?")[0].rpartition("/")[2] for href in hrefs(days) + hrefs(week)] == [
        "days.csv",
        "days.xlsx",
        "hours.csv",
        "hours.xlsx",
    ]
    *files, report = hrefs(chart)
    assert files == hrefs(rows)
    assert report.startswith(f"/report?devices={looking.fleet.ids[CLOCKS]}&range=2026-03-0")
    assert all("resolution=raw" in href for href in files)
    by_hour = {**shown(SPRING, HOUR_MS), "resolution": "1hour", "zone": "Asia/Tokyo"}
    chart, *_ = menus(page, by_hour, device)
    *result, report = hrefs(chart)
    kinds = [
        ("1hour" in href, "raw" in href) for href in result
    ]  # each as CSV, workbook, with notes
    assert kinds == [(True, False)] * 3 + [(False, True)] * 3
    assert all("zone=Asia%2FTokyo" in href for href in (*result, report))


@cases("row", CARDS)
def test_each_file_and_image_of_a_card_has_an_address(row: CardRow) -> None:
    assert row.exports
    for export in row.exports:
        assert f"/download/devices/<path:device_id>/{export.name}" in FILES
    assert row.image in {"", *DRAWINGS}


def test_the_overview_is_of_long_ranges(page: Any, looking: Site) -> None:
    device = device_store(looking, LIVE, interval_s=60)

    def whole(question: Json, device: Json) -> Any:
        return parts(page, last_day(looking), device, "steady", question=question)["overview"]

    assert whole({"range": "24h"}, device) is None
    result = whole({"range": "7d"}, device)
    assert result["line"].startswith("M")
    assert result["width"] == 800
    own = {"range": "2026-03-01T00:00:00Z..2026-03-20T00:00:00Z"}
    assert whole(own, device_store(looking, CLOCKS))["from"] == "2026-03-01T00:00:00.000Z"
