"""`weir db`, `rollups`, `orgs`, and the failures that all commands share."""

from __future__ import annotations

import json
import os
from contextlib import redirect_stdout, suppress
from pathlib import Path
from uuid import UUID

import apsw
import pytest

from api.commands.command import Command, Group
from tests.commands.conftest import CommandLine


def test_upgrade_creates_the_store_once(flask: CommandLine) -> None:
    first = flask.ask("db", "upgrade")
    assert first["before"] == 0
    assert flask.ask("db", "upgrade") == {"before": first["now"], "now": first["now"]}


def test_a_file_is_not_distributed(weir: CommandLine) -> None:
    assert "Postgres with Citus" in weir.error("db", "distribute")
    assert weir.error("db", "distribute", "--shards", "0")
    assert "Postgres" in weir.error("db", "partition")


def test_an_organization_gets_an_id(weir: CommandLine) -> None:
    made = weir.ask("orgs", "create", "Acme", "--cost-per-gallon", "0.012")
    assert UUID(made["id"])
    (listed,) = weir.ask("orgs", "list")
    assert (listed["id"], listed["name"]) == (made["id"], "Acme")
    assert listed["defaultCostPerGallon"] == 0.012
    assert listed["active"] is True


def test_an_organization_may_have_a_given_id(weir: CommandLine) -> None:
    assert weir.ask("orgs", "create", "Acme", "--id", "acme-1") == {"id": "acme-1"}
    assert "acme-1" in weir.error("orgs", "create", "Other", "--id", "acme-1")


@pytest.mark.parametrize(
    "arguments",
    [
        ("orgs", "create", ""),
        ("orgs", "create", " Acme"),
        ("orgs", "create", "Acme", "--id", ""),
        ("orgs", "create", "Acme", "--cost-per-gallon", "-1"),
        ("orgs", "create", "Acme", "--cost-per-gallon", "nan"),
        ("orgs", "create", "Acme", "--cost-per-gallon", "cheap"),
        ("orgs", "create"),
        ("orgs", "create", "Acme", "--colour", "red"),
        ("orgs", "destroy"),
    ],
)
def test_a_wrong_argument_is_one_line(weir: CommandLine, arguments: tuple[str, ...]) -> None:
    weir.error(*arguments)
    assert weir.ask("orgs", "list") == []


EVERY_COMMAND_WITH_A_STORE = [
    ("orgs", "create", "Acme"),
    ("orgs", "list"),
    ("devices", "import", "{devices}", "--org", "nobody"),
    ("keys", "create", "--org", "nobody"),
    ("keys", "list"),
    ("keys", "revoke", "key_1"),
    ("tokens", "create", "--org", "nobody"),
    ("readings", "import", "{readings}", "--org", "nobody"),
    ("readings", "refused"),
    ("rollups", "verify"),
    ("demo", "feed"),
]


def _with_files(command: tuple[str, ...], folder: Path) -> list[str]:
    devices, readings = folder / "d.json", folder / "r.csv"
    devices.write_text("[]")
    readings.write_text("device,recorded_at,quality\n")
    return [part.format(devices=devices, readings=readings) for part in command]


@pytest.mark.parametrize("command", EVERY_COMMAND_WITH_A_STORE, ids=" ".join)
def test_a_missing_store_is_one_line(
    flask: CommandLine, tmp_path: Path, command: tuple[str, ...]
) -> None:
    output = flask.error(*_with_files(command, tmp_path))
    assert "store is missing" in output
    assert "weir db upgrade" in output
    assert not (tmp_path / "weir.sqlite").exists()


@pytest.mark.parametrize("command", EVERY_COMMAND_WITH_A_STORE, ids=" ".join)
def test_a_newer_store_is_one_line(
    weir: CommandLine, tmp_path: Path, command: tuple[str, ...]
) -> None:
    connection = apsw.Connection(str(tmp_path / "weir.sqlite"))
    connection.execute("INSERT INTO schema_version (version) VALUES (999)")
    connection.close()
    assert "999" in weir.error(*_with_files(command, tmp_path))
    assert "999" in weir.error("db", "upgrade")


