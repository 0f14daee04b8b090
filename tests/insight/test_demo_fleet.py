"""Findings of the demo fleet: one of each kind that a month can show, and none for healthy
mains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from api.ingest.batch import Columns
from api.ingest.demo.fleet import (
    COST_PER_GALLON,
    FLEET,
    Character,
    Condition,
    Pattern,
    device,
)
from api.ingest.demo.meter import last_instant, readings
from api.insight.findings import (
    Device,
    Finding,
    HourRow,
    Minute,
    RegisterFall,
    evaluate,
    settings_of,
)
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, parse_instant, zone
from tests.tables import cases

ORIGIN = parse_instant("2026-11-22T10:17:00Z")
SHOWN = {
    Condition.LEAKING: "continuous-flow",
    Condition.BURST: "burst",
    Condition.NIGHT_FLOW: "night-flow-step",
    Condition.HIGH_FLOW: "high-flow",
    Condition.UNUSUAL_DAY: "unusual-day",
    Condition.NO_USE: "no-use",
    Condition.STUCK: "stuck",
    Condition.BACKWARDS: "backwards",
    Condition.SILENT: "silent",
    Condition.DEGRADED: "missing-data",
    Condition.LOW_QUALITY: "low-quality",
    Condition.WEAK_SIGNAL: "weak-signal",
    Condition.FROST: "frost",
}
RECENT_MS = 7 * DAY_MS


class Sent:
    """`api.insight.findings.Readings` from what a demo meter sent."""

    def __init__(self, columns: Columns, coverage_of_one: float) -> None:
        instants = columns.instants
        rate, _, amount, quality, signal, _, celsius = columns.values
        self._minutes, first = np.unique(instants // MINUTE_MS * MINUTE_MS, return_index=True)
        counts = np.diff(np.append(first, len(instants)))
        self._rates = np.add.reduceat(rate, first) / counts
        starts, first = np.unique(instants // HOUR_MS * HOUR_MS, return_index=True)
        counts = np.diff(np.append(first, len(instants)))

        def mean(values: np.ndarray) -> list[float]:
            return (np.add.reduceat(values, first) / counts).tolist()

        self._rows = [
            HourRow(*row)
            for row in zip(
                starts.tolist(),
                np.add.reduceat(amount, first).tolist(),
                np.minimum(counts * coverage_of_one, 1.0).tolist(),
                np.minimum.reduceat(rate, first).tolist(),
                np.maximum.reduceat(rate, first).tolist(),
                mean(quality),
                mean(signal),
                np.minimum.reduceat(celsius, first).tolist(),
                strict=True,
            )
        ]

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        return [row for row in self._rows if from_ms is None or row.start_ms >= from_ms]

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        low, high = np.searchsorted(self._minutes, [from_ms, to_ms])
        pairs = zip(self._minutes[low:high].tolist(), self._rates[low:high].tolist(), strict=True)
        return [Minute(*pair) for pair in pairs]

    def register_falls(self, from_ms: int, to_ms: int) -> Sequence[RegisterFall]:
        return ()


def findings(one: Character) -> tuple[Finding, ...]:
    meter = one.meter
    until = last_instant(one, ORIGIN, ORIGIN)
    columns = readings(one, 1, ORIGIN, ORIGIN - meter.history_ms, until)
    events = meter.pattern is Pattern.EVENTS
    sent = Sent(columns, 1.0 if events else meter.cadence_s / 3600)
    config = device(one, ORIGIN).fields.get("config", {})
    facts = Device(zone(meter.site.time_zone), meter.cadence_s, COST_PER_GALLON)
    return evaluate(facts, settings_of(config), None, sent, now_ms=ORIGIN).findings


@pytest.mark.parametrize("fate", SHOWN, ids=str)
def test_each_problem_has_one_finding(fate: Condition) -> None:
    """Open or recently ended, and once: not a row of short ones."""
    one = next(each for each in FLEET if each.meter.condition is fate)
    (finding,) = [each for each in findings(one) if each.kind == SHOWN[fate]]
    assert finding.end_ms is None or finding.end_ms >= ORIGIN - RECENT_MS


@cases("label", ["Harbor main", "Lakeview main", "Mesa main", "Works main", "Main supply"])
def test_healthy_mains_raise_none(label: str) -> None:
    one = next(each for each in FLEET if each.meter.label == label)
    assert one.meter.condition is Condition.HEALTHY
    assert [each.words for each in findings(one)] == []
