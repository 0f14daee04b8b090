"""The embed form: its initial values, and its definition or problems."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from api.catalog import (
    CHARTS,
    DAY_MS,
    EMBED_CONTROLS,
    EMBED_THEMES,
    EMBED_VIEWS,
    TILE_WINDOWS_S,
    UNIT_SYSTEMS,
)
from api.client import EmbedDefinition, Fixed, Rolling
from api.metering.windows import SPANS
from components.embeds.queries import (
    FIXED,
    Draft,
    allowed_window,
    read_draft,
    read_prefill,
    windows,
)
from components.units import UNITS
from components.url_state import TABS
from tests.tables import cases
from tests.world import ms

NOW = ms("2026-11-20T12:00Z")
DENVER, TOKYO = ZoneInfo("America/Denver"), "Asia/Tokyo"
DRAFT = Draft(devices=("d-1",))


def zone_of(_: str) -> ZoneInfo:
    return DENVER


def definition(draft: Draft) -> EmbedDefinition:
    read = read_draft(draft, zone_of, NOW)
    assert read.problems == {}
    assert read.definition is not None
    return read.definition


# --- The same terms as the dashboard ------------------------------------------------------------


def test_the_service_accepts_the_dashboards_terms() -> None:
    assert tuple(tab.name for tab in TABS) == CHARTS
    assert tuple(units.name for units in UNITS) == UNIT_SYSTEMS
    assert tuple(span.length_ms // 1000 for span in SPANS) == TILE_WINDOWS_S
    assert EMBED_THEMES[0] == "system"
    assert set(EMBED_CONTROLS) == {"range", "zone", "units", "theme"}


@pytest.mark.parametrize("view", EMBED_VIEWS, ids=lambda view: view.name)
def test_a_view_offers_windows_that_the_service_accepts(view) -> None:
    lengths = [int(value) for value, _ in windows(view.name) if value != FIXED]
    assert lengths == sorted(lengths)
    if not view.metric:
        assert tuple(lengths) == TILE_WINDOWS_S
    assert (FIXED in dict(windows(view.name))) is view.metric


# --- Initial values -----------------------------------------------------------------------------


@cases(
    ("text", "expected"),
    [
        ({}, Draft()),
        ({"view": "map", "device": 3}, Draft()),
        ({"view": ["chart"]}, Draft()),
        ({"device": "d-1,d-2"}, Draft(devices=("d-1",))),
        (
            {"device": "d-1", "range": "7d", "metric": "volume", "units": "metric", "zone": TOKYO},
            Draft(devices=("d-1",), window="604800", metric="volume", units="metric", zone=TOKYO),
        ),
        (
            {"device": "d-1", "from": "2026-03-08T07:00:00Z", "to": "2026-03-09T05:59:59.999Z"},
            Draft(devices=("d-1",), window=FIXED, first="2026-03-08 00:00",
                  last="2026-03-09 00:00"),
        ),
        (
            {"device": "d-1", "range": "2026-03-08T00:00:00Z..2026-03-08T11:59:59.999Z",
             "zone": TOKYO},
            Draft(devices=("d-1",), window=FIXED, first="2026-03-08 09:00",
                  last="2026-03-08 21:00", zone=TOKYO),
        ),
        (
            {"view": "wall", "device": "d-1,,d-2", "window": "30d", "units": "metric"},
            Draft(view="wall", devices=("d-1", "d-2"), window="2592000", units="metric"),
        ),
        ({"view": "tile", "device": "d-1,d-2", "window": "5y"},
         Draft(view="tile", devices=("d-1",))),
    ],
)  # fmt: skip
def test_the_form_starts_with_the_view_it_was_opened_from(text, expected) -> None:
    assert read_prefill(text, zone_of) == expected


def test_a_wall_has_room_for_fifty() -> None:
    fields = {"view": "wall", "device": ",".join(f"d-{n}" for n in range(60))}
    assert len(read_prefill(fields, zone_of).devices) == 50


@cases(
    ("view", "window", "expected"),
    [("chart", FIXED, FIXED), ("wall", FIXED, "86400"), ("tile", "604800", "604800"),
     ("wall", "31536000", "86400"), ("chart", "31536000", "31536000"), ("chart", "x", "86400")],
)  # fmt: skip
def test_another_view_keeps_a_window_that_it_has(view: str, window: str, expected: str) -> None:
    assert allowed_window(view, window) == expected


# --- Reading the form ---------------------------------------------------------------------------


def test_the_form_gives_its_definition() -> None:
    full = Draft(
        title="Lobby", metric="quality", devices=("d-1",), window="604800", zone=TOKYO,
        units="metric", theme="dark", controls=("range",), ends="30",
        origins=" https://a.example\nhttps://b.example:8443 \n\n",
    )  # fmt: skip
    assert definition(full) == EmbedDefinition(
        "chart",
        ("d-1",),
        "quality",
        ("https://a.example", "https://b.example:8443"),
        Rolling(604_800),
        TOKYO,
        "metric",
        "dark",
        ("range",),
        "Lobby",
        NOW + 30 * DAY_MS,
    )


def test_an_empty_form_with_a_device_gives_the_defaults() -> None:
    assert definition(DRAFT) == EmbedDefinition("chart", ("d-1",), "flow_rate")
    assert definition(replace(DRAFT, view="tile", metric="volume")).metric is None


@pytest.mark.parametrize(
    ("zone", "first_ms"),
    [("", ms("2026-03-08T07:00Z")), (TOKYO, ms("2026-03-07T15:00Z"))],
)
def test_a_fixed_window_is_in_local_time(zone: str, first_ms: int) -> None:
    draft = replace(
        DRAFT, window=FIXED, first="2026-03-08 00:00", last=" 2026-03-09 00:00 ", zone=zone
    )
    hours = 24 if zone else 23  # Denver's clocks go forward on that day
    assert definition(draft).window == Fixed(first_ms, first_ms + hours * 3_600_000 - 1)


def test_the_last_day_counts_whole_in_the_zone() -> None:
    draft = replace(DRAFT, ends="on", ends_on="2027-03-31", zone=TOKYO)
    assert definition(draft).expires_ms == ms("2027-03-31T15:00Z")


@cases(
    ("draft", "field", "words"),
    [
        (Draft(), "devices", "Choose a device"),
        (Draft(view="wall"), "devices", "Choose devices"),
        (replace(DRAFT, zone="Mars"), "zone", "Unknown time zone"),
        (replace(DRAFT, window=FIXED), "window", "From: give a date"),
        (replace(DRAFT, window=FIXED, first="2026-03-08 02:30", last="2026-03-09 00:00"), "window",
         "doesn’t exist in America/Denver"),
        (replace(DRAFT, window=FIXED, first="2026-03-09 00:00", last="2026-03-08 00:00"), "window",
         "must end after it starts"),
        (replace(DRAFT, ends="on"), "expires", "Enter a date such as"),
        (replace(DRAFT, ends="on", ends_on="soon"), "expires", "Enter a date such as"),
        (replace(DRAFT, ends="on", ends_on="2026-11-19"), "expires", "has passed"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_shown_at_its_field(draft: Draft, field: str, words: str) -> None:
    read = read_draft(draft, zone_of, NOW)
    assert read.definition is None
    assert list(read.problems) == [field]
    assert words in read.problems[field]


def test_a_form_of_nulls_is_an_empty_one() -> None:
    assert Draft.of({"title": None, "zone": None, "ends": ""}, {"devices": None}) == Draft()
