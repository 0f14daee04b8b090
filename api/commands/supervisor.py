"""Keeping child processes alive, and ending them in order."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import Final

from api.commands.command_base import warn

LOOK_S: Final = 0.1
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0
STEADY_S: Final = 60.0  # who lived so long starts again as if for the first time
HOPELESS: Final = 3  # the exit status of a child that would only fail again


@dataclass
class Child:
    """``run`` is called in a process of its own; what it returns is the exit status. ``stop_s``:
    what it may take to end when it is told to."""

    name: str
    run: Callable[[], int]
    stop_s: float
    pid: int = 0
    started_s: float = 0.0
    pause_s: float = FIRST_PAUSE_S
    due_s: float = 0.0  # when to start it again

    def start(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.started_s = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            _be(self.run)

    def ended(self) -> int | None:
        """Its status where it has ended since it was last asked, as `os.waitpid` gives it."""
        found, status = os.waitpid(self.pid, os.WNOHANG)
        if not found:
            return None
        self.pid = 0
        return status

    def stop(self) -> None:
        """Tell it to end, and see to it."""
        if not self.pid:
            return
        for number, patience_s in ((signal.SIGTERM, self.stop_s), (signal.SIGKILL, 5.0)):
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
            deadline = time.monotonic() + patience_s
            while time.monotonic() < deadline:
                if self.ended() is not None:
                    return
                time.sleep(LOOK_S / 2)
            warn(f"the {self.name} didn't end in time")


def _be(run: Callable[[], int]) -> None:
    """In the child. Never returns: what the parent has on its stack is the parent's."""
    status = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        status = run()
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def supervise(children: Sequence[Child]) -> int:
    """Until SIGTERM or SIGINT: start what ends again, with a line on standard error. Then end the
    children, first to last. The exit status: 0, or 1 where a child said that it is hopeless."""
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: stop.set())
    hopeless = False
    try:
        while not hopeless and not stop.is_set():
            hopeless = not all([_keep(child) for child in children])
            stop.wait(LOOK_S)
    finally:
        for child in children:
            child.stop()
    return int(hopeless)


def _keep(child: Child) -> bool:
    """Whether there is hope."""
    now_s = time.monotonic()
    if not child.pid:
        if now_s >= child.due_s:
            child.start()
        return True
    status = child.ended()
    if status is None:
        return True
    if os.waitstatus_to_exitcode(status) == HOPELESS:
        return False
    lived_s = now_s - child.started_s
    child.pause_s = FIRST_PAUSE_S if lived_s > STEADY_S else child.pause_s
    child.due_s = now_s + child.pause_s
    warn(f"the {child.name} ended ({_how(status)}); starting it again in {child.pause_s:g} s.")
    child.pause_s = min(2 * child.pause_s, LONGEST_PAUSE_S)
    return True


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"exit status {code}" if code >= 0 else signal.Signals(-code).name
