"""A device's page: its header, and the replies to its chart's requests."""

from __future__ import annotations

import importlib
import re
from typing import Any

import httpx
import orjson
import plotly.graph_objects as go
import pytest
from dash import no_update

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.client import Client
from api.server import create_service
from api.timez import now_ms, parse_instant, stamp
from components import chart_query
from components.chart_query import Subject
from components.url_state import read_view
from tests.dashboards import AUTUMN, CLOCKS, HOLE_MS, LIVE, NEVER, RETIRED, SPRING, TRICKY, Site
from tests.pages.elements import links, of_kind, text
from tests.world import SETTINGS

Answer = dict[str, Any]


@pytest.fixture
def page(looking: Site) -> Any:
    return importlib.import_module("pages.device")


def ask(page: Any, site: Site, serial: str, **given: Any) -> Answer:
    """The callback's reply, called as the browser does."""
    zone = "America/Denver" if serial == LIVE else "America/New_York"
    fields = {"device_id": site.fleet.ids[serial], "time_zone": zone, "interval_s": None}
    return page.answer({"range": "24h", "theme": "light", "width_px": 1_310, **given}, fields)


def line(answer: Answer) -> dict[str, Any]:
    return answer["figure"]["data"][2]


# --- The header ----------------------------------------------------------------------------------


def test_the_header_identifies_the_device(page: Any, looking: Site) -> None:
    shown = text(page.layout(device_id=looking.fleet.ids[LIVE]))
    assert "Devices  /  FM-LIVE Tenant 12 main" in shown
    assert (
        "FM-LIVE · 70B3D57ED0051A2C · EndDevice FX-200 · America/Denver · installed 12 Mar 2025"
        in shown
    )
    assert [kpi for kpi in ("Last reading", "Uptime", "Night flow") if kpi not in shown] == []


@pytest.mark.parametrize("form", ["id", "serial", "network"])
def test_any_identifier_finds_it(page: Any, looking: Site, form: str) -> None:
    identifier = {"id": looking.fleet.ids[LIVE], "serial": LIVE, "network": "70B3D57ED0051A2C"}
    assert "Tenant 12 main" in text(page.layout(device_id=identifier[form]))


def test_an_inactive_device_has_its_page(page: Any, looking: Site) -> None:
    assert "Old main" in text(page.layout(device_id=looking.fleet.ids[RETIRED]))


def test_an_unknown_device_is_not_found(page: Any) -> None:
    shown = page.layout(device_id="%2Fetc%2Fpasswd")
    assert "Device not found, or you don’t have access" in text(shown)
    assert links(shown)["All devices"] == "/devices"
    assert of_kind(shown, "Graph") == []


def test_the_chart_starts_with_the_address(page: Any, looking: Site) -> None:
    fields = {"range": "7d", "zone": "Asia/Tokyo", "metric": "quality", "unheard": "of"}
    shown = page.layout(device_id=LIVE, **fields)
    start = next(s for s in of_kind(shown, "Store") if s.id == "chart-start").data  # pyright: ignore[reportAttributeAccessIssue]
    assert start == {
        "range": "7d",
        "from": None,
        "to": None,
        "metric": "quality",
        "zone": "Asia/Tokyo",
        "units": None,
        "compare": None,
        "usual": None,
        "device": looking.fleet.ids[LIVE],
    }


def test_a_cadence_that_is_not_configured_is_estimated(page: Any, looking: Site) -> None:
    def interval(serial: str) -> Any:
        stores = of_kind(page.layout(device_id=serial), "Store")
        return Subject.read(next(s for s in stores if s.id == "chart-subject").data).interval_s  # pyright: ignore[reportAttributeAccessIssue]

    assert interval(CLOCKS) == 20
    assert interval(LIVE) == pytest.approx(60, rel=0.02)
    assert interval(NEVER) is None


def test_the_title_is_the_label(page: Any, looking: Site) -> None:
    page.layout(device_id=LIVE)
    title = importlib.import_module("dash").page_registry["pages.device"]["title"]
    assert title(device_id=LIVE) == "Tenant 12 main · Weir"


# --- Its readings --------------------------------------------------------------------------------


def test_the_last_day(page: Any, looking: Site) -> None:
    answer = ask(page, looking, LIVE)
    go.Figure(answer["figure"])
    start, end = (parse_instant(t) for t in answer["figure"]["layout"]["xaxis"]["range"])
    assert end + 1 - start == DAY_MS
    assert abs(end - now_ms()) < 2 * MINUTE_MS
    assert re.fullmatch(r"raw · 1,4\d\d rows for 1,310 px · every reading", answer["badge"])
    assert answer["zone_note"].startswith("America/Denver · M")
    assert answer["notice"] == answer["empty"] == ""
    assert answer["unzoomed"] is True
    assert answer["summary"].startswith("1 d: ")


