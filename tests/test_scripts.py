"""The pure parts of the scripts, under Node: `tests/assets/` holds a file for each module."""

from __future__ import annotations

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
