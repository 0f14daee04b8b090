"""Units that differ from row to row, and registers that no meter can have."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.ingest.foreign.guess_mapping import guess
from api.ingest.foreign.mapping import Mapping
from api.ingest.foreign.preview import Preview, preview
from api.timez import now_ms
from tests.tables import cases

GALLONS = 264.172052358  # of a cubic metre
UNITS = ("m3", "L", "m3", "litres")


def previewed(path: Path, mapping: Mapping) -> Preview:
    return preview(path, mapping.changed("zone", "UTC"), {}, now_ms())


def hourly(path: Path, heading: str, *rows: str) -> Path:
    lines = [
        f"M-1,2025-10-{1 + hour // 24:02}T{hour % 24:02}:00:00Z,{row}\n"
        for hour, row in enumerate(rows)
    ]
    path.write_text(f"meter,time,{heading}\n{''.join(lines)}")
    return path


def volumes(unit: str, hour: int) -> str:
    return f"{1000 * (hour % 5) if unit in ('L', 'litres') else hour % 5},{unit}"


def counts(unit: str, hour: int) -> str:
    return f"{1000 * (hour + 7) if unit in ('L', 'litres') else hour + 7},{unit}"


@cases(
    ("heading", "rows", "metric", "expected"),
    [
        (
            "volume,unit",
            [volumes(UNITS[h % 4], h) for h in range(24)],
            "flow_amount",
            [h % 5 * GALLONS for h in range(24)],
        ),
        (
            "reading,unit",
            [counts(UNITS[h % 4], h) for h in range(48)],
            "flow_amount",
            [GALLONS] * 47,
        ),
        (
            "value,uom",
            ["60,l/h", "3,m3", "0.06,m3/h", "3000,L"] * 6,
            "flow_rate",
            [GALLONS / 1000] * 12,
        ),
        (
            "flow,flow_unit,volume,volume_unit",
            ["60,l/h,1,m3", "0.06,m3/h,1000,L"] * 12,
            "flow_rate",
            [GALLONS / 1000] * 24,
        ),
    ],
)
def test_each_row_has_its_own_unit(
    heading: str, rows: list[str], metric: str, expected: list[float], tmp_path: Path
) -> None:
    path = hourly(tmp_path / "units.csv", heading, *rows)
    seen = previewed(path, guess(path).mapping.changed("interval_s", "0"))
    assert seen.refused == []
    given = [row.values[metric] for row in seen.readings if metric in row.values]
    assert given == pytest.approx(expected)


def test_a_unit_that_changes_below_the_sample_is_converted(tmp_path: Path) -> None:
    path = hourly(tmp_path / "late.csv", "volume,unit", *["1,m3"] * 24)
    mapping = guess(path).mapping
    hourly(path, "volume,unit", *["1,m3"] * 12, *["1000,L"] * 11, "7,")
    amounts = [row.values["flow_amount"] for row in previewed(path, mapping).readings]
    assert amounts == pytest.approx([GALLONS] * 23 + [7 * GALLONS])
    one = mapping.changed("column.volume.unit", "L")
    first = previewed(path, one).readings[0]
    assert first.values["flow_amount"] == pytest.approx(GALLONS / 1000)


def test_a_register_with_marks_for_faults_is_a_register(tmp_path: Path) -> None:
    rows = [f"{hour + 7}" if hour % 30 else "-999" for hour in range(1, 73)]
    path = hourly(tmp_path / "faults.csv", "reading", *rows)
    mapping = guess(path).mapping
    assert mapping.columns[2].values == "register"
    assert sum(refused.count for refused in previewed(path, mapping).refused) == 2


@cases(
    ("heading", "row", "reason"),
    [
        ("volume,unit", "1,bushel", "volume has an unknown unit"),
        ("volume,unit", "1,°C", "volume has an unknown unit"),
        ("volume,unit", "x,L", "volume is not a number"),
        ("register,unit", "-1,L", "register is negative, and a register counts up from 0"),
        ("register", "-0.5", "register is negative, and a register counts up from 0"),
        ("register", "1e16", "register is beyond 1,000,000,000,000,000"),
    ],
)
def test_what_cannot_be_is_refused(heading: str, row: str, reason: str, tmp_path: Path) -> None:
    unit = ",m3" if "," in heading else ""
    good = [f"{hour + 7}{unit}" for hour in range(30)]
    if unit:
        good[3] = "10000,L"
    path = hourly(tmp_path / "bad.csv", heading, *good, row)
    name = heading.split(",")[0]
    values = "register" if name == "register" else "amount"
    mapping = guess(path).mapping.changed(f"column.{name}.values", values)
    seen = previewed(path, mapping)
    assert [(refused.reason, refused.count) for refused in seen.refused] == [(reason, 1)]
    assert len(seen.readings) == 30


@cases(
    ("setting", "value", "problem"),
    [
        ("column.volume.unit_column", "nothing", "there is no column of units"),
        ("column.time.unit_column", "unit", "unit_column is for water"),
        ("layout", "wide", "unit_column is for water"),
    ],
)
def test_a_column_of_units_must_fit(setting: str, value: str, problem: str, tmp_path: Path) -> None:
    path = hourly(tmp_path / "units.csv", "volume,unit", *["1,m3", "5,L"] * 12)
    changed = guess(path).mapping
    assert changed.columns[2].unit_column == "unit"
    columns = "unit_column" in setting
    mapping = changed.changed(setting, value)
    if columns and "time" in setting:
        assert mapping.columns[1].unit_column == ""  # only water has units of its own
        return
    with pytest.raises(ValueError, match=problem):
        mapping.check()
