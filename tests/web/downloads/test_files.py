"""Tables as CSV and as workbooks: the same contents, read by other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from random import Random
from typing import Any
from zipfile import BadZipFile, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from api.timez import HOUR_MS, zone
from tests.tables import cases
from tests.world import ms
from web.downloads import routes, xlsx
from web.downloads.table import Column, Kind, Part, Table
from web.responses import disposition, file_stem

NEW_YORK = zone("America/New_York")
SPRING = ms("2026-03-08T05:00Z")
AUTUMN = ms("2026-11-01T04:00Z")
LORD_HOWE = zone("Australia/Lord_Howe")  # its clocks change by half an hour


def table(columns: Sequence[Column], *parts: Part) -> Table:
    return Table("weir_test", "Rows", columns, iter(parts))


def csv_rows(made: Table) -> list[list[str]]:
    text = "".join(routes.csv_lines(made))
    return list(csv.reader(io.StringIO(text, newline="")))


def xlsx_sheets(made: Table, most_rows: int = xlsx.MOST_ROWS) -> dict[str, list[list[Any]]]:
    book = load_workbook(io.BytesIO(b"".join(xlsx.chunks(made, most_rows))))
    return {s.title: [list(row) for row in s.iter_rows(values_only=True)] for s in book}


# --- Cells ---------------------------------------------------------------------------------------


@cases(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@A1", "'@A1"),
        ("\tx", "'\tx"),
        ("\rx", '"\'\rx"'),
        ("\nx", '"\'\nx"'),
        ("  =1+1", "'  =1+1"),
        ("\u3000\u00a0@A1", "'\u3000\u00a0@A1"),
        ("＝1+1", "'＝1+1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠A1", "'＠A1"),
        ("A=1", "A=1"),
        ('a "b", c', '"a ""b"", c"'),
        ('=HYPERLINK("x"),1', '"\'=HYPERLINK(""x""),1"'),
        ("two\nlines", '"two\nlines"'),
        ("水", "水"),
        ("", ""),
    ],
)
def test_a_text_is_never_a_formula(value: str, cell: str) -> None:
    assert routes.csv_cell(value) == cell


@cases("value", ["=1+1", "@A1", "<b>&amp;</b>", " a ", "two\nlines", "水", "-1"])
def test_a_workbook_has_texts_unchanged(value: str) -> None:
    (sheet,) = xlsx_sheets(table([Column("name", Kind.TEXT)], [[value]])).values()
    assert sheet == [["name"], [value]]


def test_a_workbook_types_its_texts_so_that_none_is_a_formula() -> None:
    made = b"".join(xlsx.chunks(table([Column("name", Kind.TEXT)], [["=1+1"]])))
    cell = load_workbook(io.BytesIO(made)).worksheets[0]["A2"]
    assert (cell.data_type, cell.value) == ("s", "=1+1") or cell.data_type == "inlineStr"


def test_characters_invalid_in_xml_are_replaced() -> None:
    (sheet,) = xlsx_sheets(table([Column("name", Kind.TEXT)], [["a\x00b\x0bc"]])).values()
    assert sheet[1] == ["a�b�c"]


@pytest.mark.parametrize(
    ("factor", "values", "texts"),
    [
        (1.0, [-1.5, 0, 2, 0.1, None, 1e-9], ["-1.5", "0", "2", "0.1", "", "1e-09"]),
        (3.785411784, [-1, 0.1, None], ["-3.785411784", "0.3785411784", ""]),
    ],
)
def test_numbers_stay_numbers(factor: float, values: list[Any], texts: list[str]) -> None:
    columns = [Column("n", factor=factor)]
    # A row of one empty cell is an empty line.
    messages = [row[0] if row else "" for row in csv_rows(table(columns, [values]))]
    assert messages == ["n", *texts]
    (sheet,) = xlsx_sheets(table([*columns, Column("x")], [values, [1] * len(values)])).values()
    for (cell, _), text in zip(sheet[1:], texts, strict=True):
        assert cell is None if text == "" else cell == pytest.approx(float(text))
        assert not isinstance(cell, str)


# --- Times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tz", "start", "expected"),
    [
        (NEW_YORK, SPRING + HOUR_MS, ["01:00:00-05:00", "03:00:00-04:00", "04:00:00-04:00"]),
        (NEW_YORK, AUTUMN + HOUR_MS, ["01:00:00-04:00", "01:00:00-05:00", "02:00:00-05:00"]),
        (
            LORD_HOWE,
            ms("2026-04-04T14:00Z"),
            ["01:00:00+11:00", "01:30:00+10:30", "02:30:00+10:30"],
        ),
    ],
)
def test_local_times_on_the_days_that_clocks_change(
    tz: Any, start: int, expected: list[str]
) -> None:
    times = [start + n * HOUR_MS for n in range(3)]
    columns = [Column("utc", Kind.INSTANT), Column(f"local ({tz.key})", Kind.INSTANT, tz=tz)]
    rows = csv_rows(table(columns, [times, times]))
    assert [row[1][11:] for row in rows[1:]] == expected
    (sheet,) = xlsx_sheets(table(columns, [times, times])).values()
    assert sheet[0] == ["utc", f"local ({tz.key})", f"utc_offset of local ({tz.key})"]
    for (utc, local, offset), at, text in zip(sheet[1:], times, rows[1:], strict=True):
        assert utc == datetime(1970, 1, 1) + timedelta(milliseconds=at)  # noqa: DTZ001
        assert local.isoformat() + offset == text[1]


def test_milliseconds_are_written() -> None:
    at = ms("2026-11-20T06:00:00Z") + 123
    columns = [Column("utc", Kind.INSTANT, fraction=True)]
    assert csv_rows(table(columns, [[at]]))[1] == ["2026-11-20T06:00:00.123Z"]
    (sheet,) = xlsx_sheets(table(columns, [[at]])).values()
    assert abs(sheet[1][0] - datetime(2026, 11, 20, 6, 0, 0, 123_000)) < timedelta(milliseconds=1)  # noqa: DTZ001


def test_days_are_dates() -> None:
    day = date(2026, 11, 1).toordinal()
    columns = [Column("day", Kind.DAY), Column("n")]
    assert csv_rows(table(columns, [[day], [1]]))[1] == ["2026-11-01", "1"]
    (sheet,) = xlsx_sheets(table(columns, [[day], [1]])).values()
    assert sheet[1][0] == datetime(2026, 11, 1)  # noqa: DTZ001


def test_unsorted_and_missing_instants() -> None:
    times = [AUTUMN, None, SPRING]
    columns = [Column("at", Kind.INSTANT, tz=NEW_YORK), Column("n")]
    rows = csv_rows(table(columns, [times, [1, 2, 3]]))
    assert [row[0] for row in rows[1:]] == [
        "2026-11-01T00:00:00-04:00",
        "",
        "2026-03-08T00:00:00-05:00",
    ]
    (sheet,) = xlsx_sheets(table(columns, [times, [1, 2, 3]])).values()
    assert [row[:2] for row in sheet[1:]] == [
        [datetime(2026, 11, 1), "-04:00"],  # noqa: DTZ001
        [None, None],
        [datetime(2026, 3, 8), "-05:00"],  # noqa: DTZ001
    ]


# --- Both are equal ------------------------------------------------------------------------------

_rows = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20),
        st.one_of(st.none(), st.floats(-1e9, 1e9), st.integers(-(10**9), 10**9)),
        st.integers(0, 100_000),
    ),
    min_size=1,
    max_size=40,
)


@given(_rows, st.integers(1, 15), st.integers(3, 50))
def test_a_workbook_equals_the_csv(rows: list[Any], cut: int, most: int) -> None:
    """With any division into parts and any number of sheets."""
    columns = [Column("text", Kind.TEXT), Column("number"), Column("day", Kind.DAY)]
    days = [(a, b, 730_000 + c) for a, b, c in rows]
    parts = [list(zip(*days[i : i + cut], strict=True)) for i in range(0, len(days), cut)]
    text = csv_rows(table(columns, *parts))[1:]
    sheets = xlsx_sheets(table(columns, *parts), most)
    assert all(sheet[0] == ["text", "number", "day"] for sheet in sheets.values())
    assert len(sheets) == -(-len(rows) // most)
    messages = [row for sheet in sheets.values() for row in sheet[1:]]
    for (given_text, _, _), (a, b, c), (label, number, day) in zip(
        rows, text, messages, strict=True
    ):
        assert (label or "") == given_text
        assert a in (given_text, f"'{given_text}")  # with an apostrophe before a possible formula
        assert (number is None) == (b == "")
        assert number is None or number == pytest.approx(float(b))
        assert day.date().isoformat() == c


def test_the_same_rows_give_the_same_file() -> None:
    columns = [Column("name", Kind.TEXT), Column("at", Kind.INSTANT, tz=NEW_YORK)]
    made = [b"".join(xlsx.chunks(table(columns, [["a"], [SPRING]]))) for _ in range(2)]
    assert made[0] == made[1]


def test_a_long_table_has_several_sheets_with_one_selected() -> None:
    parts = [[list(range(n, n + 4))] for n in range(0, 20, 4)]
    made = b"".join(xlsx.chunks(table([Column("n")], *parts), 6))
    book = load_workbook(io.BytesIO(made))
    assert book.sheetnames == ["Rows", "Rows 2", "Rows 3", "Rows 4"]
    messages = [[row[0] for row in s.iter_rows(values_only=True)] for s in book]
    assert [len(rows) for rows in messages] == [7, 7, 7, 3]
    assert [n for rows in messages for n in rows if n != "n"] == list(range(20))
    assert [s.sheet_view.tabSelected for s in book] == [True, None, None, None]


def test_without_rows_there_is_a_header() -> None:
    columns = [Column("name", Kind.TEXT), Column("n")]
    assert "".join(routes.csv_lines(table(columns))) == "name,n\r\n"
    assert xlsx_sheets(table(columns)) == {"Rows": [["name", "n"]]}


# --- Interruption --------------------------------------------------------------------------------


def breaking() -> Iterator[Part]:
    random = Random(7)
    for _ in range(3):
        yield [[random.random() for _ in range(20_000)]]
    raise RuntimeError("the rest is gone")


def test_an_interrupted_workbook_is_unreadable() -> None:
    parts = xlsx.chunks(Table("weir_test", "Rows", [Column("n")], breaking()))
    got: list[bytes] = []
    with pytest.raises(RuntimeError):
        got.extend(parts)
    assert len(b"".join(got)) > 100_000
    with pytest.raises(BadZipFile):
        ZipFile(io.BytesIO(b"".join(got)))


def test_rows_that_are_not_read_are_not_requested() -> None:
    wanted: list[int] = []

    def parts() -> Iterator[Part]:
        for n in range(100):
            wanted.append(n)
            yield [[n] * 5_000]

    chunks = xlsx.chunks(Table("weir_test", "Rows", [Column("n")], parts()))
    for _ in range(3):
        next(chunks)
    chunks.close()
    assert len(wanted) <= 4


# --- Names ---------------------------------------------------------------------------------------


@cases(
    ("parts", "stem"),
    [
        (("FM-1", "a", "b"), "weir_FM-1_a_b"),
        (("../../etc/passwd", "raw"), "weir_etc-passwd_raw"),
        (('a"b\r\nc', "raw"), "weir_a-b-c_raw"),
        (("...", "raw"), "weir_raw"),
        (("CON", "raw"), "weir_CON_raw"),
    ],
)
def test_a_name_is_valid_on_every_file_system(parts: Sequence[str], stem: str) -> None:
    assert file_stem(*parts) == stem


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("weir_FM-1_raw.csv", 'attachment; filename="weir_FM-1_raw.csv"'),
        (
            "weir_水_raw.csv",
            "attachment; filename=\"weir_-_raw.csv\"; filename*=UTF-8''weir_%E6%B0%B4_raw.csv",
        ),
    ],
)
def test_the_header_has_the_name_in_ascii_and_in_full(name: str, header: str) -> None:
    assert disposition(name) == header
