"""Files in the layouts of real sources are read with at most one correction, to the last gallon."""

from __future__ import annotations

import gzip
import zipfile
from collections import defaultdict
from io import BytesIO
from pathlib import Path

import pytest

from api.errors import UserError
from api.ingest.foreign.guess_mapping import Guess, guess
from api.ingest.foreign.mapping import Mapping, Mappings
from api.ingest.foreign.preview import preview
from api.timez import HOUR_MS, now_ms, parse_instant
from tests.ingest.foreign import (
    layouts,
    more_layouts,
    office_layouts,
    portal_layouts,
    system_layouts,
    vendor_layouts,
)
from tests.ingest.foreign.layout_files import LayoutCase, written
from tests.tables import cases

CASES = (
    *layouts.CASES,
    *more_layouts.CASES,
    *vendor_layouts.CASES,
    *office_layouts.CASES,
    *portal_layouts.CASES,
    *system_layouts.CASES,
)


def mapped(case: LayoutCase, path: Path) -> Mapping:
    result = guess(path).mapping
    if case.correction:
        name, _, value = case.correction.partition("=")
        result = result.changed(name, value)
    return result


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_layout_needs_at_most_one_correction(case: LayoutCase, tmp_path: Path) -> None:
    path = written(case, tmp_path)
    seen = preview(path, mapped(case, path), {}, now_ms())
    totals: defaultdict[str, float] = defaultdict(float)
    for row in seen.readings:
        totals[row.device] += row.values.get("flow_amount", 0.0)
    assert sum(refused.count for refused in seen.refused) == case.refused
    assert dict(totals) == {device: pytest.approx(total) for device, total in case.gallons.items()}
    first = min(row.recorded_ms for row in seen.readings)
    assert parse_instant(case.first) <= first <= parse_instant(case.first) + HOUR_MS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_needed_correction_is_reported(case: LayoutCase, tmp_path: Path) -> None:
    unsure = guess(written(case, tmp_path)).unsure
    if case.correction:
        assert case.correction.partition("=")[0] in unsure


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_saved_mapping_is_the_same(case: LayoutCase, tmp_path: Path) -> None:
    result = mapped(case, written(case, tmp_path))
    mappings = Mappings(tmp_path)
    mappings.save("a file", result)
    assert mappings.names() == ["a file"]
    assert mappings.load("a file") == result.check()


def test_a_workbook_needs_a_mapping_of_one(tmp_path: Path) -> None:
    text, book = (next(c for c in CASES if c.name == name) for name in ("ready.csv", "Inflow.xlsx"))
    mapping = mapped(text, written(text, tmp_path))
    with pytest.raises(UserError, match="is a workbook"):
        preview(written(book, tmp_path), mapping, {}, now_ms())


def test_weirs_own_form_needs_no_correction(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    rows = "".join(f"M-1,2025-10-01T{hour:02}:00:00Z,{hour % 3}.5\n" for hour in range(24))
    path.write_text(f"device,recorded_at,flow_amount\n{rows}")
    assert guess(path) == Guess(guess(path).mapping, {}, guess(path).rows)
    assert guess(path).mapping.columns[2].unit == "gal"


def _zip_of(count: int) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for number in range(count):
            packed.writestr(f"{number}.csv", "a,b\n1,2\n")
    return file.getvalue()


@cases(
    ("name", "content", "problem"),
    [
        ("usage.csv", b"%PDF-1.7\n%\xe2\xe3", "is a PDF"),
        ("usage.csv", b"\x89PNG\r\n\x1a\n\0\0", "is a picture"),
        ("photo.csv", b"\xff\xd8\xff\xe0\0\x10JFIF", "is a picture"),
        ("usage.csv", bytes(range(256)) * 40, "is not text"),
        ("usage.csv", b"", "is empty"),
        ("usage.csv", b" \r\n\r\n", "is empty"),
        ("usage.csv", b"meter,time,litres\n", "has no rows below its header"),
        ("usage.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as XLSX"),
        ("usage.xls", b"<html><table><tr><td>1</td></tr></table>", "is XML or HTML"),
        ("usage.json", b'{"a": [1, 2', "is not valid JSON"),
        ("usage.json", b"[1, 2, 3]", "has no table"),
        ("usage.json", b"[" * 5000, "is not valid JSON"),
        ("usage.zip", _zip_of(2), "holds 2 files"),
        ("usage.zip", _zip_of(1)[:60], "can't be"),
        ("usage.csv.gz", gzip.compress(b"a,b\n" * 50_000)[:40], "can't be read"),
        ("usage.csv.gz", gzip.compress(bytes(50_000_000)), "is not text"),
    ],
)
def test_what_is_no_table_is_named(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=problem):
        guess(path)


@cases(
    ("text", "problem"),
    [
        ("litres\n1\n2\n3\n", "no column is the time"),
        ("time\n2025-10-01T00:00:00Z\n", "no column is a measurement"),
        (",".join(f"c{n}" for n in range(200)) + "\n" + ",".join("x" * 200) + "\n", "the time"),
    ],
)
def test_a_table_of_no_readings_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=problem):
        guess(path).mapping.check()


def test_hours_of_a_day_begin_when_they_begin(tmp_path: Path) -> None:
    """Hour ending 1 is the hour from midnight, and so is an amount whose time is its end, 01:00."""
    for case in more_layouts.CASES:
        if case.name in ("hour_ending.csv", "stunden.csv", "ends.csv", "hours.csv"):
            path = written(case, tmp_path)
            rows = preview(path, mapped(case, path), {}, now_ms()).readings
            start_ms = parse_instant("2025-10-01T00:00:00Z")
            assert [row.recorded_ms for row in rows] == [start_ms + n * HOUR_MS for n in range(96)]
            assert {row.values["flow_duration"] for row in rows} == {3600.0}