@pytest.mark.parametrize(
    ("range_", "width_px", "badge"),
    [
        ("1h", 1_310, "raw"),
        ("7d", 1_310, "5 min"),
        ("7d", 284, "1 hour"),
        ("1y", 1_310, "10 min"),  # there are ten days only
        ("1y", 284, "1 hour"),
    ],
)
def test_the_width_decides_the_resolution(
    page: Any, looking: Site, range_: str, width_px: int, badge: str
) -> None:
    answer = ask(page, looking, LIVE, range=range_, width_px=width_px)
    assert answer["badge"].startswith(badge)


def test_a_gap_is_a_gap_with_its_length(page: Any, looking: Site) -> None:
    figure = ask(page, looking, LIVE, range="7d")["figure"]
    texts = [label["text"] for label in figure["layout"]["annotations"]]
    assert texts == ["no data 5 h 50 min"] or texts == ["no data 5 h 45 min"]
    gap = figure["data"][0]
    left, right = parse_instant(gap["x"][0]), parse_instant(gap["x"][1])
    assert HOLE_MS - 10 * MINUTE_MS <= right - left <= HOLE_MS
    between = [x for x in line({"figure": figure})["x"] if x and left < parse_instant(x) < right]
    assert between == []


def test_a_zoom_moves_everything_but_the_axis(page: Any, looking: Site) -> None:
    now = looking.fleet.started_ms
    fields = {
        "from": stamp(now - 2 * HOUR_MS, fraction=True),
        "to": stamp(now - HOUR_MS, fraction=True),
        "settled": True,
    }
    answer = ask(page, looking, LIVE, **fields)
    assert "__dash_patch_update" in answer["figure"]
    changed = {tuple(step["location"]): step for step in answer["figure"]["operations"]}
    assert ("data",) in changed
    axis = changed["layout", "xaxis"]["params"]["value"]
    assert "tickvals" in axis
    assert "range" not in axis
    assert answer["unzoomed"] is False
    assert "raw · 6" in answer["badge"]
    fresh = ask(page, looking, LIVE, **{**fields, "settled": False})
    assert fresh["figure"]["layout"]["xaxis"]["range"][0] == fields["from"][:-1]
    for each in (answer, fresh):  # plain JSON types: others are slow for Dash to encode
        assert orjson.dumps(list(each.values()))


def test_a_fixed_chart_stays_fixed_in_a_zoom(looking: Site) -> None:
    """As in an embed whose viewers may not choose the range."""
    now, id = looking.fleet.started_ms, looking.fleet.ids[LIVE]
    fields = {"range": "24h", "settled": True, "from": stamp(now - HOUR_MS), "to": stamp(now)}
    view = read_view(fields)
    drawn = chart_query.draw(looking.client, Subject(id, "UTC"), view, now)
    steps = chart_query.change(drawn, view, still=True)["operations"]
    changed = {tuple(step["location"]): step["params"]["value"] for step in steps}
    assert changed["layout", "dragmode"] is False
    assert changed["layout", "xaxis"]["fixedrange"] is True


def test_a_device_that_stopped_shows_its_last_day(page: Any, looking: Site) -> None:
    answer = ask(page, looking, CLOCKS)
    end = parse_instant(answer["figure"]["layout"]["xaxis"]["range"][1])
    assert end == AUTUMN + 2 * DAY_MS - 1
    assert answer["empty"] == ""


@pytest.mark.parametrize(("start", "hours"), [(SPRING, 23), (AUTUMN, 25)])
def test_the_days_that_clocks_change(page: Any, looking: Site, start: int, hours: int) -> None:
    end = start + hours * HOUR_MS - 1
    fields = {"from": stamp(start, fraction=True), "to": stamp(end, fraction=True)}
    answer = ask(page, looking, CLOCKS, **fields)
    assert answer["badge"] == f"1 min · {hours * 60:,} rows for 1,310 px · min and max exact"
    names = {"EST (UTC−05:00)", "EDT (UTC−04:00)"}
    assert set(answer["zone_note"].removeprefix("America/New_York · ").split(" and ")) == names
    clock = line(answer)["meta"]["says"]["clock"]
    assert {name for _, _, name in clock} == {"EST", "EDT"}
    assert clock[1][0] == start + 2 * HOUR_MS  # the hour that is skipped, or repeated
    elsewhere = ask(page, looking, CLOCKS, **fields, zone="Asia/Tokyo")
    assert elsewhere["zone_note"] == "Asia/Tokyo · JST (UTC+09:00)"
    assert line(elsewhere)["x"] == line(answer)["x"]
    assert [name for _, _, name in line(elsewhere)["meta"]["says"]["clock"]] == ["JST"]


