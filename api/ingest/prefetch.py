"""Prepares the next item in a second process while this one works on the current one."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar, cast

from api.errors import UserError

Item = TypeVar("Item")


class _Receiving(Protocol):
    def recv(self) -> Any: ...


class _Sending(Protocol):
    def send(self, obj: Any, /) -> None: ...


def prefetched(make: Callable[..., Iterator[Item]], *arguments: Any) -> Generator[Item]:
    """Yields the items of ``make(*arguments)``, produced by a second process one item in advance.

    ``make`` is a module's function; arguments and items are pickled. Its exceptions are raised
    here, after the items before them. The second process ends with this generator or this process.
    With a single processor, everything runs in this process.
    """
    if _processors() < 2:
        yield from make(*arguments)
        return
    context = get_context("spawn")  # a fork would share the store's open connections
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, make, arguments), daemon=True)
    with closing(here):
        with closing(there), _interrupts_held():
            process.start()
        try:
            yield from _received(here)
        finally:
            process.terminate()
            process.join()


def _received(here: _Receiving) -> Generator[Any]:
    while True:
        try:
            kind, item = here.recv()
        except EOFError:
            raise UserError("the read-ahead process ended unexpectedly") from None
        if kind == "end":
            return
        if kind == "error":
            raise cast("Exception", item)
        yield item


def _work(out: _Sending, make: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> None:
    gc.disable()  # columns form no cycles, and the collector doubles the time
    with suppress(BrokenPipeError):  # the generator was closed
        try:
            for item in make(*arguments):
                out.send(("item", item))
            out.send(("end", None))
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - it is raised where the items are used
            out.send(("error", error))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _interrupts_held() -> Generator[None]:
    """Blocks SIGINT: a process started meanwhile ignores Ctrl-C and is ended by its parent."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
