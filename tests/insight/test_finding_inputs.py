"""What findings read: a meter that reports seldom misses nothing, and a spread gap is a silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.insight.finding_evaluator import Evaluator
from api.store.base import FindingQuery, RegisterRow
from api.store.sqlite import SqliteStore
from api.timez import HOUR_MS, MINUTE_MS
from tests.store.fleet import NOON_MS, everything, new_meters, reading


@pytest.mark.parametrize("hours", [2, 3, 4, 5, 8])
def test_a_meter_that_reports_every_few_hours_misses_nothing(tmp_path: Path, hours: int) -> None:
    store = SqliteStore(str(tmp_path / "weir.sqlite"))
    store.upgrade()
    (device,) = new_meters(store, 1)
    times = range(NOON_MS, NOON_MS + 480 * HOUR_MS, hours * HOUR_MS)
    store.write([reading(device, at, flow_amount=5.0 + at % 7, flow_rate=0.1) for at in times])
    Evaluator(store).up_to_date(key=device.key)
    scope = everything(device.organization_id)
    rows = store.findings(scope, FindingQuery(device=device, limit=100))
    assert [each.finding.kind for each in rows if each.finding.kind != "continuous-flow"] == []


@pytest.mark.parametrize("start_min", [0, 15, 50])
def test_a_spread_gap_is_one_silence(tmp_path: Path, start_min: int) -> None:
    store = SqliteStore(str(tmp_path / "weir.sqlite"))
    store.upgrade()
    (device,) = new_meters(store, 1)
    quarter_ms = 15 * MINUTE_MS
    first_ms = NOON_MS + start_min * MINUTE_MS
    steps = [step for step in range(480) if not 200 < step < 244]  # eleven hours without a register
    registers = [
        RegisterRow(device.key, first_ms + step * quarter_ms, step / 100, "m3") for step in steps
    ]
    store.write([], registers=registers)
    Evaluator(store).up_to_date(key=device.key)
    rows = store.findings(everything(device.organization_id), FindingQuery(device=device, limit=50))
    silences = [each.finding for each in rows if each.finding.kind == "silent"]
    assert [(each.start_ms - first_ms, (each.end_ms or 0) - first_ms) for each in silences] == [
        (200 * quarter_ms, 244 * quarter_ms)
    ]
