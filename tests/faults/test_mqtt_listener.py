"""The MQTT listener is killed under load: nothing acknowledged is lost or doubled.

`python -m benchmarks.mqtt_listener --kills 30` does the same with ten meters and thirty kills.
"""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.mqtt_listener import killed_under_load


def test_a_killed_writer_loses_and_doubles_nothing_that_meters_repeat(tmp_path: Path) -> None:
    outcome = killed_under_load(tmp_path, 2, random.Random(3), publishers=4)
    assert outcome.acknowledged > 100
    assert (outcome.lost, outcome.doubled) == (0, 0)
