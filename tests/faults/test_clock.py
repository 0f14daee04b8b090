"""The machine's clock set back and forward while Weir is in use: nothing fails, a reading of a time
to come is told as such, and the fleet page goes on being fresh."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from api.catalog import HOUR_MS, MINUTE_MS
from api.timez import now_ms, stamp
from tests.commands.shell import ROOT, eventually
from tests.faults.conftest import Start
from tests.faults.plant import Looked

# Loaded by every Python process of the plant before anything else: what time it is, is told by a
# file as well as by the system.
_SHIFTED = """
import time
from pathlib import Path
import api.timez
_by, _real_ms, _real_s = Path({by!r}), api.timez.now_ms, time.time
def shift():
    try:
        return int(_by.read_text() or 0)
    except (OSError, ValueError):
        return 0
api.timez.now_ms = lambda: _real_ms() + shift()
time.time = lambda: _real_s() + shift() / 1000
"""


class Clock:
    def __init__(self, folder: Path) -> None:
        self.by = folder / "shift"
        site = folder / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(_SHIFTED.format(by=str(self.by)))
        self.environ = {"PYTHONPATH": f"{site}:{ROOT}"}

    def set(self, by_ms: int) -> None:
        draft = self.by.with_suffix(".draft")
        draft.write_text(str(by_ms))
        draft.replace(self.by)


def says(plant: Looked, at_ms: int, rate: float) -> None:
    """The meter sends a reading of that instant."""
    row = {"device": "M-1", "recordedAt": stamp(at_ms, fraction=True), "flowRate": rate}
    status, body = plant.post([row])
    assert (status, b'"accepted":1' in body) == (200, True), body


def tile(plant: Looked) -> dict[str, Any]:
    """The meter's on the wall."""
    board = plant.wall()
    assert "error" not in board, board
    [found] = [tile for tile in board["tiles"] if tile and tile["serial"] == "M-1"]
    return found


def shows(plant: Looked, words: str) -> bool:
    """Whether its tile has what that pattern says, and nothing of a time to come."""
    found = str(tile(plant))
    assert "-1 h" not in found
    assert "−1 h" not in found
    return re.search(words, found) is not None


@pytest.mark.slow
def test_a_clock_that_jumps_shows_no_wrong_age_and_stops_no_page(
    start: Start, tmp_path: Path
) -> None:
    clock = Clock(tmp_path)
    plant = start(**clock.environ)
    says(plant, now_ms() - 90 * MINUTE_MS, 0.5)
    says(plant, now_ms(), 1.25)
    eventually(lambda: shows(plant, "just now"), "the reading was shown")
    clock.set(-HOUR_MS)  # what was sent last is now an hour ahead
    plant.sign_in()  # a session from an hour ahead is over
    eventually(lambda: shows(plant, r"(59 min|1 h) in the future"), "the page told the time")
    says(plant, now_ms() - HOUR_MS, 2.5)  # of now, as this machine has it; the later one counts
    assert shows(plant, "in the future")
    says(plant, now_ms(), 3.75)  # of a meter whose clock is right
    answer = plant.ask("/flow/latest", ids="M-1", metrics="lastDatapoint,uptime")
    assert answer.status_code == 200
    clock.set(0)
    plant.sign_in()  # one from before the folder of signed-out sessions began is over too
    says(plant, now_ms(), 7.75)
    eventually(lambda: shows(plant, "7.75"), "the page was fresh again")
    assert shows(plant, r"just now|\d s ago")
    clock.set(2 * HOUR_MS)  # forward
    eventually(lambda: shows(plant, r"2 h( \d min)? ago"), "it grew old")
    assert plant.ask("/flow/latest", ids="M-1", metrics="lastSeen").status_code == 200
    plant.server.terminate()
    assert plant.server.communicate(timeout=40)[1] == ""
