"""The command line, called in this process; `tests/commands/test_processes.py` starts the real
one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from flask import Flask

from api.commands import register
from api.settings import Settings
from api.store.base import Store
from api.store.open import open_store
from tests.commands.shell import Shell


class CommandLine:
    """`flask` with these settings. ``run`` returns the result, ``ask`` the parsed JSON of a
    success."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ
        self.app = Flask("weir-commands")
        register(self.app, lambda: Settings.from_env(self.environ))

    def run(self, *arguments: str | Path) -> Result:
        return self.app.test_cli_runner().invoke(args=[str(a) for a in arguments])

    def ask(self, *arguments: str | Path) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def error(self, *arguments: str | Path) -> str:
        """The single line of a failure."""
        result = self.run(*arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("Error: ")
        return lines[0].removeprefix("Error: ")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    shell.end_all()


@pytest.fixture
def flask(tmp_path: Path, sqlite_url: str) -> CommandLine:
    """The command line over a store that doesn't exist yet."""
    return CommandLine({"WEIR_DATABASE": sqlite_url, "WEIR_INSTANCE": str(tmp_path / "instance")})


@pytest.fixture
def weir(flask: CommandLine) -> CommandLine:
    """The command line over an upgraded, empty store."""
    flask.ask("db", "upgrade")
    return flask


@pytest.fixture
def opened(sqlite_url: str) -> Iterator[Callable[[], Store]]:
    """Opens the command line's store."""
    stores: list[Store] = []

    def open_again() -> Store:
        stores.append(open_store(sqlite_url, read_only=True))
        return stores[-1]

    yield open_again
    for store in stores:
        store.close()


@pytest.fixture
def org(weir: CommandLine) -> str:
    return str(weir.ask("orgs", "create", "Acme")["id"])


@pytest.fixture
def meters(weir: CommandLine, org: str, tmp_path: Path) -> str:
    """The organization, with the meters M-1 and M-2 (group north) and the inactive M-3."""
    path = tmp_path / "meters.devices.json"
    path.write_text(
        json.dumps(
            [
                {"serialNumber": "M-1", "groups": ["north"]},
                {"serialNumber": "M-2", "networkUniqueIdentifier": "NET-2", "groups": ["north"]},
                {"serialNumber": "M-3", "active": False},
            ]
        )
    )
    assert weir.ask("devices", "import", path, "--org", org) == {"created": 3, "updated": 0}
    return org
