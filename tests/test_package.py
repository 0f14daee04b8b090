"""The wheel, installed where nothing of the checkout is at hand and others have our names."""

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

import click
import pytest
from click.testing import CliRunner

from api.catalog import BACKEND_VERSION
from tests.commands.shell import PATIENCE_S, eventually, stopped
from tests.servers import free_port
from weir.cli import SECTIONS, command_line

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("api", "app", "assets", "components", "pages", "web")  # which are not ours alone


class Installed:
    """Weir in an environment of its own, called from a folder of the caller's."""

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
    """A virtual environment with the wheel. What Weir needs comes from the one that runs this
    test, and there are packages of our folders' names which nobody may import."""
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
    """In a working folder that has modules of our folders' names, too."""
    for name in NAMES:
        _decoy(installed.cwd, name)
    return installed


def test_the_help_places_commands_that_exist() -> None:
    group = command_line()
    context = click.Context(group)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    assert {name for names in SECTIONS.values() for name in names} <= set(commands)
    assert all(command is not None and command.name == name for name, command in commands.items())


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


@pytest.mark.slow
@pytest.mark.parametrize("program", [("weir",), ("python", "-m", "weir")], ids=" ".join)
def test_it_says_its_version_and_its_commands_alone(
    installed: Installed, program: tuple[str, ...]
) -> None:
    assert installed.run(*program, "--version") == f"Weir {BACKEND_VERSION}\n"
    told = installed.run(*program, "--help")
    assert "Serving:\n  serve " in told
    assert "Usage: weir " in told
    assert not {"run", "shell", "routes"} & {line.split()[0] for line in told.splitlines() if line}


@pytest.mark.slow
def test_what_it_makes_lies_in_the_user_s_data_folder(installed: Installed) -> None:
    installed.run("weir", "db", "upgrade")
    made = installed.run("weir", "orgs", "create", "Acme").split()[-1]
    assert made in installed.run("python", "-m", "weir", "orgs", "list")
    assert made in installed.run("python", "-m", "flask", "--app", "weir", "orgs", "list")
    assert (installed.data / "weir" / "weir.sqlite").exists()
    assert list(installed.cwd.iterdir()) == []


@pytest.mark.slow
def test_an_instance_folder_that_is_named_or_there_goes_on(
    installed: Installed, tmp_path: Path
) -> None:
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
def test_a_hint_names_the_program_that_was_typed(installed: Installed) -> None:
    out, err = installed.start("weir", "orgs", "list").communicate(timeout=PATIENCE_S)
    assert (out, err.count("\n")) == ("", 1)
    assert "weir db upgrade" in err


@pytest.mark.slow
def test_the_demo_is_served_with_all_that_belongs_to_it(among_others: Installed) -> None:
    elsewhere = among_others.cwd.parent / "elsewhere.sqlite"
    among_others.environ["WEIR_DATABASE"] = f"sqlite:///{elsewhere}"
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
