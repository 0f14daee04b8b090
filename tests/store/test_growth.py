"""A new metric or resolution is one row in the catalog; a store needs nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from api.store.base import Device, ReadingRow, Store
from tests.store.fleet import NOON_MS, new_meters, reading

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

from api.store.base import DeviceQuery, LatestQuery, Span
from api.store.open import open_store
from tests.store.fleet import NOON_MS, everything, new_meters, steady
from tests.store.test_growth import by_name
from tests.store.recomputed import assert_same_rows, rolled

assert [r.name for r in catalog.STORED] == ["1min", "5min", "10min", "30min", "1hour"]
store = open_store(sys.argv[1])
old = store.upgrade()[0] > 0
if old:
    (device,) = store.devices(everything("acme"), DeviceQuery())
    kept = [row[1:] for row in by_name(device)]
    for resolution in catalog.STORED:
        found = store.rows(device, resolution, Span(), limit=10_000)
        assert_same_rows(found, rolled(kept, resolution))
        assert store.count(device, resolution, Span(NOON_MS, None)) == len(found)
    assert store.verify().wrong == 0
(device,) = new_meters(store, 1, "grown")
rows = steady(device, 500, step_ms=7 * 60_000)
store.write(rows[250:])
store.write(rows)
for resolution in catalog.STORED:
    found = store.rows(device, resolution, Span(), limit=10_000)
    assert_same_rows(found, rolled([row[1:] for row in rows], resolution))
    assert store.count(device, resolution, Span(NOON_MS + 5, None)) <= len(found)
    assert len(found[0]) == 1 + len(catalog.AGGREGATES)
last = store.latest([device], LatestQuery(Span(), last=True))[device.key].last
assert last == rows[-1][1:]
assert store.verify().wrong == 0
print("grown")
"""


def by_name(device: Device) -> list[ReadingRow]:
    """The same readings for any set of metrics."""
    return [
        reading(device, NOON_MS + index * 90_000, flow_rate=float(index), quality=50.0 - index)
        for index in range(100)
    ]


def run_grown(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, url],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "grown\n", done.stderr


def test_a_new_store_has_the_new_columns_and_tables(store_url: str) -> None:
    run_grown(store_url)


def test_an_older_store_gets_them_at_its_next_upgrade(empty_store: Store, store_url: str) -> None:
    (device,) = new_meters(empty_store, 1)
    empty_store.write(by_name(device))
    empty_store.close()
    run_grown(store_url)
