"""Files as real sources lay them out are read with at most one correction, to the last gallon."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from api.ingest.foreign.guess_mapping import Guess, guess
from api.ingest.foreign.mapping import Mapping, Mappings
from api.ingest.foreign.preview import preview
from api.timez import HOUR_MS, now_ms, parse_instant
from tests.ingest.foreign.layouts import CASES, LayoutCase, written


def mapped(case: LayoutCase, path: Path) -> Mapping:
    found = guess(path).mapping
    if case.correction:
        name, _, value = case.correction.partition("=")
        found = found.changed(name, value)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_layout_needs_at_most_one_correction(case: LayoutCase, tmp_path: Path) -> None:
    path = written(case, tmp_path)
    seen = preview(path, mapped(case, path), {}, now_ms())
    totals: defaultdict[str, float] = defaultdict(float)
    for row in seen.readings:
        totals[row.device] += row.values.get("flow_amount", 0.0)
    assert seen.refused == []
    assert dict(totals) == {device: pytest.approx(total) for device, total in case.gallons.items()}
    first = min(row.recorded_ms for row in seen.readings)
    assert parse_instant(case.first) <= first <= parse_instant(case.first) + HOUR_MS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_needs_correction_is_told(case: LayoutCase, tmp_path: Path) -> None:
    unsure = guess(written(case, tmp_path)).unsure
    if case.correction:
        assert case.correction.partition("=")[0] in unsure


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_saved_mapping_is_the_same(case: LayoutCase, tmp_path: Path) -> None:
    found = mapped(case, written(case, tmp_path))
    mappings = Mappings(tmp_path)
    mappings.save("a file", found)
    assert mappings.names() == ["a file"]
    assert mappings.load("a file") == found.check()


def test_weirs_own_form_is_sure(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    rows = "".join(f"M-1,2025-10-01T{hour:02}:00:00Z,{hour % 3}.5\n" for hour in range(24))
    path.write_text(f"device,recorded_at,flow_amount\n{rows}")
    assert guess(path) == Guess(guess(path).mapping, {}, guess(path).rows)
    assert guess(path).mapping.columns[2].unit == "gal"
