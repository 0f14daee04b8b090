"""`flask readings`: import, what was refused, who has no clock."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from api.store.open import open_store
from tests.commands.conftest import CommandLine
from tests.store.fleet import NOON_MS, everything, reading

CSV = (
    "device,recorded_at,flow_rate\n"
    "M-1,2024-03-01T10:00:00Z,1\n"
    "M-2,2024-03-01T10:00:00Z,1\n"
    "M-3,2024-03-01T10:00:00Z,1\n"
    "M-1,2024-03-01T10:00:00Z,1\n"
)


def test_an_import_counts_what_it_did(weir: CommandLine, meters: str, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(CSV)
    first = weir.ask("readings", "import", path, "--org", meters)
    assert first == {"read": 4, "stored": 2, "repeated": 1, "refused": 1}
    again = weir.ask("readings", "import", path, "--org", meters)
    assert again == {"read": 4, "stored": 0, "repeated": 3, "refused": 1}


def test_several_files_are_one_answer(weir: CommandLine, meters: str, tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "b.csv.gz"
    plain.write_text(CSV)
    packed.write_bytes(gzip.compress(CSV.replace("10:00", "11:00").encode()))
    done = weir.ask("readings", "import", plain, packed, "--org", meters)
    assert done == {"read": 8, "stored": 4, "repeated": 2, "refused": 2}


def test_a_file_that_cannot_be_read_stops_before_the_first_is_begun(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    good, bad = tmp_path / "a.csv", tmp_path / "b.csv"
    good.write_text(CSV)
    bad.write_text("serial,time\n")
    assert "b.csv" in weir.error("readings", "import", good, bad, "--org", meters)
    assert weir.ask("readings", "import", good, "--org", meters)["stored"] == 2


def test_refusals_and_unknown_columns_are_mentioned(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    path.write_text(CSV.replace("flow_rate", "flow_rate,colour"))
    result = weir.run("readings", "import", path, "--org", meters)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        f"Warning: {path}: nothing is known of colour: ignored",
        "Warning: refused rows: 1; flask readings refused says why",
    ]
    assert result.stdout.split() == [
        *("read", "4"),
        *("stored", "2"),
        *("repeated", "1"),
        *("refused", "1"),
    ]


def test_what_was_refused_is_listed_with_its_reason(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    assert weir.ask("readings", "refused") == []
    path = tmp_path / "r.csv"
    path.write_text(CSV)
    weir.ask("readings", "import", path, "--org", meters)
    (found,) = weir.ask("readings", "refused", "--org", meters)
    assert (found["reason"], found["device"], found["count"]) == ("unknown device", "M-3", 1)
    assert (found["source"], found["sample"]) == ("file r.csv", "M-3,2024-03-01T10:00:00Z,1")
    other = weir.ask("orgs", "create", "Other")["id"]
    assert weir.ask("readings", "refused", "--org", other) == []
    assert "nobody" in weir.error("readings", "refused", "--org", "nobody")


@pytest.mark.parametrize("arguments", [(), ("nowhere.csv",)])
def test_a_file_must_be_named_and_there(
    weir: CommandLine, meters: str, arguments: tuple[str, ...]
) -> None:
    weir.error("readings", "import", *arguments, "--org", meters)


# --- Letting go ----------------------------------------------------------------------------------


MONTHS_APART = [f"2020-{month:02}-15T06:30:00Z" for month in range(1, 6)]


def test_devices_without_a_clock_are_listed(weir: CommandLine, meters: str) -> None:
    assert weir.ask("readings", "undated") == []
    store = open_store(weir.environ["WEIR_DATABASE"])
    [meter] = store.resolve(everything(meters), ["M-1"])
    assert meter is not None
    rows = [reading(meter, NOON_MS + n * 1_000, flow_rate=n) for n in range(3)]
    store.add(rows, undated=[row[:2] for row in rows[:2]])
    store.close()
    (found,) = weir.ask("readings", "undated", "--org", meters)
    assert found == {
        "device": "M-1",
        "count": 2,
        "first": "2026-03-08T12:00:00Z",
        "last": "2026-03-08T12:00:01Z",
        "organizationId": meters,
    }
    other = weir.ask("orgs", "create", "Other")["id"]
    assert weir.ask("readings", "undated", "--org", other) == []
    assert "nobody" in weir.error("readings", "undated", "--org", "nobody")


def test_old_raw_readings_go_by_whole_months(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    rows = [f"M-1,{instant},{n}" for n, instant in enumerate(MONTHS_APART)]
    file = tmp_path / "old.csv"
    file.write_text("\n".join(["device,recorded_at,flow_rate", *rows]))
    assert weir.ask("readings", "import", file, "--org", meters)["stored"] == len(rows)
    told = weir.ask("readings", "prune", "--older-than", "24", "--pretend")
    assert told["gone"] == len(rows) - 1  # the device's last hour stays, however old
    assert weir.ask("readings", "prune", "--older-than", "24") == told
    assert weir.ask("readings", "prune", "--older-than", "24")["gone"] == 0
    assert weir.ask("rollups", "verify")["wrong"] == 0
    assert weir.ask("readings", "import", file, "--org", meters)["refused"] == len(rows)


def test_a_policy_says_how_many_months_are_kept(flask: CommandLine) -> None:
    flask.ask("db", "upgrade")
    assert "WEIR_RAW_MONTHS" in flask.error("readings", "prune")
    flask.environ["WEIR_RAW_MONTHS"] = "12"
    assert flask.ask("readings", "prune")["gone"] == 0
