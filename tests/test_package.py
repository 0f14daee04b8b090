"""The wheel, installed without the checkout, beside other packages with the same folder names."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import sysconfig
import venv
from contextlib import closing
from pathlib import Path
from typing import Final

import click
import pytest
from click.testing import CliRunner

from api.catalog import BACKEND_VERSION, HOUR_MS
from tests.commands.conftest import CommandLine
from tests.commands.shell import PATIENCE_S, eventually, stopped
from tests.servers import free_port
from tests.tables import cases
from weir.cli import SECTIONS, command_line

ROOT = Path(__file__).resolve().parents[1]
# Names that other packages may have too.
NAMES = ("api", "app", "assets", "components", "pages", "web")


class Installed:
    """Weir in an environment of its own, started from a given folder."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self.bin = environment / "bin"
        self.cwd = folder / "work"
        self.data = folder / "data"
        self.cwd.mkdir()
        self.port = free_port()
        mine = {
            k: v for k, v in os.environ.items() if not k.startswith(("WEIR_", "FLASK_", "PYTHON"))
        }
        self.environ = mine | {"XDG_DATA_HOME": str(self.data), "WEIR_PORT": str(self.port)}

    def start(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.bin / program, *arguments], cwd=self.cwd, env=self.environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def run(self, program: str, *arguments: str) -> str:
        out, err = (process := self.start(program, *arguments)).communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (0, "")
        return out

    def get(self, path: str) -> tuple[int, str]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel. Dependencies come from the environment of this test.
    There are packages with the names of Weir's folders, which must never be imported."""
    folder = tmp_path_factory.mktemp("package")
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == f"weir-{BACKEND_VERSION}-py3-none-any.whl"
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv/bin/python"
    install = ["pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", *install, str(wheel)], check=True, capture_output=True)
    (packages,) = (folder / "venv/lib").glob("python*/site-packages")
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"))
    for name in NAMES:
        _decoy(packages, name)
    return folder / "venv"


def _decoy(folder: Path, name: str) -> None:
    (folder / f"{name}.py").write_text(f"raise ImportError('this is another {name}')\n")


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Installed:
    return Installed(environment, tmp_path)


@pytest.fixture
def among_others(installed: Installed) -> Installed:
    """In a working folder that also has modules with the names of Weir's folders."""
    for name in NAMES:
        _decoy(installed.cwd, name)
    return installed


def test_the_help_places_commands_that_exist() -> None:
    group = command_line()
    context = click.Context(group)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    assert {name for names in SECTIONS.values() for name in names} <= set(commands)
    assert all(command is not None and command.name == name for name, command in commands.items())


def test_the_help_shows_whole_sentences() -> None:
    result = CliRunner().invoke(command_line(), ["--help"], terminal_width=80)
    assert "until stopped" in result.output
    assert [line for line in result.output.splitlines()[1:] if line.endswith("...")] == []


@cases(
    ("arguments", "meant"),
    [(["serv"], "serve"), (["readings", "improt"], "import"), (["qqq"], "")],
)
def test_a_mistyped_command_gets_the_one_that_was_meant(arguments: list[str], meant: str) -> None:
    result = CliRunner().invoke(command_line(), arguments)
    assert result.exit_code
    assert (f": did you mean {meant}?" in result.output) is bool(meant)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    script = runner.invoke(command_line(), ["completion", shell], prog_name="weir").stdout
    assert "_WEIR_COMPLETE" in script
    words = {"COMP_WORDS": "weir re", "COMP_CWORD": "1" if shell != "fish" else "re"}
    done = runner.invoke(
        command_line(), prog_name="weir", env={"_WEIR_COMPLETE": f"{shell}_complete", **words}
    )
    assert "readings" in done.stdout
    assert "restore" in done.stdout


