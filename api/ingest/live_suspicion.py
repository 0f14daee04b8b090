"""Watches the stored readings of all live sources (HTTP, the broker, the MQTT listener) for what
`suspicion` looks for in files: amounts that look like a register, and flows that are too large.

One message has one amount, so the last amounts of each device are summed up in a few numbers. They
are lost at a restart; what was reported is in the store, once a day as long as it goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final, NamedTuple

from api import timez
from api.catalog import DAY_MS, FLOW_AMOUNT, FLOW_RATE, METRICS
from api.errors import WeirError
from api.ingest.announcer import Stored
from api.ingest.suspicion import (
    REGISTER_LIKE,
    TOO_LARGE,
    amount_sample,
    flow_sample,
    largest_possible,
)
from api.metering.register import FEWEST_RISES, FEWEST_VALUES
from api.store.base import SUSPICIOUS, Refusal, Store
from api.telemetry import metrics

LEAST_MS: Final = DAY_MS  # without a fall; the use of water rises and falls within a day
REPORT_MS: Final = DAY_MS  # between two reports of one suspicion
CHECK_S: Final = 2.0  # between two checks of flows
CHECKED_AT_ONCE: Final = 20  # devices; the limit of one may take reading its 90 days
MOST_DEVICES: Final = 100_000  # watched; beyond, the watch begins again
_RATE, _AMOUNT = 2 + METRICS.index(FLOW_RATE), 2 + METRICS.index(FLOW_AMOUNT)

_log = logging.getLogger(__name__)


class Rising(NamedTuple):
    """The latest amounts of a device that didn't fall."""

    first_ms: int
    last_ms: int
    amount: float
    values: int = 1
    rises: int = 0

    def then(self, at_ms: int, amount: float) -> Rising:
        """Returns the run with the next amount. A late one is left out."""
        if at_ms <= self.last_ms:
            return self
        if amount < self.amount:
            return Rising(at_ms, at_ms, amount)
        rises = self.rises + (amount > self.amount)
        return Rising(self.first_ms, at_ms, amount, self.values + 1, rises)

    @property
    def like_register(self) -> bool:
        long = self.last_ms - self.first_ms >= LEAST_MS
        return long and self.values >= FEWEST_VALUES and self.rises >= FEWEST_RISES


@dataclass(slots=True)
class _Flow:
    """The largest flow of a device that is still to be checked; ``first_ms`` of the first one."""

    first_ms: int
    largest: float
    organization_id: str


class LiveSuspicions:
    """An `api.ingest.announcer.Hook`: always called by the same thread."""

    def __init__(
        self,
        store: Store,
        clock_s: Callable[[], float] = monotonic,
        now_ms: Callable[[], int] = timez.now_ms,
    ) -> None:
        self._store, self._clock_s, self._now_ms = store, clock_s, now_ms
        self._runs: dict[int, Rising] = {}
        self._limits: dict[int, float] = {}  # gal/min
        self._limits_day = 0
        self._flows: dict[int, _Flow] = {}
        self._reported: dict[tuple[int, str], int] = {}
        self._checked_s = 0.0

    def __call__(self, stored: Sequence[Stored]) -> None:
        runs, limits = self._runs, self._limits
        for organization_id, _, row in stored:
            key, amount, rate = row[0], row[_AMOUNT], row[_RATE]
            if amount is not None:
                run = runs.get(key)
                run = Rising(row[1], row[1], amount) if run is None else run.then(row[1], amount)
                runs[key] = run
                if run.like_register:
                    self._report(organization_id, key, REGISTER_LIKE, amount_sample(amount))
            if rate is not None and rate > limits.get(key, 0.0):
                self._take(organization_id, row[1], key, rate)
        if self._flows and (not stored or self._clock_s() >= self._checked_s + CHECK_S):
            self._check()
        for memory in (runs, self._flows, self._reported):
            if len(memory) > MOST_DEVICES:
                memory.clear()

    def _take(self, organization_id: str, at_ms: int, key: int, rate: float) -> None:
        flow = self._flows.setdefault(key, _Flow(at_ms, rate, organization_id))
        flow.first_ms, flow.largest = min(flow.first_ms, at_ms), max(flow.largest, rate)

    def _check(self) -> None:
        """Checks the largest flows, with limits read again: settings may have changed."""
        self._checked_s = self._clock_s()
        day = self._now_ms() // DAY_MS
        if day != self._limits_day:
            self._limits.clear()
            self._limits_day = day
        worst = sorted(self._flows, key=lambda key: -self._flows[key].largest)[:CHECKED_AT_ONCE]
        for device in self._store.devices_by_key(worst):
            flow = self._flows.pop(device.key)
            limit, why = largest_possible(self._store, device, flow.first_ms)
            self._limits[device.key] = limit
            if flow.largest > limit:
                sample = f"{flow_sample(flow.largest)}; {why}"
                self._report(flow.organization_id, device.key, TOO_LARGE, sample)
        for key in worst:
            self._flows.pop(key, None)  # deleted meanwhile

    def _report(self, organization_id: str, key: int, reason: str, sample: str) -> None:
        at_ms = self._now_ms()
        if at_ms < self._reported.get((key, reason), -REPORT_MS) + REPORT_MS:
            return
        try:
            (device,) = self._store.devices_by_key([key])
            serial = device.serial_number
            report = Refusal(organization_id, SUSPICIOUS, reason, serial, sample, at_ms)
            self._store.write([], refusals=[report])
        except (WeirError, ValueError) as error:  # the next reading tries again
            _log.warning("a suspicious reading can't be reported: %s", error)
            return
        self._reported[key, reason] = at_ms
        metrics.suspicious()
        _log.warning("suspicious readings of %s: %s (%s)", serial, reason, sample)