@pytest.mark.parametrize(
    ("serial", "fields", "empty"),
    [
        (NEVER, {}, "This device has never reported."),
        (
            CLOCKS,
            {"from": "2020-01-01T00:00:00Z", "to": "2020-02-01T00:00:00Z"},
            "No data in this range. Last reading: Mon 2 Nov 2026, 22:59 EST.",
        ),
    ],
)
def test_an_empty_range_has_a_reason(
    page: Any, looking: Site, serial: str, fields: dict[str, str], empty: str
) -> None:
    answer = ask(page, looking, serial, **fields)
    assert answer["empty"] == empty
    go.Figure(answer["figure"])


def test_a_failure_keeps_the_last_good_chart(page: Any, looking: Site) -> None:
    looking.broken.set()
    try:
        answer = ask(page, looking, LIVE)
    finally:
        looking.broken.clear()
    assert "The store is on fire." in answer["notice"]
    outputs = [value for name, value in answer.items() if name != "notice"]
    assert outputs == [no_update] * 12


@pytest.mark.parametrize("compare", ["day", "week", "usual", "device:FM-CLOCKS"])
def test_the_comparison_is_drawn_and_described(page: Any, looking: Site, compare: str) -> None:
    answer = ask(page, looking, LIVE, compare=compare, range="24h")
    names = [trace["name"] for trace in answer["figure"]["data"]]
    other = {"day": "Previous day", "week": "Previous week", "usual": "Usual"}
    if compare == "usual":  # it has a few days of readings
        assert "Too early to say" in answer["compared"]
    else:
        assert other.get(compare, "FM-CLOCKS") in names
        assert "gal" in answer["compared"]


def test_a_missing_comparison_device_has_a_message_and_the_chart_stays(
    page: Any, looking: Site
) -> None:
    answer = ask(page, looking, LIVE, compare="device:nobody")
    assert answer["compared"].startswith("nobody: device not found")
    assert line(answer)["y"]


def test_another_metric(page: Any, looking: Site) -> None:
    answer = ask(page, looking, LIVE, metric="temperature")
    assert answer["figure"]["layout"]["yaxis"]["title"]["text"] == "Onboard temperature, °F"
    assert {y for y in line(answer)["y"] if y is not None} == {70.7}


@pytest.mark.parametrize("question", [None, {}, {"from": 3, "range": [], "width_px": {}}])
def test_a_forged_request_gets_the_default_view(page: Any, looking: Site, question: Any) -> None:
    fields = {"device_id": looking.fleet.ids[LIVE], "time_zone": 7, "interval_s": "x"}
    answer = page.answer(question, fields)
    assert answer["zone_note"].startswith("UTC")


def test_a_forged_device_is_refused_by_the_service(page: Any) -> None:
    answer = page.answer({}, {"device_id": "../organizations/mine"})
    assert "Not found" in answer["notice"]


@pytest.mark.parametrize("range_", ["24h", "7d", "1y"])
def test_any_server_of_the_interface_draws_the_same_chart(looking: Site, range_: str) -> None:
    """With rows as objects, as specified; our own service replies in columns."""
    service = create_service(looking.fleet.store, SETTINGS)

    def plain(environ: Any, start_response: Any) -> Any:
        return service({**environ, "HTTP_ACCEPT": "application/json"}, start_response)

    device_id, now = looking.fleet.ids[LIVE], looking.fleet.started_ms
    subject, view = Subject(device_id, "America/Denver", 60), read_view({"range": range_})
    figures = [
        chart_query.change(chart_query.draw(client, subject, view, now), view)
        for client in (looking.client, Client.in_process(plain, looking.fleet.key))
    ]
    assert figures[0] == figures[1]
    assert len(figures[0]["data"][2]["x"]) > 200


def test_the_callback_over_http(web: httpx.Client, site: Site) -> None:
    """The chart's callback as the browser sends it: small, compressed, not cacheable."""
    outputs = (
        "graph.figure badge.children zone-note.children summary.children failed.data"
        " empty.children jump.hidden reset.disabled gaps-nodes.data compared.children"
        " since.children response.data parts.data"
    )
    parts = [f"chart-{each}".split(".") for each in outputs.split()]
    chosen = {"range": "7d", "width_px": 1_310, "theme": "dark"}
    subject = {"device_id": site.fleet.ids[TRICKY], "time_zone": "UTC"}
    question = {
        "output": ".." + "...".join(map(".".join, parts)) + "..",
        "outputs": [{"id": i, "property": p} for i, p in parts],
        "inputs": [{"id": "chart-question", "property": "data", "value": chosen}],
        "state": [{"id": "chart-subject", "property": "data", "value": subject}],
        "changedPropIds": ["chart-question.data"],
    }
    answer = web.post("/_dash-update-component", json=question, headers={"Accept-Encoding": "br"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Encoding"] == "br"
    assert answer.headers["Cache-Control"] == "private, no-store"
    figure = answer.json()["response"]["chart-graph"]["figure"]
    names = [trace["name"] for trace in figure["data"]]
    assert names[:5] == ["no data", "min–max", "Flow rate", "lone", "good"]
