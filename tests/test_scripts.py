"""The pure parts of the scripts, under Node: `tests/assets/` has a file for each module."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.node import NODE

SUITES = sorted((Path(__file__).parent / "assets").glob("*.test.js"))


def test_there_are_suites() -> None:
    assert SUITES


@pytest.mark.parametrize("suite", SUITES, ids=lambda file: file.name)
def test_scripts(suite: Path) -> None:
    done = subprocess.run(
        [NODE, "--test", "--test-reporter=spec", suite],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_administrations_page_names_each_address_its_scripts_use() -> None:
    root = Path(__file__).parents[1]
    scripts = "".join(file.read_text() for file in root.glob("assets/admin*.js"))
    used = set(re.findall(r"settings\(\)\.(\w+)", scripts))
    named = set(re.findall(r'"(\w+)":', (root / "pages/admin.py").read_text()))
    assert {"service", "imports"} <= used <= named
