"""One store shared by several threads, compared with the same queries by one thread."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from api.catalog import DAY_MS
from api.store.base import Device, Span, Store
from benchmarks.clock import Race, Run, Runner
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed
from benchmarks.suites.adaptive import ask

_QUESTIONS = 40  # queries in one argument, shared among the threads
_BUDGET = 1_000
_THREADS = (1, 2, 4)

Windows = list[tuple[Device, Span]]


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    bundles = max(5, rounds // 4)
    windows = ground.windows("threads", DAY_MS, bundles * _QUESTIONS)
    yield Race(
        f"{_QUESTIONS} adaptive days ÷ one thread",
        [windows[n * _QUESTIONS : (n + 1) * _QUESTIONS] for n in range(bundles)],
        (_by(1, ground), _by(1, ground)),
        tuple(Runner(f"{n} threads", _by(n, ground)) for n in _THREADS[1:]),
        warm_up=1,
    )


def _by(threads: int, ground: Ground) -> Run:
    store, pool = ground.reader(), ThreadPoolExecutor(threads)
    ground.opened.callback(pool.shutdown)

    return timed(lambda windows: _answers(pool, store, windows))


def _answers(pool: ThreadPoolExecutor, store: Store, windows: Windows) -> list[object]:
    return list(pool.map(lambda w: ask(store, w[0], w[1], _BUDGET), windows))


def check(ground: Ground) -> None:
    """Checks that threads that share a store get the results of their own queries."""
    windows = ground.windows("check threads", DAY_MS, 20)
    alone = [ask(ground.store, device, span, _BUDGET) for device, span in windows]
    with ThreadPoolExecutor(max(_THREADS)) as pool:
        if _answers(pool, ground.store, windows) != alone:
            raise Wrong("threads that share a store got other answers than one alone")
