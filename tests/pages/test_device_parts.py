"""What a device's page says beside its chart: each part answers, is empty and fails for itself."""

from __future__ import annotations

import csv
import importlib
import io
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

import httpx
import pytest
from dash import no_update

from api.auth import key_digest
from api.catalog import RESOLUTION_BY_NAME
from api.client import Client
from api.roles import Role
from api.server import create_service
from api.store.base import Grant, Key
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, now_ms, stamp
from components.device.cards import CARDS, CardRow
from components.device.chart_state import Shown, write_shown
from components.device.kpi_rows import KPI_ROWS, When
from components.device.page_parts import MENUS
from components.ranges import Window
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

Said = dict[str, Any]


@pytest.fixture
def page(looking: Site) -> Any:
    return importlib.import_module("pages.device")


def kept(site: Site, serial: str, **more: Any) -> Said:
    return {"device_id": site.fleet.ids[serial], "time_zone": "America/Denver", **more}


def shown(start_ms: int, length_ms: int, **more: Any) -> Said:
    return write_shown(Shown(Window(start_ms, start_ms + length_ms - 1), **more))


def last_day(site: Site) -> Said:
    end = site.fleet.started_ms // MINUTE_MS * MINUTE_MS
    return shown(end - DAY_MS, DAY_MS)


KPIS = [row.id for row in KPI_ROWS]
CARD_IDS = [row.id for row in CARDS]


def parts(
    page: Any, said: Any, device: Said, *due: str, question: Said | None = None, number: int = 1
) -> Said:
    """What the page answers for those parts: KPIs and cards by their ids, or names of `When`."""
    shown = said and {**said, "due": list(due), "page": number}
    return page.parts(shown, question or {}, device)


def kpi(page: Any, id: str, said: Any, device: Said) -> tuple[Any, str]:
    """A cell's parts and its failure."""
    sheets = parts(page, said, device, id)["sheets"]
    return sheets.get(id, no_update), text(sheets.get(f"{id}-trouble"))


def card(page: Any, id: str, said: Any, device: Said, number: int = 1) -> list[Any]:
    """A card's body, note and failure."""
    sheets = parts(page, said, device, id, number=number)["sheets"]
    return [sheets.get(id), text(sheets.get(f"{id}-note")), text(sheets.get(f"{id}-trouble"))]


def state(page: Any, said: Any, device: Said) -> tuple[str, str]:
    """The chip's words and its name in the stylesheet."""
    ((_, attributes, nodes),) = parts(page, said, device, "device-state")["sheets"]["device-state"]
    return text(nodes), attributes["data-state"]


# --- Numbers -------------------------------------------------------------------------------------


def test_the_numbers_of_a_live_device(page: Any, looking: Site) -> None:
    said, device = last_day(looking), kept(looking, LIVE)
    body, trouble = kpi(page, "kpi-last", said, device)
    assert text(body).startswith("Last reading ")
    assert (trouble, state(page, said, device)) == ("", ("● Reporting", "reporting"))
    up, _ = kpi(page, "kpi-uptime", said, device)
    quality, _ = kpi(page, "kpi-quality", said, device)
    assert text(up) == "Uptime, 24 h 100.0% 1,440 of 1,440 min"
    assert text(quality).startswith("Quality, 24 h 88 – 99 mean 93")
    volume, _ = kpi(page, "kpi-volume", said, device)
    assert text(volume).startswith("Volume, 24 h ")
    assert text(volume).endswith("not enough data in the day before")  # it holds the hole
    night, _ = kpi(page, "kpi-night", said, device)
    assert "usual" in text(night)
    leak, trouble = kpi(page, "kpi-continuous", said, device)
    assert (text(leak), trouble) == (
        "Leak none nothing found so far",
        "",
    )  # nothing was evaluated here


def test_a_range_of_the_past_is_counted_as_it_was(page: Any, looking: Site) -> None:
    up, _ = kpi(page, "kpi-uptime", shown(SPRING, 23 * HOUR_MS), kept(looking, CLOCKS))
    assert text(up) == "Uptime, 23 h 100.0% 1,380 of 1,380 min"


def test_a_new_device_is_counted_since_its_first_reading(page: Any, looking: Site) -> None:
    """It says no installation date: what was before it reported isn't missing."""
    up, _ = kpi(page, "kpi-uptime", shown(SPRING - 2 * DAY_MS, 2 * DAY_MS), kept(looking, CLOCKS))
    assert text(up) == "Uptime, 2 d 100.0% 1,440 of 1,440 min · since the first reading"


