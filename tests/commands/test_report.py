"""`weir report`, as the process that cron starts."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

import app
from api.commands.report import command, days
from api.errors import UserError
from api.server import create_service
from tests.commands.conftest import CommandLine
from tests.dashboards import CLOCKS, ORGANIZATION, Fleet, make_fleet
from tests.tables import cases
from tests.web.auth.remote import serving
from tests.world import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
AUTUMN = ("--from", "2026-10-31", "--to", "2026-11-02")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def fleet(folder: Path) -> Fleet:
    return make_fleet(folder, many=60)


def run(folder: Path, *arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    mine = {k: v for k, v in os.environ.items() if not k.startswith(("WEIR_", "FLASK_"))}
    mine |= {"WEIR_INSTANCE": str(folder / "instance"), **environ}
    mine.setdefault("WEIR_DATABASE", f"sqlite:///{folder / 'fleet.sqlite'}")
    command = [sys.executable, "-m", "flask", "report", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=mine, capture_output=True, text=True, timeout=120, check=False
    )


def text_of(file: Path) -> str:
    pages = PdfReader(io.BytesIO(file.read_bytes())).pages
    return " ".join(page.extract_text() for page in pages)


def test_without_a_server_it_writes_the_file_and_prints_its_contents(
    fleet: Fleet, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "clock.pdf"
    done = run(folder, "--org", ORGANIZATION, "--device", CLOCKS, *AUTUMN, "--paper", "letter",
               "--zone", "Asia/Kolkata", "--units", "metric", "--out", out, "--json")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    output = json.loads(done.stdout)
    assert output == {
        "file": str(out),
        "bytes": out.stat().st_size,
        "devices": 1,
        "from": "2026-10-31",
        "to": "2026-11-02",
    }
    text = text_of(out)
    assert "Clock tower" in text
    assert "Asia/Kolkata" in text
    assert "m³" in text
    assert [f.name for f in tmp_path.iterdir()] == ["clock.pdf"]


def test_a_report_of_another_server_by_its_key(fleet: Fleet, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "remote.pdf"
    with serving(create_service(fleet.store, SETTINGS)) as url:
        done = run(folder, "--device", CLOCKS, *AUTUMN, "--out", out,
                   WEIR_API_URL=url, WEIR_API_KEY=fleet.key)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "Clock tower" in text_of(out)


@cases(
    ("arguments", "text"),
    [
        (["--org", ORGANIZATION], "choose the devices"),
        (["--org", ORGANIZATION, "--group", "g", "--device", CLOCKS], "choose the devices"),
        (["--device", CLOCKS], "Missing option '--org'"),
        (["--org", "nobody", "--device", CLOCKS], "--org nobody: no such organization"),
        (["--org", ORGANIZATION, "--device", "FM-GONE"], "--device FM-GONE: Device not found"),
        (["--org", ORGANIZATION, "--group", "nothing"], "--group nothing: No device matches."),
        (["--org", ORGANIZATION, "--device", CLOCKS, "--last", "2w"], "--last must be one of"),
        (["--org", ORGANIZATION, "--device", CLOCKS, "--zone", "Mars"], "--zone must be"),
    ],
)
def test_a_failure_is_one_line(
    fleet: Fleet, folder: Path, tmp_path: Path, arguments: list[str], text: str
) -> None:
    here = {
        "WEIR_DATABASE": f"sqlite:///{folder / 'fleet.sqlite'}",
        "WEIR_INSTANCE": str(folder / "instance"),
    }
    weir = CommandLine(here)
    weir.app.cli.add_command(command(app._report))  # pyright: ignore[reportPrivateUsage]
    assert text in weir.error("report", *arguments, "--out", tmp_path / "none.pdf")
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_file_is_one_line(fleet: Fleet, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "no such folder" / "report.pdf"
    done = run(folder, "--org", ORGANIZATION, "--device", CLOCKS, *AUTUMN, "--out", out)
    assert done.returncode == 1
    assert done.stderr == f"Error: {out}: No such file or directory\n"


def test_without_chromium_it_names_what_to_install(
    fleet: Fleet, folder: Path, tmp_path: Path
) -> None:
    done = run(tmp_path, "--org", ORGANIZATION, "--device", CLOCKS, *AUTUMN,
               "--out", tmp_path / "none.pdf", BROWSER_PATH=str(tmp_path / "none"), PATH="",
               WEIR_DATABASE=f"sqlite:///{folder / 'fleet.sqlite'}")  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "Chromium" in line


@cases(
    ("texts", "range"),
    [
        ((None, None, None, None), "last-month"),
        (("30d", None, None, None), "30d"),
        ((None, "2026-10", None, None), "2026-10"),
        ((None, None, "2026-10-01", "2026-10-15"), "2026-10-01..2026-10-15"),
    ],
)
def test_one_range_at_a_time(texts: tuple[str | None, ...], range: str) -> None:
    assert days(*texts) == range


@cases(
    "texts",
    [
        ("30d", "2026-10", None, None),
        ("30d", None, "2026-10-01", "2026-10-15"),
        (None, None, "2026-10-01", None),
        (None, None, "2026-10-15", "2026-10-01"),
        (None, None, "2026-10-15", "later"),
    ],
)
def test_two_ranges_or_half_of_one_are_refused(texts: tuple[str | None, ...]) -> None:
    with pytest.raises(UserError):
        days(*texts)
