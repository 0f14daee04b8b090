"""The machine's clock set back and forward while Weir is in use: nothing fails, a reading from the
future is marked as such, and the fleet page stays fresh."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from api.catalog import HOUR_MS, MINUTE_MS
from api.timez import now_ms, stamp
from tests.commands.shell import ROOT, eventually
from tests.faults.conftest import Start
from tests.faults.loaded_server import WatchedServer

# Loaded by every Python process of the server before anything else: shifts the time by the content
# of a file.
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


def send_reading(loaded: WatchedServer, at_ms: int, rate: float) -> None:
    """Send a reading of that instant as the meter."""
    row = {"device": "M-1", "recordedAt": stamp(at_ms, fraction=True), "flowRate": rate}
    status, body = loaded.post([row])
    assert (status, b'"accepted":1' in body) == (200, True), body


def tile(loaded: WatchedServer) -> dict[str, Any]:
    """The meter's tile on the wall."""
    board = loaded.wall()
    assert "error" not in board, board
    [result] = [tile for tile in board["tiles"] if tile and tile["serial"] == "M-1"]
    return result


def shows(loaded: WatchedServer, words: str) -> bool:
    """Whether its tile matches that pattern and shows no future time."""
    result = str(tile(loaded))
    assert "-1 h" not in result
    assert "−1 h" not in result
    return re.search(words, result) is not None


@pytest.mark.slow
def test_a_clock_change_shows_no_wrong_age_and_stops_no_page(start: Start, tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    loaded = start(**clock.environ)
    send_reading(loaded, now_ms() - 90 * MINUTE_MS, 0.5)
    send_reading(loaded, now_ms(), 1.25)
    eventually(lambda: shows(loaded, "just now"), "the reading was shown")
    clock.set(-HOUR_MS)  # the last reading is now an hour ahead
    loaded.sign_in()  # a session from an hour ahead has ended
    eventually(lambda: shows(loaded, r"(59 min|1 h) in the future"), "the page told the time")
    send_reading(loaded, now_ms() - HOUR_MS, 2.5)  # of this machine's now; the later one counts
    assert shows(loaded, "in the future")
    send_reading(loaded, now_ms(), 3.75)  # of a meter with a right clock
    answer = loaded.ask("/flow/latest", ids="M-1", metrics="lastDatapoint,uptime")
    assert answer.status_code == 200
    clock.set(0)
    loaded.sign_in()  # a session from before the folder of signed-out sessions has ended too
    send_reading(loaded, now_ms(), 7.75)
    eventually(lambda: shows(loaded, "7.75"), "the page was fresh again")
    assert shows(loaded, r"just now|\d s ago")
    clock.set(2 * HOUR_MS)  # forward
    eventually(lambda: shows(loaded, r"2 h( \d min)? ago"), "it grew old")
    assert loaded.ask("/flow/latest", ids="M-1", metrics="lastSeen").status_code == 200
    loaded.server.terminate()
    assert loaded.server.communicate(timeout=40)[1] == ""
