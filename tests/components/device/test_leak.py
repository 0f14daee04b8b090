"""The leak KPI on a device's page: the finding's number and words."""

from __future__ import annotations

from typing import Any

import pytest

from api.client.findings import Finding
from api.metering.cost import DEFAULT_CURRENCY
from api.timez import DAY_MS, HOUR_MS
from components import finding_text
from components.device import kpis
from components.device.kpis import Leak
from components.directory_queries import Directory
from components.units import METRIC, US
from tests.tables import cases
from tests.world import ms

NOON = ms("2026-11-20T12:00:00Z")
NOWHERE = Directory(0, (), {}, None, ())


def leak(**fields: Any) -> Finding:
    whole = {
        "id": "f", "device_id": "d", "serial_number": "S", "kind": "continuous-flow",
        "severity": "critical", "state": "open", "start_ms": NOON - 6 * DAY_MS - 6 * HOUR_MS,
        "end_ms": None, "opened_ms": NOON - 5 * DAY_MS, "value": 54.4, "unit": "gal/h",
        "usual": None, "gallons": 8160.0, "cost_per_day": 15.67,
        "words": "Has not dropped below 54.4 gal/h since Sat 14 Nov, 06:00", **fields,
    }  # fmt: skip
    return Finding(**whole)


OVER = leak(state="closed", end_ms=NOON - 3 * DAY_MS)


@cases(
    ("result", "value", "note", "low"),
    [
        (Leak(leak()), "54.4 gal/h", "6 d 6 h · $15.67 a day", True),
        (Leak(leak(cost_per_day=None)), "54.4 gal/h", "for 6 d 6 h", True),
        (Leak(leak(state="dismissed", cost_per_day=None)), "54.4 gal/h", "dismissed · for 6 d 6 h",
         False),
        (Leak(OVER), "none", "the last one ended 3 d ago", False),
        (Leak(OVER, "set here"), "off", "set here", False),
        (Leak(None), "none", "nothing found so far", False),
        (None, "–", "not offered by this server", False),
    ],
)  # fmt: skip
def test_the_value_and_its_note(result: Leak | None, value: str, note: str, low: bool) -> None:
    kpi = kpis.leak(result, NOWHERE, US, NOON)
    assert (kpi.label, kpi.value, kpi.note, kpi.low) == ("Leak", value, note, low)


@pytest.mark.parametrize("units", [US, METRIC])
def test_it_has_the_findings_number_and_words(units: Any) -> None:
    finding = leak()
    kpi = kpis.leak(Leak(finding), NOWHERE, units, NOON)
    assert kpi.value == finding_text.how_much(finding, units)
    assert kpi.at.startswith(finding_text.sentence(finding, units))
    assert f"{units.volume(8160.0)} so far, at least" in kpi.at
    assert finding_text.cost(finding, NOWHERE) in kpi.note
    assert finding_text.currency(finding, NOWHERE) == DEFAULT_CURRENCY
    assert kpi.shows is not None
    assert kpi.shows.from_ms < finding.start_ms
