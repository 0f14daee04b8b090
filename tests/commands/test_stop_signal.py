"""The signal that asks a process to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from api.commands.stop_signal import StopSignal

TIMES = 2_000


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_it_is_seen_at_once_and_stays() -> None:
    stop = StopSignal(signal.SIGUSR1)
    assert not stop.wait(0)
    threading.Timer(0.05, signal.raise_signal, (signal.SIGUSR1,)).start()
    assert stop.wait(60)
    assert stop.wait(0)
    assert stop.wait()


def test_it_may_arrive_at_any_moment_of_waiting() -> None:
    """With an `Event`, one of these signals arrived while `wait` held its lock, and hung."""
    stop, main = StopSignal(signal.SIGUSR1), threading.main_thread().ident
    assert main is not None

    def send() -> None:
        for _ in range(TIMES):
            signal.pthread_kill(main, signal.SIGUSR1)
            time.sleep(0)

    sender = threading.Thread(target=send)
    sender.start()
    while sender.is_alive():
        stop.wait(1e-6)
    assert stop.wait(0)
