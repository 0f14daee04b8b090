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


def ahead(make: Callable[..., Iterator[Item]], *arguments: Any) -> Generator[Item]:
    """What ``make(*arguments)`` yields, made by a second process one item ahead of its use.

    ``make`` is a function of a module; arguments and items are pickled. What it raises there is
    raised here in its turn. The process ends with this generator, and with this process however
    that ends. With a single processor to run on, all is done here.
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
    gc.disable()  # columns make no cycles, and looking for some doubles the time
    with suppress(BrokenPipeError):  # nobody wants more
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
    """What is started meanwhile never sees a Ctrl-C: whoever started it ends it, in one line."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
