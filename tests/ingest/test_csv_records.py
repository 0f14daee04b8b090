"""One record per line: fast and slow readers agree, and quotes never span lines."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from api.ingest.csv_records import Unreadable, record, records
from tests.tables import cases

LINES = st.text(st.sampled_from('ab1 ,"\0é'), max_size=12)


@given(st.lists(LINES, max_size=8), st.booleans())
def test_a_piece_equals_its_lines_read_alone(lines: list[str], ended: bool) -> None:
    piece = "".join(line + "\n" for line in lines)
    results = list(records([piece if ended else piece.removesuffix("\n")]))
    alone = [record(line) for line in lines]
    assert results == [row for row in alone if row]
    assert [type(row) for row in results] == [type(row) for row in alone if row]


@given(st.lists(st.text(st.characters(exclude_characters="\r\n"), min_size=1), min_size=1))
def test_what_csv_writes_on_a_line_is_read_back(row: list[str]) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(row)
    assert list(records([written.getvalue()])) == [row]


@cases(
    ("line", "row"),
    [
        ('"a","b"', ["a", "b"]),
        ('"a ""b""",c', ['a "b"', "c"]),
        ('"a,b",""', ["a,b", ""]),
        ('"a" ,b', ["a ", "b"]),
        ('a"b",c', ['a"b"', "c"]),
        ('"a,b', Unreadable(('"a,b',))),
        ('a,"', Unreadable(('a,"',))),
        ('"a""', Unreadable(('"a""',))),
    ],
)
def test_quotes_end_with_their_line(line: str, row: list[str]) -> None:
    others = [["x", "y"]]
    assert list(records([f"x,y\n{line}\nx,y\n"])) == [*others, row, *others]
    assert list(records([f"x,y\n{line}", "x,y\n"])) == [*others, row, *others]
