"""Ends this process with its parent, however that ends."""

from __future__ import annotations

import os
import signal
import time
from threading import Thread
from typing import Final

LOOK_S: Final = 0.5


def end_with_parent(parent: int, grace_s: float) -> None:
    """Starts a watch: when ``parent`` is no longer this process's parent, this process ends as on
    SIGTERM, and after ``grace_s`` at once. The parent's number is passed in, since it may have
    ended already."""
    Thread(target=_wait_for_end, args=(parent, grace_s), name="parent", daemon=True).start()


def _wait_for_end(parent: int, grace_s: float) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_s)
    os._exit(1)
