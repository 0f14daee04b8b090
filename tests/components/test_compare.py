"""The compare page: its address, numbers, parts and image."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from api.client.expectations import ItemVolumes, Volumes
from api.errors import BadRequest, NotFound, NotOffered
from components import html_json
from components.compare import cards
from components.compare.cards import NO_WEIR, NOT_FOUND, answer
from components.compare.queries import attribute_words, figure, per_words
from components.concurrent_queries import ReplyCache, ServiceAccess
from components.theme import LIGHT
from components.units import METRIC
from components.usage.page import files as usage_files
from components.usage.url_state import (
    CompareView,
    checked_compare_view,
    read_compare_view,
    read_usage_view,
    write_compare_view,
)
from tests.tables import cases
from web.downloads.lists import compare_file
from web.images.compare import picture
from web.images.svg import Box

DAY_MS = 86_400_000
EDGES = tuple(n * DAY_MS for n in range(5))
NOON_OF_THE_LAST = 3 * DAY_MS + DAY_MS // 2  # it is not over yet


def item(
    label: str,
    volumes: Sequence[float | None],
    coverage: float = 1.0,
    attributes: Mapping[str, float] | None = None,
    device: bool = True,
) -> ItemVolumes:
    present = [v for v in volumes if v is not None]
    return ItemVolumes(
        item=f"device:{label}" if device else f"group:{label}",
        label=label,
        device_id=label if device else "",
        serial_number=label if device else "",
        devices=1 if device else 4,
        sub_meters=0 if device else 1,
        attributes=attributes or {},
        gallons=sum(present) if present else None,
        coverage=coverage,
        volumes=tuple(volumes),
    )


HOUSE = item("House", (100.0, 300.0, 200.0, 50.0), attributes={"persons": 4})
TOWER = item("Tower", (1000.0, None, 3000.0, 10.0), 0.6, {"persons": 50}, device=False)
SILENT = item("Silent", (None,) * 4, 0.0)
ALL = Volumes("UTC", EDGES, (HOUSE, TOWER, SILENT))


def view(**text: str) -> CompareView:
    return read_compare_view({"range": "30d", **text})


@pytest.mark.parametrize(
    ("by", "lines", "totals"),
    [
        ("", {"House": [100, 300, 200], "Tower": [1000, None, 3000], "Silent": [None] * 3},
         [("Tower", 4010), ("House", 650), ("Silent", None)]),
        ("mean", {"House": [50, 150, 100], "Tower": [50, None, 150], "Silent": [None] * 3},
         [("Tower", 100 * 4010 / 2330), ("House", 100 * 650 / 2330), ("Silent", None)]),
        ("persons", {"House": [25, 75, 50], "Tower": [20, None, 60]},
         [("House", 162.5), ("Tower", 80.2)]),
    ],
)  # fmt: skip
def test_each_way_to_compare(
    by: str, lines: dict[str, list[float | None]], totals: list[tuple[str, float | None]]
) -> None:
    """Today counts in the totals only."""
    drawn = figure(ALL, view(by=by), 30, NOON_OF_THE_LAST)
    assert {line.item.label: list(line.values) for line in drawn.lines} == lines
    assert [(line.item.label, line.total) for line in drawn.ranked] == [
        (label, None if total is None else pytest.approx(total)) for label, total in totals
    ]
    assert drawn.lacking == (("Silent",) if by == "persons" else ())


def test_a_line_breaks_where_a_bucket_has_no_reading() -> None:
    drawn = figure(ALL, view(), 30, NOON_OF_THE_LAST)
    assert [len(run) for run in drawn.runs(drawn.lines[1])] == [1, 1]
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in drawn.runs(drawn.lines[0])[0])


def test_units_are_the_readers_and_shared_by_all_lines() -> None:
    drawn = figure(ALL, view(units="metric"), 30, NOON_OF_THE_LAST)
    assert drawn.unit == drawn.total_unit == "m³"
    assert drawn.lines[0].values[0] == pytest.approx(100 * METRIC.volume_factor)
    assert figure(ALL, view(), 7, NOON_OF_THE_LAST).title == "Volume by hour"


def test_an_empty_chart_has_a_message() -> None:
    drawn = figure(Volumes("UTC", EDGES, (SILENT,)), view(by="mean"), 30, 4 * DAY_MS)
    assert drawn.empty
    assert cards.EMPTY in str(html_json.as_nodes(cards.pictures(drawn, view())))
    assert "NaN" not in str(html_json.as_nodes(cards.bars(drawn)))


def test_notes_name_missing_data_and_sums() -> None:
    drawn = figure(ALL, view(by="persons"), 30, NOON_OF_THE_LAST)
    text = str(html_json.as_nodes([*cards.pictures(drawn, view(by="persons")), *cards.bars(drawn)]))
    for words in ("Volume by day per person, gal", "Without persons: Silent.", "60% of readings",
                  "4 devices", "1 sub-meter not counted twice"):  # fmt: skip
        assert words in text
    chips = str(html_json.as_nodes(cards.chips(ALL, ("device:House", "group:Gone, far"))))
    assert "Gone, far: not found" in chips
    assert "group:Gone%2C%20far" in chips


@cases(
    ("count", "layout", "several"),
    [(4, "", False), (5, "", True), (9, "one", False), (2, "each", True)],
)
def test_small_multiples_above_four(count: int, layout: str, several: bool) -> None:
    result = Volumes("UTC", EDGES, tuple(item(f"D{n}", (1.0,) * 4) for n in range(count)))
    requests = view(layout=layout)
    sheet = str(
        html_json.as_nodes(cards.pictures(figure(result, requests, 30, 4 * DAY_MS), requests))
    )
    assert sheet.count("compare-plot'") == (count if several else 1)
    image = picture(
        figure(result, requests, 30, 4 * DAY_MS), requests, Box(16, 60, 1184, 600), LIGHT
    )
    assert image.count('class="line"') == count
    assert not any(math.isnan(float(n)) for n in image.split() if n.replace(".", "").isdigit())


@cases(
    ("name", "words", "per"),
    [
        ("persons", "persons", " per person"),
        ("floorArea", "floor area", " per unit of floor area"),
        ("glass", "glass", " per unit of glass"),
        ("", "", ""),
    ],
)
def test_an_attribute_in_words(name: str, words: str, per: str) -> None:
    assert (attribute_words(name), per_words(name)) == (words, per)


def test_the_address_has_the_whole_view() -> None:
    fields = {"range": "365d", "zone": "Asia/Tokyo", "units": "metric", "by": "persons",
            "items": "device:a,group:North%2C%20East", "layout": "each"}  # fmt: skip
    read = read_compare_view(fields)
    assert read.items == ("device:a", "group:North, East")
    assert {k: v for k, v in write_compare_view(read).items() if v} == fields
    assert write_compare_view(read_compare_view({})) == dict.fromkeys(write_compare_view(read))
    assert len(read_compare_view({"items": ",".join(f"group:{n}" for n in range(20))}).items) == 12


@cases(
    "pair", [("items", "floor:3"), ("items", ""), ("range", "ever"), ("layout", "x"), ("q", "m")]
)
def test_a_files_parameters_are_read_strictly(pair: tuple[str, str]) -> None:
    with pytest.raises(BadRequest):
        checked_compare_view([pair])


class Server:
    """A service that raises, or replies for all devices."""

    principal = "p"

    def __init__(self, error: Exception | None) -> None:
        self.error, self.requests = error, 0

    def devices(self, **_: object) -> Any:
        return type("Page", (), {"devices": ()})

    def organizations(self) -> tuple[()]:
        return ()

    def volumes(self, *_: object, **__: object) -> Volumes:
        self.requests += 1
        if self.error:
            raise self.error
        return ALL


@pytest.mark.parametrize(
    ("error", "words", "shown"),
    [(None, "", True), (NotFound("Device …"), NOT_FOUND, False), (NotOffered("x"), NO_WEIR, False)],
)
def test_a_page_is_one_request_and_an_empty_one_gives_the_reason(
    error: Exception | None, words: str, shown: bool
) -> None:
    server = Server(error)
    access = ServiceAccess(server, ReplyCache())  # pyright: ignore[reportArgumentType]
    reply = answer(access, view(items="device:House,group:Tower,device:Silent"), 4 * DAY_MS)
    assert server.requests == 1
    assert (reply["empty"], bool(reply["pictures"])) == (words, shown)
    if shown:
        assert [len(line["texts"]) for line in reply["hover"]["lines"]] == [4, 4, 4]
        assert len(reply["hover"]["times"]) == 4


def test_a_file_has_a_row_for_each_bucket_of_each_item() -> None:
    access = ServiceAccess(Server(None), ReplyCache())  # pyright: ignore[reportArgumentType]
    table = compare_file(access, {"items": "device:House,group:Tower", "zone": "Asia/Tokyo"})
    rows = [row for part in table.parts for row in zip(*part, strict=True)]
    assert [column.header for column in table.columns] == [
        "kind", "label", "serial_number", "time_utc", "time_local (Asia/Tokyo)", "hours",
        "volume (gal)", "persons",
    ]  # fmt: skip
    assert rows[1] == ("device", "House", "House", DAY_MS, DAY_MS, 24.0, 300.0, 4)
    assert [row[6] for row in rows[4:8]] == [1000.0, None, 3000.0, 10.0]
    with pytest.raises(ValueError, match="nothing to compare"):
        compare_file(access, {})


@cases(
    ("fields", "href"),
    [
        ({"devices": "a,b"}, "/compare?items=device%3Aa%2Cdevice%3Ab&range=month"),
        ({"group": "North, East"}, "/compare?items=group%3ANorth%252C%2520East&range=month"),
        ({"group": "North", "q": "m"}, ""),
        ({"devices": ",".join(map(str, range(13)))}, ""),
        ({}, ""),
    ],
)
def test_the_usage_page_links_to_the_same_comparison(fields: dict[str, str], href: str) -> None:
    menu = str(html_json.as_nodes(usage_files(read_usage_view(fields))))
    assert (href in menu) if href else ("/compare" not in menu)
