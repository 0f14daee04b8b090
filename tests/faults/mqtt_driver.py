"""The MQTT consumer, until it kills itself at a given point or is stopped.

``python -m tests.faults.mqtt_driver POINT DATABASE INSTANCE URL [SETTING=VALUE]…``. A point is
reached with the second batch, so that one batch has been stored before.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

from api.commands.stop_signal import StopSignal
from api.ingest.mqtt import Consumer
from api.ingest.mqtt.intake import Message
from api.ingest.writer import Writer
from api.settings import Settings
from api.store.open import open_store

POINTS: Final = ("before the commit", "after the commit", "half-way through acknowledging")
NEVER: Final = "never"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Doomed(Consumer):
    point = NEVER
    batches = 0

    def _acknowledge(self, messages: Sequence[Message]) -> None:
        self.batches += 1
        if self.batches < 2 or self.point not in POINTS[1:]:
            return super()._acknowledge(messages)
        if self.point == POINTS[2]:
            super()._acknowledge(messages[: len(messages) // 2])
            while self._client.want_write():  # these acknowledgements have been sent
                time.sleep(0.001)
        return die()


def main() -> None:
    point, database, instance, url, *more = sys.argv[1:]
    store = open_store(database)
    add, commits = store.add, 0

    def dying(*arguments: Any, **more: Any) -> Any:
        nonlocal commits
        commits += 1
        if point == POINTS[0] and commits == 2:
            die()
        return add(*arguments, **more)

    store.add = dying  # pyright: ignore[reportAttributeAccessIssue]
    writer = Writer(store)
    settings = {"WEIR_DATABASE": database, "WEIR_INSTANCE": instance, "WEIR_MQTT_URL": url}
    settings |= dict(setting.split("=", 1) for setting in more)
    consumer = Doomed(Settings.from_env(settings), writer)
    consumer.point = point
    stop = StopSignal(signal.SIGTERM)
    consumer.start()
    stop.wait()
    consumer.stop()
    writer.close()
    store.close()


if __name__ == "__main__":
    main()
