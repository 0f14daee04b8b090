"""A short soak test; ``python -m benchmarks.soak --minutes 60`` is the long one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.soak import MAY_GROW_MIB, growth, is_flat
from tests.commands.shell import ROOT
from tests.tables import cases

SECONDS = 12


@cases(
    ("samples", "grown", "flat"),
    [
        ([100.0] * 100, 0, True),
        ([n * 2.0 for n in range(40)] + [100.0] * 60, 0, True),  # the warm-up isn't counted
        ([100.0] * 80 + [130.0] * 20, 30, False),
        ([100 + n * 1.0 for n in range(100)], 45, False),  # a leak
        ([100.0] * 70 + [500.0] + [100.0] * 29, 0, True),  # a single peak isn't a leak
    ],
)
def test_the_rule_for_flat_memory(samples: list[float], grown: float, flat: bool) -> None:
    assert growth(samples)[1] == pytest.approx(grown, abs=1)
    assert is_flat(samples) is flat
    assert MAY_GROW_MIB > 0


@pytest.mark.slow
def test_memory_is_flat_under_steady_load() -> None:
    command = [sys.executable, "-m", "benchmarks.soak", "--minutes", f"{SECONDS / 60:.2f}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    output = json.loads(done.stdout)
    assert len(output["processes"]) == 4  # supervisor, two workers, writer
    assert set(output["answers"]) == {"200"}
    assert output["acknowledged"] > 50 * SECONDS / 3
