"""Checks which installation dates are disproved by readings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from api.client import Client, LatestEntry
from api.metering.install_date import disproving
from api.metering.windows import Window
from api.timez import MINUTE_MS
from components.fleet.meters import Meter
from components.fleet.queries import Deadline, Desk, batches, latest

FRESH_MS: Final = 5 * MINUTE_MS  # an import may bring earlier readings at any time


class _Told(NamedTuple):
    asked_ms: int
    installed_on_ms: int
    disproved: bool


def believed(
    desk: Desk, meters: Iterable[Meter], since_ms: int, deadline: Deadline, now_ms: int
) -> list[Meter]:
    """The meters, those dates taken away that readings disprove. Only dates after ``since_ms`` are
    looked into, as far as the deadline allows: earlier ones change nothing in what is shown."""
    meters = list(meters)
    key = (desk.principal, "install-dates")
    kept: dict[str, _Told] = dict(desk.memory.local(key) or {})
    together: defaultdict[Window, list[Meter]] = defaultdict(list)
    for meter in meters:
        at = meter.installed_on_ms
        window = disproving(at) if at is not None and at > since_ms else None
        if window and _due(kept.get(meter.id), meter, now_ms):
            together[window].append(meter)
    jobs = (
        partial(_ask, desk.client, window, some, now_ms)
        for window, members in together.items()
        for some in batches(members)
    )
    if together:
        for told in desk.answers(jobs, deadline):
            kept |= told
        desk.memory.keep(key, kept)
    return [_without(meter, kept.get(meter.id)) for meter in meters]


def _due(told: _Told | None, meter: Meter, now_ms: int) -> bool:
    """What was disproved stays so."""
    if told is None or told.installed_on_ms != meter.installed_on_ms:
        return True
    return not told.disproved and now_ms - told.asked_ms >= FRESH_MS


def _ask(client: Client, window: Window, meters: Sequence[Meter], now_ms: int) -> dict[str, _Told]:
    """Of a device that can't be answered nothing is told: its other questions will say why."""
    answered = latest(client, [meter.id for meter in meters], ("lastSeen",), window)
    return {
        meter.id: _Told(now_ms, meter.installed_on_ms, told.last_seen_ms is not None)
        for meter in meters
        if isinstance(told := answered[meter.id], LatestEntry) and meter.installed_on_ms is not None
    }


def _without(meter: Meter, told: _Told | None) -> Meter:
    if told is None or not told.disproved or told.installed_on_ms != meter.installed_on_ms:
        return meter
    return replace(meter, installed_on_ms=None)
