"""Adding a metric or a resolution is a row in the catalog and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys, types
from pathlib import Path

PRESSURE = 'PRESSURE: Final = Metric("pressure", "pressure", "Pressure", "bar")'

import api

path = Path("api/catalog.py")
source = path.read_text("utf-8")
for before, after in (
    ("    ONBOARD_TEMPERATURE,\\n)", "    ONBOARD_TEMPERATURE,\\n    PRESSURE,\\n)"),
    ("METRICS: Final", PRESSURE + "\\nMETRICS: Final"),
    ('    _stored("1hour"', '    _stored("30min", "30 min", 30),\\n    _stored("1hour"'),
):
    assert source.count(before) >= 1, before
    source = source.replace(before, after, 1)
catalog = types.ModuleType("api.catalog")
sys.modules["api.catalog"] = api.catalog = catalog
exec(compile(source, str(path), "exec"), catalog.__dict__)

from api.store.base import LatestQuestion, Span
from api.store.open import open_store
from tests.store.fleet import NOON_MS, new_meters, steady
from tests.store.recomputed import assert_same_rows, rolled

assert [r.name for r in catalog.STORED] == ["1min", "5min", "10min", "30min", "1hour"]
store = open_store(f"sqlite:///{sys.argv[1]}")
store.upgrade()
(device,) = new_meters(store, 1)
rows = steady(device, 500, step_ms=7 * 60_000)
store.write(rows[250:])
store.write(rows)
for resolution in catalog.STORED:
    found = store.rows(device, resolution, Span(), limit=10_000)
    assert_same_rows(found, rolled([row[1:] for row in rows], resolution))
    assert store.count(device, resolution, Span(NOON_MS + 5, None)) <= len(found)
    assert len(found[0]) == 1 + len(catalog.AGGREGATES)
last = store.latest([device], LatestQuestion(Span(), last=True))[device.key].last
assert last == rows[-1][1:]
assert store.verify().wrong == 0
print("grown")
"""


def test_a_metric_and_a_resolution_are_one_row_each(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "weir.sqlite")],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "grown\n", done.stderr
