"""The command line over a store distributed on a Citus cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.catalog import DAY_MS, HOUR_MS
from api.store.retention import months_before
from api.store.tables import TIME_SERIES
from api.timez import floor_to, now_ms, stamp
from tests import citus
from tests.commands.conftest import CommandLine

NOW_MS = floor_to(now_ms(), HOUR_MS)
DAYS = 100


@pytest.fixture(params=["citus"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> CommandLine:
    """The command line over a distributed store with the meters M-0 to M-4 of acme."""
    if not citus.COORDINATOR:
        pytest.skip("WEIR_TEST_CITUS names no database on a Citus coordinator")
    url = str(request.getfixturevalue("citus_url"))
    weir = CommandLine({"WEIR_DATABASE": url, "WEIR_INSTANCE": str(tmp_path / "instance")})
    weir.ask("db", "upgrade")
    weir.ask("orgs", "create", "Acme", "--id", "acme")
    devices = tmp_path / "devices.json"
    devices.write_text(json.dumps([{"serialNumber": f"M-{n}"} for n in range(5)]))
    weir.ask("devices", "import", devices, "--org", "acme")
    body = weir.ask("db", "distribute", "--shards", str(citus.SHARDS))["spread"]
    assert {table.name for table in TIME_SERIES} <= set(body)
    return weir


def daily(folder: Path, *strangers: str) -> Path:
    """A file with one reading a day of each meter, up to now, and one of each unknown device."""
    lines = ["device,recorded_at,flow_amount"]
    lines += [f"M-{n},{stamp(NOW_MS - d * DAY_MS)},{d}" for n in range(5) for d in range(DAYS)]
    path = folder / "readings.csv"
    path.write_text("\n".join([*lines, *(f"{s},{stamp(NOW_MS)},1" for s in strangers)]))
    return path


def test_a_file_is_imported_once_and_its_rollups_are_right(
    cluster: CommandLine, tmp_path: Path
) -> None:
    file = daily(tmp_path, "nobody")
    body = cluster.ask("readings", "import", file, "--org", "acme", "--allow-refused")
    assert (body["stored"], body["refused"]) == (5 * DAYS, 1)
    (refused,) = cluster.ask("readings", "refused", "--org", "acme")
    assert refused["device"] == "nobody"
    again = daily(tmp_path, "nobody", "nobody")
    done = cluster.ask("readings", "import", again, "--org", "acme", "--allow-refused")
    assert done["stored"] == 0
    verdict = cluster.ask("rollups", "verify")
    assert (verdict["buckets"], verdict["wrong"]) == (5 * DAYS * 5, 0)


def test_old_readings_are_deleted_and_rollups_stay(cluster: CommandLine, tmp_path: Path) -> None:
    cluster.ask("readings", "import", daily(tmp_path), "--org", "acme")
    limit_ms = months_before(now_ms(), 2)
    old = 5 * sum(NOW_MS - d * DAY_MS < limit_ms for d in range(DAYS))
    for pretend, gone in ((["--pretend"], old), ([], old), ([], 0)):
        assert cluster.ask("readings", "prune", "--older-than", "2", *pretend)["gone"] == gone
    assert cluster.ask("rollups", "verify")["wrong"] == 0


def test_keys_and_embeds_are_not_distributed(cluster: CommandLine) -> None:
    key = cluster.ask("keys", "create", "--org", "acme")["keyId"]
    assert [k["keyId"] for k in cluster.ask("keys", "list")] == [key]
    cluster.ask("keys", "revoke", key)
    assert cluster.ask("db", "upgrade")["before"] == cluster.ask("db", "upgrade")["now"]
    assert cluster.ask("db", "distribute") == {"spread": []}


def test_a_distributed_store_cannot_be_partitioned(cluster: CommandLine) -> None:
    assert "partition before distributing" in cluster.error("db", "partition")
