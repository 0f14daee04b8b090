"""`weir readings`: imports, refused rows, devices without a clock."""

from __future__ import annotations

import gzip
import json
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


def test_an_import_counts_its_rows(weir: CommandLine, meters: str, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(CSV)
    first = weir.ask("readings", "import", path, "--org", meters, "--allow-refused")
    assert first == {"read": 4, "stored": 2, "repeated": 1, "refused": 1}
    again = weir.ask("readings", "import", path, "--org", meters, "--allow-refused")
    assert again == {"read": 4, "stored": 0, "repeated": 3, "refused": 1}


def test_several_files_give_one_result(weir: CommandLine, meters: str, tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "b.csv.gz"
    plain.write_text(CSV)
    packed.write_bytes(gzip.compress(CSV.replace("10:00", "11:00").encode()))
    done = weir.ask("readings", "import", plain, packed, "--org", meters, "--allow-refused")
    assert done == {"read": 8, "stored": 4, "repeated": 2, "refused": 2}


def test_an_unreadable_file_stops_the_import_before_the_first_file(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    good, bad = tmp_path / "a.csv", tmp_path / "b.csv"
    good.write_text(CSV)
    bad.write_text("serial,time\n")
    assert "b.csv" in weir.error("readings", "import", good, bad, "--org", meters)
    done = weir.ask("readings", "import", good, "--org", meters, "--allow-refused")
    assert done["stored"] == 2


def test_refusals_and_unknown_columns_are_mentioned(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    path.write_text(CSV.replace("flow_rate", "flow_rate,colour"))
    result = weir.run("readings", "import", path, "--org", meters)
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        f"Warning: {path}: unknown columns are ignored: colour",
        "Warning: refused rows: 1; see weir readings refused",
    ]
    assert result.stdout.split() == [
        *("read", "4"),
        *("stored", "2"),
        *("repeated", "1"),
        *("refused", "1"),
    ]


def test_refused_rows_are_listed_with_their_reason(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    assert weir.ask("readings", "refused") == []
    path = tmp_path / "r.csv"
    path.write_text(CSV)
    weir.ask("readings", "import", path, "--org", meters, "--allow-refused")
    (result,) = weir.ask("readings", "refused", "--org", meters)
    assert (result["reason"], result["device"], result["count"]) == ("unknown device", "M-3", 1)
    assert (result["source"], result["sample"]) == ("file r.csv", "M-3,2024-03-01T10:00:00Z,1")
    other = weir.ask("orgs", "create", "Other")["id"]
    assert weir.ask("readings", "refused", "--org", other) == []
    assert "nobody" in weir.error("readings", "refused", "--org", "nobody")


@pytest.mark.parametrize("arguments", [(), ("nowhere.csv",)])
def test_a_file_must_be_given_and_exist(
    weir: CommandLine, meters: str, arguments: tuple[str, ...]
) -> None:
    weir.error("readings", "import", *arguments, "--org", meters)


# --- Exit status ---------------------------------------------------------------------------------


def rows(good: int, unknown: int, minute: int = 0) -> str:
    stamps = [f"2024-03-01T10:{minute:02}:{n % 60:02}.{n // 60:03}Z" for n in range(good)]
    return "".join(
        ["device,recorded_at,flow_rate\n"]
        + [f"M-1,{stamp},1\n" for stamp in stamps]
        + ["M-3,2024-03-01T10:00:00Z,1\n"] * unknown
    )


@pytest.mark.parametrize(
    ("good", "unknown", "options", "status"),
    [
        (3, 0, (), 0),
        (99, 1, (), 0),  # 1 % exactly
        (98, 2, (), 3),
        (98, 2, ("--allow-refused",), 0),
        (0, 2, (), 1),
        (0, 2, ("--allow-refused",), 1),
        (0, 0, (), 1),  # a heading alone
    ],
)
def test_the_exit_status_of_an_import(
    weir: CommandLine,
    meters: str,
    tmp_path: Path,
    good: int,
    unknown: int,
    options: tuple[str, ...],
    status: int,
) -> None:
    path = tmp_path / "r.csv"
    path.write_text(rows(good, unknown))
    for _ in range(2):  # the second time its rows are repeats, which isn't a failure
        done = weir.run("readings", "import", path, "--org", meters, "--json", *options)
        assert done.exit_code == status
        assert json.loads(done.stdout)["refused"] == unknown


def test_columns_are_recognized_in_any_letter_case(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    path.write_text(CSV.replace("device,recorded_at,flow_rate", "Device,RECORDEDAT,Flow_Rate"))
    done = weir.ask("readings", "import", path, "--org", meters, "--allow-refused")
    assert (done["stored"], done["repeated"], done["refused"]) == (2, 1, 1)


def test_a_mistyped_column_is_reported_with_a_suggestion(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("device,recorded_at,quality,flow_rte\nM-1,2024-03-01T10:00:00Z,1,2\n")
    output = weir.run("readings", "import", path, "--org", meters).stderr
    assert "flow_rte: did you mean flow_rate?" in output
    path.write_text("devce,recorded_at,flow_rate\n")
    output = weir.error("readings", "import", path, "--org", meters)
    assert "has no column device; devce: did you mean device?" in output


# --- Retention and clocks ------------------------------------------------------------------------


MONTHS_APART = [f"2020-{month:02}-15T06:30:00Z" for month in range(1, 6)]


def test_devices_without_a_clock_are_listed(weir: CommandLine, meters: str) -> None:
    assert weir.ask("readings", "undated") == []
    store = open_store(weir.environ["WEIR_DATABASE"])
    [meter] = store.resolve(everything(meters), ["M-1"])
    assert meter is not None
    rows = [reading(meter, NOON_MS + n * 1_000, flow_rate=n) for n in range(3)]
    store.add(rows, undated=[row[:2] for row in rows[:2]])
    store.close()
    (result,) = weir.ask("readings", "undated", "--org", meters)
    assert result == {
        "device": "M-1",
        "count": 2,
        "first": "2026-03-08T12:00:00Z",
        "last": "2026-03-08T12:00:01Z",
        "organizationId": meters,
    }
    other = weir.ask("orgs", "create", "Other")["id"]
    assert weir.ask("readings", "undated", "--org", other) == []
    assert "nobody" in weir.error("readings", "undated", "--org", "nobody")


def test_old_raw_readings_are_deleted_by_whole_months(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    rows = [f"M-1,{instant},{n}" for n, instant in enumerate(MONTHS_APART)]
    file = tmp_path / "old.csv"
    file.write_text("\n".join(["device,recorded_at,flow_rate", *rows]))
    assert weir.ask("readings", "import", file, "--org", meters)["stored"] == len(rows)
    body = weir.ask("readings", "prune", "--older-than", "24", "--pretend")
    assert body["gone"] == len(rows) - 1  # the device's last hour stays at any age
    assert weir.ask("readings", "prune", "--older-than", "24") == body
    assert weir.ask("readings", "prune", "--older-than", "24")["gone"] == 0
    assert weir.ask("rollups", "verify")["wrong"] == 0
    again = weir.run("readings", "import", file, "--org", meters, "--json")
    assert (again.exit_code, json.loads(again.stdout)["refused"]) == (1, len(rows))


def test_a_policy_sets_how_many_months_stay(flask: CommandLine) -> None:
    flask.ask("db", "upgrade")
    assert "WEIR_RAW_MONTHS" in flask.error("readings", "prune")
    flask.environ["WEIR_RAW_MONTHS"] = "12"
    assert flask.ask("readings", "prune")["gone"] == 0
