"""The signal that asks a process to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from api.commands.stop_signal import StopSignal

TIMES = 50


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGUSR2)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    signal.set_wakeup_fd(-1)


def test_it_is_seen_at_once_and_stays() -> None:
    """Also where another thread is interrupted, while the main thread sleeps."""
    stop = StopSignal(signal.SIGUSR1)
    assert not stop.wait(0)
    threading.Timer(0.05, signal.raise_signal, (signal.SIGUSR1,)).start()
    assert stop.wait()
    assert stop.wait(0)
    assert stop.wait(60)


def test_other_signals_neither_stop_nor_shorten_the_wait() -> None:
    signal.signal(signal.SIGUSR2, lambda number, frame: None)
    stop, began_s = StopSignal(signal.SIGUSR1), time.monotonic()
    signal.raise_signal(signal.SIGUSR2)
    assert not stop.wait(0.1)
    assert time.monotonic() - began_s >= 0.1


def test_it_may_arrive_at_any_moment_of_waiting() -> None:
    """With an `Event`, a signal arrived while `wait` held its lock, and hung."""
    main = threading.main_thread().ident
    assert main is not None
    for _ in range(TIMES):
        stop = StopSignal(signal.SIGUSR1)
        sender = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGUSR1))
        sender.start()
        while not stop.wait(1e-6):
            pass
        sender.join()