@pytest.mark.parametrize("command", EVERY_COMMAND_WITH_A_STORE, ids=" ".join)
def test_a_bad_setting_is_one_line_that_names_it(
    flask: CommandLine, tmp_path: Path, command: tuple[str, ...]
) -> None:
    flask.environ["WEIR_PORT"] = "http"
    assert "WEIR_PORT" in flask.error(*_with_files(command, tmp_path))


@pytest.mark.parametrize(
    "command", [c for c in EVERY_COMMAND_WITH_A_STORE if "nobody" in c], ids=" ".join
)
def test_a_missing_organization_is_one_line(
    weir: CommandLine, tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert "--org nobody: no such organization" in weir.error(*_with_files(command, tmp_path))


def test_a_bug_is_one_line_too(weir: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("a\nbug")

    monkeypatch.setattr("api.commands.orgs.when", broken)
    weir.ask("orgs", "create", "Acme")
    output = weir.error("orgs", "list")
    assert output == "unexpected error: RuntimeError: a bug"


@pytest.mark.parametrize("buffering", [1, -1], ids=["by line", "by block"])
def test_a_reader_that_has_ended_is_no_error(
    buffering: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As in `weir devices list | head -1`."""
    group = Group("weir", commands=[Command("list", callback=lambda: [{"name": "M-1"}])])
    reader, writer = os.pipe()
    os.close(reader)
    output = os.fdopen(writer, "w", buffering)
    monkeypatch.setattr("sys.stdout", output)
    with pytest.raises(SystemExit) as ended:
        group.main(["list"])
    monkeypatch.undo()
    with suppress(BrokenPipeError):
        output.close()
    assert (ended.value.code, capfd.readouterr().err) == (1, "")


def test_a_broken_connection_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise BrokenPipeError("gone")

    group = Group("weir", commands=[Command("send", callback=broken)])
    with (
        (tmp_path / "output").open("w") as output,
        redirect_stdout(output),
        pytest.raises(SystemExit),
    ):
        group.main(["send"])
    assert "unexpected error: BrokenPipeError: gone" in capsys.readouterr().err


def test_an_unreachable_database_is_one_line(flask: CommandLine) -> None:
    flask.environ["WEIR_DATABASE"] = "postgresql://weir:secret@127.0.0.1:1/weir"
    output = flask.error("orgs", "list")
    assert "secret" not in output


def test_a_file_that_is_not_a_store_is_one_line(flask: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "weir.sqlite").write_text("not a database, by far" * 100)
    flask.error("orgs", "list")
    flask.error("db", "upgrade")


def test_tables_are_for_people_and_json_for_programs(weir: CommandLine) -> None:
    assert weir.run("orgs", "list").stdout == "(none)\n"
    assert json.loads(weir.run("orgs", "list", "--json").stdout) == []
    weir.ask("orgs", "create", "Acme", "--id", "a")
    heading, row = weir.run("orgs", "list").stdout.splitlines()
    assert heading.split() == ["id", "name", "active", "created", "defaultCostPerGallon"]
    assert row.split()[:3] == ["a", "Acme", "yes"]
    made = weir.run("orgs", "create", "Other", "--id", "b")
    assert made.stdout == "id  b\n"


def test_verify_finds_and_repairs_errors(weir: CommandLine, meters: str, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("device,recorded_at,flow_amount\nM-1,2024-03-01T10:00:00Z,5\n")
    weir.ask("readings", "import", path, "--org", meters)
    right = weir.ask("rollups", "verify")
    assert right["wrong"] == 0
    assert right["buckets"] >= 4
    connection = apsw.Connection(str(tmp_path / "weir.sqlite"))
    connection.execute("UPDATE rollup_1hour SET flow_amount_sum = 6")
    connection.close()
    shown = weir.run("rollups", "verify", "--json")
    assert (shown.exit_code, json.loads(shown.stdout)) == (1, {**right, "wrong": 1})
    assert weir.ask("rollups", "verify", "--repair") == {**right, "wrong": 1}
    assert weir.ask("rollups", "verify") == right


def test_a_variable_that_is_not_a_setting_is_reported(
    weir: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_PRT", "80")
    done = weir.run("orgs", "list")
    assert (done.exit_code, done.stderr) == (
        0,
        "Warning: unknown setting WEIR_PRT: did you mean WEIR_PORT?\n",
    )