def test_a_checkout_has_the_program_too(tmp_path: Path) -> None:
    command = [ROOT / ".venv/bin/weir", "--version"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert done.stdout == f"Weir {BACKEND_VERSION}\n"


@pytest.mark.slow
def test_it_prints_its_version_and_its_own_commands(installed: Installed) -> None:
    assert installed.run("weir", "--version") == f"Weir {BACKEND_VERSION}\n"
    shown = installed.run("python", "-m", "weir", "--help")
    assert "Serving:\n  serve " in shown
    assert "Usage: weir " in shown
    assert not {"run", "shell", "routes"} & {line.split()[0] for line in shown.splitlines() if line}


@pytest.mark.slow
def test_its_files_are_in_the_user_s_data_folder(installed: Installed) -> None:
    installed.run("weir", "db", "upgrade")
    made = installed.run("weir", "orgs", "create", "Acme").split()[-1]
    assert made in installed.run("python", "-m", "weir", "orgs", "list")
    assert made in installed.run("python", "-m", "flask", "--app", "weir", "orgs", "list")
    assert (installed.data / "weir" / "weir.sqlite").exists()
    assert list(installed.cwd.iterdir()) == []


@pytest.mark.slow
def test_a_named_or_existing_instance_folder_is_used(installed: Installed, tmp_path: Path) -> None:
    installed.environ["WEIR_INSTANCE"] = str(tmp_path / "named")
    installed.run("weir", "db", "upgrade")
    assert (tmp_path / "named" / "weir.sqlite").exists()
    del installed.environ["WEIR_INSTANCE"]
    (installed.cwd / "instance").mkdir()
    (installed.cwd / "instance" / "secret_key").write_text("s" * 40)
    installed.run("weir", "db", "upgrade")
    assert (installed.cwd / "instance" / "weir.sqlite").exists()
    assert not installed.data.exists()


@pytest.mark.slow
def test_a_hint_names_the_typed_program(installed: Installed) -> None:
    out, err = installed.start("weir", "orgs", "list").communicate(timeout=PATIENCE_S)
    assert (out, err.count("\n")) == ("", 1)
    assert "weir db upgrade" in err


@pytest.mark.slow
def test_the_demo_is_served_with_all_assets(
    among_others: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill_demo(among_others.data / "weir", monkeypatch)
    elsewhere = among_others.cwd.parent / "elsewhere.sqlite"
    among_others.environ["WEIR_DATABASE"] = f"sqlite:///{elsewhere}"
    among_others.environ["WEIR_WORKERS"] = "1"
    server = among_others.start("weir", "demo")
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == f"Weir is at http://127.0.0.1:{among_others.port}\n"
        status, page = among_others.get("/")
        assert status in (200, 401)
        assets = re.findall(r'"(/assets/[^" ]+)"', page)
        assert len(assets) > 3
        assert {among_others.get(path)[0] for path in assets} == {200}
        eventually(lambda: '"status":"ok"' in among_others.get("/readyz")[1], "the writer lived")
        assert (among_others.data / "weir" / "demo.sqlite").exists()
        code, out, err = stopped(server, signal.SIGTERM)
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.communicate()
    assert (code, out, len(err.splitlines())) == (0, "", 1)
    assert "WEIR_DATABASE is ignored" in err
    assert not elsewhere.exists()


def _fill_demo(instance: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours of history instead of months, which would take longer than all else here."""
    for name in ("HISTORY_MS", "LONG_HISTORY_MS"):
        monkeypatch.setattr(f"api.ingest.demo.fleet.{name}", 3 * HOUR_MS)
    database = f"sqlite:///{instance / 'demo.sqlite'}"
    weir = CommandLine({"WEIR_DATABASE": database, "WEIR_INSTANCE": str(instance)})
    weir.ask("demo", "seed")


SERVED: Final = ("-c", "import app; app.wsgi()")
_SLOW: Final = {"dash", "plotly", "pandas", "httpx", "cryptography"}


@cases(
    ("start", "not_loaded"),
    [
        (("-m", "weir", "--help"), _SLOW | {"numpy", "pydantic"}),  # it imports every command
        (("-m", "weir", "completion", "bash"), _SLOW | {"numpy", "pydantic"}),
        (("-m", "weir", "db", "upgrade"), _SLOW | {"numpy"}),
        (SERVED, {"pandas", "openpyxl", "charset_normalizer", "trio", "httpcore"}),
    ],
)
def test_a_start_loads_only_what_it_needs(
    start: tuple[str, ...], not_loaded: set[str], tmp_path: Path
) -> None:
    """Half of the time of a short command goes into imports. A guard by names, since times vary
    with the machine."""
    environ = {**os.environ, "WEIR_INSTANCE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environ["WEIR_DATABASE"] = f"sqlite:///{tmp_path / 'weir.sqlite'}"
    command = [sys.executable, "-X", "importtime", *start]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    loaded = set(re.findall(r"^import time:.*\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "flask" in loaded
    assert loaded & not_loaded == set()
