"""Keeps child processes running, replaces them without a gap, and ends them in order."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from api.commands.command import warn
from api.commands.stop_signal import StopSignal

LOOK_S: Final = 0.1
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0
STEADY_S: Final = 60.0  # a child that ran this long is restarted without delay
READY_S: Final = 90.0  # seconds in which a successor must be ready
HOPELESS: Final = 3  # the exit status of a child that would only fail again
READY: Final = "ready"  # what a child writes when it is ready; anything else is an error message


@dataclass
class Child:
    """``run`` is called in a process of its own with a descriptor, on which it reports that it is
    ready, or an error. Its result is the exit status. ``stop_s``: time to end after the signal. A
    child that ``overlaps`` is replaced by a successor that is ready before it ends; any other ends
    first."""

    name: str
    run: Callable[[int], int]
    stop_s: float
    overlaps: bool = False
    pid: int = 0
    started_s: float = 0.0
    pause_s: float = FIRST_PAUSE_S
    due_s: float = 0.0  # when to restart it
    channel: int = -1  # the descriptor on which it reports

    def start(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.started_s = time.monotonic()
        self._close_channel()
        self.channel, theirs = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _run_child(self.run, theirs)
        os.close(theirs)

    def message(self, within_s: float = 0.0) -> str:
        """Returns its report about the start, once; "" without a report in that time."""
        if self.channel < 0 or not select.select([self.channel], [], [], within_s)[0]:
            return ""
        report = os.read(self.channel, 4_096).decode(errors="replace").strip()
        self._close_channel()
        return report

    def _close_channel(self) -> None:
        if self.channel >= 0:
            os.close(self.channel)
            self.channel = -1

    def ended(self) -> int | None:
        """Returns its status if it has ended since the last call, as `os.waitpid` gives it."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            return None
        self.pid = 0
        return status

    def stop(self) -> None:
        """Tells it to end, and kills it if it doesn't."""
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
            warn(f"the {self.name} didn't stop in time")


def _run_child(run: Callable[[int], int], channel: int) -> None:
    """Runs in the child. Never returns: the stack is the parent's."""
    status = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        status = run(channel)
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


class Supervisor:
    """Keeps ``children`` running until SIGTERM or SIGINT. ``ready`` is called when the first one is
    ready."""

    def __init__(self, children: Sequence[Child], ready: Callable[[], None]) -> None:
        self._children, self._ready = children, ready
        self._announced = self._hopeless = self._restart = False

    def run(self) -> int:
        """Restarts children that end, with a line on standard error; replaces all on SIGHUP. At the
        end stops the children, first to last. Returns the exit status: 0, or 1 where one can't
        start."""
        stop = StopSignal(signal.SIGTERM, signal.SIGINT)
        if not sys.stdin or not sys.stdin.isatty():  # also sent by a terminal that closes
            signal.signal(signal.SIGHUP, self._request_restart)
        try:
            while not self._hopeless and not stop.wait(0):
                for child in self._children:
                    self._check(child)
                if self._restart:
                    self._restart = False
                    self._replace_all(stop)
                stop.wait(LOOK_S)
        finally:
            for child in self._children:
                child.stop()
        return int(self._hopeless)

    def _request_restart(self, number: int, frame: object) -> None:
        self._restart = True

    # --- Restarts --------------------------------------------------------------------------------

    def _check(self, child: Child) -> None:
        now_s = time.monotonic()
        if not child.pid:
            if now_s >= child.due_s:
                child.start()
            return
        self._listen(child)
        status = child.ended()
        if status is None:
            return
        if os.waitstatus_to_exitcode(status) == HOPELESS:
            self._listen(child)
            self._hopeless = True
            return
        lived_s = now_s - child.started_s
        child.pause_s = FIRST_PAUSE_S if lived_s > STEADY_S else child.pause_s
        child.due_s = now_s + child.pause_s
        warn(f"the {child.name} stopped ({_how(status)}); restarting in {child.pause_s:g} s.")
        child.pause_s = min(2 * child.pause_s, LONGEST_PAUSE_S)

    def _listen(self, child: Child) -> None:
        """Announces the first child that is ready; reports an error of a start once."""
        report = child.message()
        if report == READY and not self._announced:
            self._announced = True
            self._ready()
        elif report and report != READY and not self._hopeless:
            self._hopeless = True
            print(f"Error: {report}", file=sys.stderr)  # noqa: T201 - the same line as any command's

    # --- Replacement -----------------------------------------------------------------------------

    def _replace_all(self, stop: StopSignal) -> None:
        """Replaces one after the other. Where a successor doesn't get ready, the old ones keep
        running."""
        for child in self._children:
            if stop.wait(0):
                return
            if not child.overlaps:
                child.stop()
                child.start()
            elif not self._replace(child, stop):
                return

    def _replace(self, child: Child, stop: StopSignal) -> bool:
        old = replace(child, channel=-1)
        child.start()
        report, deadline_s = "", time.monotonic() + READY_S
        while not report and not stop.wait(0) and time.monotonic() < deadline_s:
            report = child.message(LOOK_S)
            if child.ended() is not None:
                report = report or child.message() or "it stopped"
                break
        if report == READY:
            old.stop()
            return True
        child.stop()
        child.pid, child.started_s = old.pid, old.started_s
        if not stop.wait(0):
            warn(
                f"the new {child.name} doesn't start, the old one keeps running:"
                f" {report or 'too slow'}"
            )
        return False


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"exit status {code}" if code >= 0 else signal.Signals(-code).name
