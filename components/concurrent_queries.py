"""Concurrent queries of one principal within a time budget, and the cache of their replies."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Final, TypeVar

from api.catalog import MAX_IDS, Resolution
from api.client import Client, LatestEntry
from api.errors import BadRequest, Internal, NotFound, UnexpectedAnswer, WeirError
from api.timez import now_ms
from components import session
from components.ranges import Window

MAX_ENTRIES: Final = 4_000
SET_BACK_MS: Final = 10_000  # clock corrections are smaller than this


class ReplyCache:
    """A cache of the service's replies in this process. Every key starts with the principal, except
    for drawings, whose key is a digest of all their data. Bounded: the least recently used entry is
    dropped first. Losing it loses no data."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()
        self._latest_ms = 0

    def note_time(self, now_ms: int) -> None:
        """Must be called before each use. If the clock was set back all entries are dropped, since
        they would count as fresh until the clock has caught up."""
        with self._lock:
            set_back = now_ms < self._latest_ms - SET_BACK_MS
            self._latest_ms = now_ms if set_back else max(self._latest_ms, now_ms)
            if set_back:
                self._entries.clear()

    def get(self, key: Hashable) -> Any:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > MAX_ENTRIES:
                self._entries.popitem(last=False)


MAX_REQUESTS: Final = 8  # concurrent requests of this process
MOST_FAILURES: Final = 4  # devices in one request; if more fail, the service as a whole fails
# Errors that may concern one device alone. Any other one (no connection, no credential, too many
# requests) would occur for the next device too.
ONE_DEVICE_ERRORS: Final = (BadRequest, NotFound, Internal, UnexpectedAnswer)

T = TypeVar("T")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_REQUESTS, thread_name_prefix="weir-fleet")


class Deadline:
    """A monotonic instant after which no new request is sent."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def passed(self) -> bool:
        return self._clock() >= self._end


@dataclass(frozen=True, slots=True)
class ServiceAccess:
    """The service for one principal: the client and the cache."""

    client: Client
    cache: ReplyCache

    @property
    def principal(self) -> str:
        return self.client.principal

    def run_all(self, jobs: Iterable[Callable[[], T]], deadline: Deadline) -> Iterator[T]:
        return run_all(jobs, width=self.client.width, deadline=deadline)


def run_all(
    jobs: Iterable[Callable[[], T]], *, width: int, deadline: Deadline | None = None
) -> Iterator[T]:
    """Yields the results of the jobs as they complete, ``width`` jobs at a time. No job is started
    after the deadline. An error in one job ends them all."""
    waiting, under_way = iter(jobs), set[Future[T]]()
    try:
        while True:
            while len(under_way) < width and not (deadline and deadline.passed):
                job = next(waiting, None)
                if job is None:
                    break
                under_way.add(_pool().submit(job))
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in under_way:
            future.cancel()


def background(job: Callable[[], Any]) -> None:
    """Run the job in the background."""
    _pool().submit(job)


# --- Many devices in one request -----------------------------------------------------------------

LatestReplies = dict[str, LatestEntry | WeirError]


def latest(
    client: Client,
    ids: Sequence[str],
    metrics: Sequence[str],
    window: Window,
    resolution: Resolution | None = None,
) -> LatestReplies:
    """Each device's latest values, or the error that it alone causes.

    One failing device must not fail 49 others: a failing request is halved until that device is
    alone. Raises if the service as a whole fails.
    """
    replies: LatestReplies = {}
    waiting = [list(ids)] if ids else []
    while waiting:
        some = waiting.pop()
        try:
            page = client.latest(
                some, metrics, from_ms=window.from_ms, to_ms=window.to_ms,
                uptime_resolution=resolution,
            )  # fmt: skip
        except ONE_DEVICE_ERRORS as error:
            if len(some) == 1:
                replies[some[0]] = error
            else:
                half = len(some) // 2
                waiting += [some[half:], some[:half]]
            if sum(isinstance(a, WeirError) for a in replies.values()) > MOST_FAILURES:
                raise
        else:
            replies |= {entry.device_id: entry for entry in page.entries}
    missing = [id for id in ids if id not in replies]
    return replies | {id: NotFound("Device not found, or you don't have access.") for id in missing}


def batches(ids: Sequence[T]) -> list[Sequence[T]]:
    return [ids[i : i + MAX_IDS] for i in range(0, len(ids), MAX_IDS)]


def current_access() -> ServiceAccess:
    cache = session.singleton("fleet", lambda: ReplyCache())
    cache.note_time(now_ms())
    return ServiceAccess(session.current_client(), cache)
