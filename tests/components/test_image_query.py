"""The parameters of an image's address."""

from __future__ import annotations

import pytest

from api.errors import BadRequest
from components.image_query import Size, read_chart, read_wall
from components.ranges import Window
from tests.tables import cases
from tests.world import ms

INSTANTS = [("from", "2026-11-01T00:00:00Z"), ("to", "2026-11-02T00:00:00Z")]


def test_a_charts_address_is_that_of_its_page_with_a_size() -> None:
    texts = [("range", "7d"), ("metric", "volume"), ("zone", "Asia/Kolkata"), ("units", "metric"),
            ("theme", "dark"), ("width", "640"), ("height", "360"), ("scale", "2")]  # fmt: skip
    view, size = read_chart([*texts, *INSTANTS])
    assert (view.preset.name, view.zone, view.units.name) == ("7d", "Asia/Kolkata", "metric")
    assert (view.tab.name if view.tab else "", view.theme) == ("volume", "dark")
    assert view.window == Window(ms("2026-11-01T00:00Z"), ms("2026-11-02T00:00Z"))
    assert size == Size(640, 360, 2.0)
    assert view.width_px == 640 - 64 - 16  # the plot area within its margins


def test_defaults_are_those_of_the_page() -> None:
    view, size = read_chart([])
    assert (view.preset.name, view.theme, view.window) == ("24h", "light", None)
    assert size == Size(1_000, 420, 1.0)


@cases(
    ("name", "good", "bad"),
    [
        ("width", ["320", "2000"], ["319", "2001", "", "1e3", "٣٢٠٠", "-400", "0x200"]),
        ("height", ["240", "1500"], ["239", "1501", "420.5"]),
        ("scale", ["1", "1.5", "3", "2.0"], ["0.5", "3.1", "nan", "1e0", ".", "2..0"]),
        ("theme", ["light", "dark"], ["Dark", "", "blue"]),
        ("zone", ["America/Denver", "Asia/Kathmandu"], ["Mars/Base", "", "local"]),
        ("units", ["us", "metric"], ["si"]),
        ("metric", ["flow_rate", "signal"], ["flow"]),
        ("range", ["1h", "1y", "2026-11-01..2026-11-02"], ["8d", "..", "2026-11-02..2026-11-01"]),
        ("colour", [], ["red"]),
        ("key", [], ["key_x"]),
    ],
)
def test_each_parameter_has_bounds(name: str, good: list[str], bad: list[str]) -> None:
    for text in good:
        read_chart([(name, text)])
    for text in bad:
        with pytest.raises(BadRequest) as result:
            read_chart([(name, text)])
        assert [problem.parameter for problem in result.value.errors] == [name]


@cases(
    ("pairs", "named"),
    [
        ([("width", "400"), ("width", "400")], ["width"]),
        ([INSTANTS[0]], ["to"]),
        ([INSTANTS[1]], ["from"]),
        ([("from", INSTANTS[1][1]), ("to", INSTANTS[0][1])], ["from"]),
        ([("width", "2000"), ("height", "1500"), ("scale", "3")], ["scale"]),
        ([("width", "1"), ("range", "?"), ("a", "b")], ["width", "range", "a"]),
    ],
)
def test_every_wrong_parameter_is_named_at_once(
    pairs: list[tuple[str, str]], named: list[str]
) -> None:
    with pytest.raises(BadRequest) as result:
        read_chart(pairs)
    assert [problem.parameter for problem in result.value.errors] == named


def test_a_walls_address_is_that_of_its_page_with_a_width() -> None:
    texts = [("window", "7d"), ("q", "main"), ("status", "silent,degraded"), ("page", "2"),
            ("sort", "label"), ("theme", "dark"), ("width", "900")]  # fmt: skip
    view, theme, size = read_wall(texts)
    assert (view.span.name, view.search, view.page, view.sort) == ("7d", "main", 2, "label")
    assert view.statuses == {"silent", "degraded"}
    assert (theme, size.width) == ("dark", 900)


@cases("pair", [("height", "400"), ("status", "silent,odd"), ("page", "0"),
                                  ("metric", "volume"), ("window", "2h")])  # fmt: skip
def test_a_wall_has_no_other_parameters(pair: tuple[str, str]) -> None:
    with pytest.raises(BadRequest) as result:
        read_wall([pair])
    assert [problem.parameter for problem in result.value.errors] == [pair[0]]