def test_a_device_that_never_reported(page: Any, looking: Site) -> None:
    said, device = last_day(looking), kept(looking, NEVER)
    body, _ = kpi(page, "kpi-last", said, device)
    assert text(body) == "Last reading – never reported"
    assert state(page, said, device) == ("○ No data", "nodata")
    assert (
        text(kpi(page, "kpi-volume", said, device)[0]) == "Volume, 24 h – no readings with volume"
    )
    continuous, _ = kpi(page, "kpi-continuous", said, device)
    assert text(continuous) == "Leak none nothing found so far"
    assert text(card(page, "device-days", said, device)[0]) == "No volume in the last six weeks."
    assert text(card(page, "device-heat", said, device)[0]) == "No flow in the last eight weeks."
    assert text(card(page, "device-rows", said, device, 1)[0]) == "No rows in this range."


def test_an_inactive_device_says_so(page: Any, looking: Site) -> None:
    device = kept(looking, RETIRED, active=False)
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
    assert kpi(page, "kpi-cost", last_day(looking), kept(looking, LIVE)) == (no_update, "")


EVERYTHING = [when.value for when in When]


def test_one_answer_has_every_part_that_is_due(page: Any, looking: Site) -> None:
    """A refresh is one question: the chart, and whatever else is due."""
    device = kept(looking, LIVE)
    answer = page.answer({"range": "7d", "due": EVERYTHING, "asked": 7}, device)["parts"]
    assert (answer["asked"], answer["fresh"]) == (7, sorted(EVERYTHING))
    assert answer["overview"]["line"].startswith("M")
    water = {"kpi-radio", "kpi-cost"}  # it measures water, and nobody says a price
    assert {*KPIS, *CARD_IDS, *MENUS, "device-state"} - water <= set(answer["sheets"])
    assert not water & set(answer["sheets"])
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
    answer = parts(page, last_day(looking), kept(looking, LIVE), due)
    assert there in answer["sheets"]
    assert not_there not in answer["sheets"]
    assert answer["fresh"] == ([due] if due in EVERYTHING else [])


def test_a_note_or_a_correction_is_in_the_very_next_answer(page: Any, looking: Site) -> None:
    """Nothing that a correction changes is kept from one answer to the next."""
    said, device = shown(SPRING, HOUR_MS), kept(looking, CLOCKS)
    before, _ = kpi(page, "kpi-volume", said, device)
    body = {"device": CLOCKS, "from": stamp(SPRING), "to": stamp(SPRING + HOUR_MS),
            "effect": "scale", "factor": 3.0, "reason": "three pulses a turn"}  # fmt: skip
    fleet, secret = looking.fleet, str(uuid4())
    key = Key("key_parts", ORGANIZATION, "parts", key_digest(secret), Grant(everything=True), 0)
    fleet.store.create_key(replace(key, role=Role.ADMINISTRATOR))
    administrator = Client.in_process(create_service(fleet.store, SETTINGS), secret)
    made = administrator.create_annotation("correction", body)
    try:
        assert text(kpi(page, "kpi-volume", said, device)[0]) != text(before)
    finally:
        administrator.revoke_correction(made.id, "only a test")
    assert text(kpi(page, "kpi-volume", said, device)[0]) == text(before)


def test_each_part_says_that_it_failed_and_keeps_what_it_had(page: Any, looking: Site) -> None:
    # A range, a zone and a device that nothing has been remembered of.
    said = shown(now_ms() - 3 * HOUR_MS, HOUR_MS, zone="Europe/Rome")
    looking.broken.set()
    try:
        told = parts(page, said, kept(looking, TRICKY), *EVERYTHING)
    finally:
        looking.broken.clear()
    assert told["fresh"] == []
    assert "overview" not in told
    failed = {id: text(nodes) for id, nodes in told["sheets"].items() if id not in MENUS}
    assert set(failed) == {f"{id}-trouble" for id in (*KPIS, *CARD_IDS)}  # the state's chip stays
    assert set(failed.values()) == {"Internal error. The store is on fire."}


@pytest.mark.parametrize("said", [None, {}, {"from": "x", "to": 7}])
def test_before_anything_is_shown_nothing_is_said(
    page: Any, looking: Site, said: Said | None
) -> None:
    assert parts(page, said, kept(looking, LIVE), *EVERYTHING) is no_update


def test_a_forged_device_has_no_numbers(page: Any, looking: Site) -> None:
    forged = {"device_id": "00000000-0000-4000-8000-00000000000f", "time_zone": "UTC"}
    told = parts(page, last_day(looking), forged, *EVERYTHING)["sheets"]
    for part in (*KPIS, *CARD_IDS):
        assert "Not found" in text(told[f"{part}-trouble"]), part
        assert part not in told


# --- Below ---------------------------------------------------------------------------------------


