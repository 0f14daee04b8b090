"""A simulated fleet, the same for the same seed.

It is realistic in what affects speed: devices report once a minute, each at its own second (so
their minutes fill unevenly), a few are faster or slower; there are jitter, lost readings, outages
of hours, long spans without flow, and numbers of realistic length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.store.base import NewDevice, ReadingRow, Span
from api.timez import parse_instant

END_MS = parse_instant("2025-03-23T00:00:00Z")  # two weeks after New York's clocks went forward
_LOST = 0.004
_JITTER_MS = 400
_OUTAGES_A_DAY = 1 / 20
_READINGS_A_DAY = 1_000  # readings of a device, on average: at least


@dataclass(frozen=True, slots=True)
class Fleet:
    devices: int
    days: int
    seed: int = 2026

    @property
    def span(self) -> Span:
        """Returns the span from the first possible reading to the last, without the end's own
        instant."""
        return Span(END_MS - self.days * DAY_MS, END_MS - 1)

    def new_devices(self) -> Iterator[NewDevice]:
        for index in range(self.devices):
            fields = {"label": f"Meter {index}", "reportingInterval": cadence_ms(index) / 1000}
            yield NewDevice(serial(index), fields)

    def readings(self, index: int, key: int) -> list[ReadingRow]:
        """Returns all readings of device ``index``, in order; ``key`` is its number in a store."""
        return list(chain.from_iterable(self.batches(index, key)))

    def batches(self, index: int, key: int, size: int = 50_000) -> Iterator[list[ReadingRow]]:
        """Yields the same in lists of ``size``: a fast device's year is millions of tuples."""
        rng = np.random.default_rng((self.seed, index))
        instants = self._instants(rng, cadence_ms(index))
        for start in range(0, len(instants), size):
            part = instants[start : start + size]
            columns = _columns(rng, part)
            yield list(zip([key] * len(part), part.tolist(), *columns, strict=True))

    def arrivals(self, keys: dict[int, int], limit: int) -> list[ReadingRow]:
        """Returns ``limit`` readings of all devices in the order in which they arrive over the
        fleet's last days, or as many as there are."""
        days = min(self.days, 1 + limit // (len(keys) * _READINGS_A_DAY))
        lately = replace(self, days=days)
        everyone = (lately.readings(index, key) for index, key in keys.items())
        return list(islice(merge(*everyone, key=itemgetter(1)), limit))

    def _instants(self, rng: np.random.Generator, cadence: int) -> npt.NDArray[np.int64]:
        start, end = self.span.from_ms or 0, END_MS
        ticks = np.arange(start + int(rng.integers(cadence)), end, cadence, dtype=np.int64)
        ticks += rng.integers(-_JITTER_MS, _JITTER_MS + 1, len(ticks))
        arrived = rng.random(len(ticks)) >= _LOST
        for _ in range(rng.poisson(self.days * _OUTAGES_A_DAY)):
            since = start + int(rng.integers(end - start))
            arrived &= (ticks < since) | (ticks > since + int(rng.integers(HOUR_MS, 12 * HOUR_MS)))
        return ticks[arrived & (ticks >= start) & (ticks < end)]


def serial(index: int) -> str:
    return f"BENCH-{index:05}"


def cadence_ms(index: int) -> int:
    """Of 50 devices, one reports every 10 s, two every 15 min and all others every minute."""
    return {7: 10_000, 17: 15 * MINUTE_MS, 37: 15 * MINUTE_MS}.get(index % 50, MINUTE_MS)


def _columns(rng: np.random.Generator, instants: npt.NDArray[np.int64]) -> list[list[Any]]:
    """Returns the metrics in the order of catalog.METRICS; some temperatures are missing."""
    size = len(instants)
    hour = instants % DAY_MS / HOUR_MS
    demand = 0.04 + 0.3 * np.exp(-((hour - 13) ** 2) / 6) + 0.2 * np.exp(-((hour - 1) ** 2) / 4)
    flowing = rng.random(size) < demand
    rate = np.where(flowing, rng.gamma(2.0, 1.6, size), 0.0).round(2)
    seconds = np.where(flowing, rng.integers(5, 60, size), 0).astype(float)
    warmth = 16 + 5 * np.sin((hour - 15) / 24 * 2 * np.pi) + rng.normal(0, 0.6, size)
    temperature: list[float | None] = warmth.round(1).tolist()
    for index in np.flatnonzero(rng.random(size) < 0.01).tolist():
        temperature[index] = None
    return [
        rate.tolist(),
        seconds.tolist(),
        (rate * seconds / 60).round(3).tolist(),
        np.clip(rng.normal(88, 6, size), 0, 100).round(1).tolist(),
        rng.normal(-78, 5, size).round(0).tolist(),
        rng.normal(-70, 6, size).round(0).tolist(),
        temperature,
    ]
