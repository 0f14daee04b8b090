"""A leak added to a real district's readings is found, end to end: files, commands, the service."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from api.client import Client, Credential
from api.server import create_service
from api.settings import Settings
from api.store.open import open_store
from api.timez import DAY_MS, HOUR_MS, parse_instant
from benchmarks.meters import DATA
from tests.commands.conftest import CommandLine

DISTRICT = "BWDF-DMA02"
DAYS, BEGINS_DAY = 150, 120
SHARE = 0.4  # of the mean inflow, at its peak
GAL_PER_M3 = 264.172

# Real meters are not part of the project: their tests run where the folder is.
pytestmark = pytest.mark.skipif(
    not (DATA / "battledim_leaks.csv.gz").exists(), reason="the folder with real meters isn't there"
)


def rows_of_district() -> list[dict[str, str]]:
    with gzip.open(DATA / "bwdf_dma01_06.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["device"] == DISTRICT]
    first = parse_instant(rows[0]["recorded_at"])
    return [row for row in rows if parse_instant(row["recorded_at"]) < first + DAYS * DAY_MS]


def leak() -> list[float]:
    """The first abrupt leak, in gallons an hour."""
    with gzip.open(DATA / "battledim_leaks.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "abrupt"]
    return [
        float(row["outflow_m3_h"]) * GAL_PER_M3 for row in rows if row["leak"] == rows[0]["leak"]
    ]


def test_an_abrupt_leak_is_found_within_a_day(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'weir.sqlite'}"
    environ = {"WEIR_DATABASE": url, "WEIR_INSTANCE": str(tmp_path)}
    flask = CommandLine(environ)
    flask.ask("db", "upgrade")
    org = flask.ask("orgs", "create", "Real", "--cost-per-gallon", "0.01")["id"]
    devices = [
        each
        for each in json.loads((DATA / "bwdf_dma01_06.devices.json").read_text())
        if each["serialNumber"] == DISTRICT
    ]
    (tmp_path / "devices.json").write_text(json.dumps(devices))
    flask.ask("devices", "import", tmp_path / "devices.json", "--org", org)
    rows = rows_of_district()
    begins_ms = parse_instant(rows[0]["recorded_at"]) + BEGINS_DAY * DAY_MS
    messages = [float(row["flow_amount"]) for row in rows if row["flow_amount"]]
    water = leak()
    scale = SHARE * sum(messages) / len(messages) / max(water)
    for row in rows:
        hour = (parse_instant(row["recorded_at"]) - begins_ms) // HOUR_MS
        if 0 <= hour < len(water) and row["flow_amount"]:
            row["flow_amount"] = str(float(row["flow_amount"]) + scale * water[hour])
    with (tmp_path / "readings.csv").open("w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    flask.ask("readings", "import", tmp_path / "readings.csv", "--org", org)
    assert flask.ask("insight", "run")["devices"] == 1
    assert flask.ask("insight", "verify") == {"devices": 1, "wrong": 0}
    key = flask.ask("keys", "create", "--org", org)["key"]
    store = open_store(url, read_only=True)
    client = Client.in_process(
        create_service(store, Settings.from_env(environ)), Credential.key(key)
    )
    reply = client.findings(device=DISTRICT, kinds=["burst"], from_ms=begins_ms).findings
    since = [each for each in reply if each.start_ms >= begins_ms - HOUR_MS]
    assert since, reply
    first = min(since, key=lambda each: each.opened_ms)
    assert first.opened_ms <= begins_ms + DAY_MS
    assert first.severity == "critical"
    assert client.finding(first.id).series
    store.close()