def test_days_lead_to_their_span(page: Any, looking: Site) -> None:
    bars, note, _ = card(page, "device-days", last_day(looking), kept(looking, LIVE))
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
    device = {**kept(looking, CLOCKS), "time_zone": "America/New_York"}
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
    said, device = shown(SPRING, HOUR_MS), kept(looking, CLOCKS)
    first, note, _ = card(page, "device-rows", said, device, 1)
    assert note == "· raw, latest first, America/Denver"
    assert "1–20 of 180 rows" in text(first)
    last = card(page, "device-rows", said, device, 9)[0]
    assert "161–180 of 180 rows" in text(last)
    assert text(card(page, "device-rows", said, device, 10**9)[0]) == text(last)


def hrefs(body: Any) -> list[str]:
    return [attributes["href"] for attributes in of_tag(body, "a")]


def menus(page: Any, said: Any, device: Said) -> list[Any]:
    sheets = parts(page, said, device, "range")["sheets"]
    return [sheets[id] for id in MENUS]


def test_each_menu_offers_what_its_card_shows(page: Any, looking: Site) -> None:
    device = kept(looking, CLOCKS)
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
    *told, report = hrefs(chart)
    kinds = [("1hour" in href, "raw" in href) for href in told]  # each as CSV, workbook, with notes
    assert kinds == [(True, False)] * 3 + [(False, True)] * 3
    assert all("zone=Asia%2FTokyo" in href for href in (*told, report))


@cases("row", CARDS)
def test_each_file_and_image_of_a_card_has_an_address(row: CardRow) -> None:
    assert row.exports
    for export in row.exports:
        assert f"/download/devices/<path:device_id>/{export.name}" in FILES
    assert row.image in {"", *DRAWINGS}


def test_the_overview_is_of_long_ranges(page: Any, looking: Site) -> None:
    device = kept(looking, LIVE, interval_s=60)

    def whole(question: Said, device: Said) -> Any:
        return parts(page, last_day(looking), device, "steady", question=question)["overview"]

    assert whole({"range": "24h"}, device) is None
    told = whole({"range": "7d"}, device)
    assert told["line"].startswith("M")
    assert told["width"] == 800
    own = {"range": "2026-03-01T00:00:00Z..2026-03-20T00:00:00Z"}
    assert whole(own, kept(looking, CLOCKS))["from"] == "2026-03-01T00:00:00.000Z"


# --- Files ---------------------------------------------------------------------------------------


def file(site: Site, serial: str, **said: str) -> tuple[str, dict[str, str]]:
    start = {"from": stamp(SPRING), "to": stamp(SPRING + HOUR_MS - 1000)}
    return f"/download/devices/{site.fleet.ids[serial]}/rows.csv", {**start, **said}


def test_a_file_over_the_wire(web: httpx.Client, site: Site) -> None:
    path, said = file(site, CLOCKS, zone="Asia/Kolkata", resolution="10min", units="metric")
    answer = web.get(path, params=said)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="weir_FM-CLOCKS_2026-03-08T050000Z_2026-03-08T055959Z_10min.csv"'
    )
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["time_local (Asia/Kolkata)"][:16] for row in rows] == [
        f"2026-03-08T{hm}" for hm in ("10:30", "10:40", "10:50", "11:00", "11:10", "11:20")
    ]


def test_raw_rows_are_all_of_them(web: httpx.Client, site: Site) -> None:
    path, _ = file(site, CLOCKS)
    said = {"from": stamp(SPRING - DAY_MS), "to": stamp(SPRING + 2 * DAY_MS - 1000)}
    rows = web.get(path, params=said).text.splitlines()
    assert len(rows) == 1 + 3 * DAY_MS // 20_000  # more than one page


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"from": "yesterday"}, 400),
        ({"to": ""}, 400),
        ({"resolution": "total"}, 400),
        ({"resolution": "2min"}, 400),
    ],
)
def test_what_can_not_be_understood(
    web: httpx.Client, site: Site, said: dict[str, str], status: int
) -> None:
    path, usual = file(site, CLOCKS)
    assert web.get(path, params={**usual, **said}).status_code == status


def test_a_file_of_nobody_s_device(web: httpx.Client, site: Site) -> None:
    _, said = file(site, CLOCKS)
    answer = web.get("/download/devices/..%2F..%2Fetc/rows.csv", params=said)
    assert answer.status_code == 404


def test_a_file_while_the_service_is_down(web: httpx.Client, site: Site) -> None:
    path, said = file(site, CLOCKS)
    site.broken.set()
    try:
        answer = web.get(path, params=said)
    finally:
        site.broken.clear()
    assert answer.status_code == 500
    assert "The store is on fire." in answer.text
    assert "Content-Disposition" not in answer.headers


def test_every_resolution_that_a_chart_shows_can_be_had(web: httpx.Client, site: Site) -> None:
    path, said = file(site, CLOCKS)
    for name in RESOLUTION_BY_NAME.keys() - {"total"}:
        assert web.get(path, params={**said, "resolution": name}).status_code == 200, name
