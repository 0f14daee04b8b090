"""Many users at once: what each requests and when, and how long the responses took."""

from __future__ import annotations

import gzip
import heapq
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count, groupby
from threading import Lock
from typing import Any, Final

import brotli
import httpx
from backports import zstd

from benchmarks.clock import quantile
from web.auth.middleware import OUTAGE_HEADER

JITTER: Final = 0.2  # share of a period, like the pages' own timers
CONNECTIONS: Final = 6  # a browser's connections to one host
HANDS: Final = 96  # requests in progress, of all users together
TIMEOUT_S: Final = 20.0

# The encodings that a browser accepts. httpx needs another package to read zstd.
_DECODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip.decompress,
    "br": brotli.decompress,
    "zstd": zstd.decompress,
}

Check = Callable[[httpx.Response], str]
"""Returns what is wrong with a response, "" for nothing."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One response. ``late_ms``: from when the request was due until it was sent. ``took_ms``: from
    then until the whole body had arrived. ``fault`` is empty for a good response."""

    kind: str
    late_ms: float
    took_ms: float
    bytes_sent: int
    fault: str = ""


@dataclass
class Crowd:
    """The samples of all users; thread-safe."""

    samples: list[Sample] = field(default_factory=list[Sample])
    _lock: Lock = field(default_factory=Lock)

    def add(self, sample: Sample) -> None:
        with self._lock:
            self.samples.append(sample)


class Person:
    """One browser: its cookies and open connections."""

    def __init__(self, url: str, crowd: Crowd, headers: dict[str, str] | None = None) -> None:
        limits = httpx.Limits(
            max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=60
        )
        self.http = httpx.Client(
            base_url=url,
            headers=dict(headers or {}),
            limits=limits,
            timeout=TIMEOUT_S,
            trust_env=False,
        )
        self._crowd = crowd
        self.heard_s = 0.0  # when a response last showed that the session is valid

    def ask(
        self,
        kind: str,
        method: str,
        path: str,
        *,
        check: Check | None = None,
        due_s: float | None = None,
        **more: Any,
    ) -> httpx.Response | None:
        """Sends a request. Returns the response, None for a bad one. Each is counted under its
        ``kind``; ``check`` says, outside the measured time, what is wrong with a response."""
        start_s = time.perf_counter()
        late_ms = 0.0 if due_s is None else max(0.0, (start_s - due_s) * 1000)
        fault, size, answer = "", 0, None
        more["headers"] = {"Accept-Encoding": ", ".join(_DECODERS), **more.get("headers", {})}
        try:
            with self.http.stream(method, path, **more) as response:
                body = b"".join(response.iter_raw())
            size = len(body)
            answer = _decoded(response, body)
            if answer.status_code not in (200, 204):
                fault, check = f"status {answer.status_code}", None
        except httpx.HTTPError as error:
            fault = type(error).__name__
        took_ms = (time.perf_counter() - start_s) * 1000
        if answer is not None and OUTAGE_HEADER in answer.headers:
            self.heard_s = time.perf_counter()
        if answer is not None and check is not None:
            fault = check(answer)
        self._crowd.add(Sample(kind, late_ms, took_ms, size, fault))
        return None if fault else answer

    def close(self) -> None:
        self.http.close()


def _decoded(response: httpx.Response, body: bytes) -> httpx.Response:
    """Returns the response with its body decoded."""
    headers = httpx.Headers(response.headers)
    decode = _DECODERS.get(headers.pop("Content-Encoding", ""), bytes)
    return httpx.Response(
        response.status_code, headers=headers, content=decode(body), request=response.request
    )


@dataclass(frozen=True, slots=True)
class Habit:
    """Something that a user repeats; ``do`` gets the time at which it was due."""

    do: Callable[[float], Any]
    every_s: float


def live(habits: Sequence[Habit], seconds: float, seed: int) -> None:
    """Lets everyone follow their habits for this long, each starting at its own moment. Failures
    other than bad responses end the run."""
    dice, numbers = random.Random(seed), count()
    start_s = time.perf_counter()
    end_s = start_s + seconds
    timetable = [(start_s + dice.uniform(0, h.every_s), next(numbers), h) for h in habits]
    heapq.heapify(timetable)
    with ThreadPoolExecutor(HANDS, thread_name_prefix="crowd") as hands:
        under_way = []
        while timetable and timetable[0][0] < end_s:
            due_s, _, habit = heapq.heappop(timetable)
            time.sleep(max(0.0, due_s - time.perf_counter()))
            under_way.append(hands.submit(habit.do, due_s))
            next_s = due_s + habit.every_s * dice.uniform(1 - JITTER, 1 + JITTER)
            heapq.heappush(timetable, (next_s, next(numbers), habit))
    for each in under_way:
        each.result()


# --- Results ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """Results of one kind of request, or of all of them. Times in ms, of good responses."""

    kind: str
    answers: int
    per_s: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    slowest_ms: float
    late_p99_ms: float
    mean_bytes: float
    faults: dict[str, int]


def figures(samples: Iterable[Sample], seconds: float) -> Iterator[Figures]:
    """Yields the results of each kind, and of all of them where there are several."""
    ordered = sorted(samples, key=lambda sample: sample.kind)
    kinds = [(kind, list(group)) for kind, group in groupby(ordered, lambda s: s.kind)]
    for kind, group in [*kinds, *([("all", ordered)] if len(kinds) > 1 else [])]:
        yield _figures(kind, group, seconds)


def _figures(kind: str, samples: list[Sample], seconds: float) -> Figures:
    took = [s.took_ms for s in samples if not s.fault] or [float("nan")]
    faults: dict[str, int] = {}
    for sample in samples:
        if sample.fault:
            faults[sample.fault] = faults.get(sample.fault, 0) + 1
    return Figures(
        kind=kind,
        answers=len(samples),
        per_s=len(samples) / seconds,
        p50_ms=quantile(took, 0.5),
        p95_ms=quantile(took, 0.95),
        p99_ms=quantile(took, 0.99),
        slowest_ms=max(took),
        late_p99_ms=quantile([s.late_ms for s in samples], 0.99),
        mean_bytes=sum(s.bytes_sent for s in samples) / len(samples),
        faults=faults,
    )
