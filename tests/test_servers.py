"""The ports at which tests start their servers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.servers import first_handed_out, free_port

ROOT = Path(__file__).resolve().parents[1]
_MANY = """
import sys
from tests.servers import free_port
print(*[free_port() for _ in range(200)], flush=True)
sys.stdin.read()
"""


def test_no_two_processes_get_the_same_port() -> None:
    """Not even before a server listens, nor one that the system assigns by itself."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _MANY],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    given = [free_port() for _ in range(200)]
    for process in processes:
        assert process.stdout is not None
        given += map(int, process.stdout.readline().split())
    for process in processes:
        process.communicate()
    assert len(set(given)) == len(given) == 800
    assert max(given) < first_handed_out()
