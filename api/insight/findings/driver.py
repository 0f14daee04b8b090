"""Runs all kinds over a device's hours, and again from where late readings change them.

Time advances by the hour of data. An hour is processed when a later one has a reading, so that the
findings don't depend on how readings arrived; hours without readings are processed too. At the
start of a local day the day before is closed: its row joins the history and the profile is
recomputed. At 05:00 the night is closed. The latest, unfinished hour is passed only to the live
kinds, and isn't stored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.insight.findings.model import (
    NORMAL_FROM,
    Context,
    Day,
    Device,
    Draft,
    Event,
    Finding,
    Hour,
    HourRow,
    Kind,
    Night,
    Readings,
    Today,
)
from api.insight.findings.nights import lowest_flow
from api.insight.findings.registry import KINDS, Settings, values
from api.insight.findings.severity import finding_of
from api.insight.findings.state import Carried, State
from api.metering.night_flow import night_of
from api.metering.profile import DAYS, History, Span, day_row, day_types, untrained, usual
from api.metering.uptime import LEAST_COVERAGE
from api.timez import day_start, floor_to, local_ordinal, offset_ms

BEFORE_MS: Final = 6 * HOUR_MS
"""Hours are read from this long before the first unprocessed one: the current night needs them."""
MASKS_MS: Final = 7 * DAY_MS
"""After this time a finding counts as the new normal: all of its hours are used for training.
Otherwise an alarm could wait forever for a profile that never changes."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``state`` is to be stored. ``findings`` are all that were open at ``since_ms`` or later,
    unordered. Stored findings of the device that opened at or after ``since_ms`` and aren't among
    them must be deleted. (kind, opened_ms) identifies a finding."""

    state: State | None
    since_ms: int
    findings: tuple[Finding, ...]


def evaluate(
    device: Device,
    settings: Settings,
    state: State | None,
    readings: Readings,
    *,
    touched_ms: int | None = None,
    now_ms: int | None = None,
) -> Evaluation:
    """Returns the findings after all readings.

    ``state`` is the result of the last evaluation, None to begin with the first reading.
    ``touched_ms`` is the earliest recorded_at that was stored since then; without it, processed
    hours count as unchanged. ``now_ms`` is the clock by which a device becomes silent; without it,
    the end of the latest reading's minute is used. ``device`` and ``settings`` must be those of the
    last run; if they changed, pass None as the state.
    """
    if state is not None and touched_ms is not None:
        state = state.before(floor_to(touched_ms, HOUR_MS))
    rows = readings.hours(None if state is None else state.carried.next_ms - BEFORE_MS)
    if state is None:
        if not rows:
            return Evaluation(None, 0, ())
        state = _first(device, rows[0].start_ms)
        since_ms = 0
    else:
        since_ms = state.carried.next_ms
    run = _Run(device, settings, state, readings, rows)
    run.all(rows)
    new_state = run.state()
    run.latest(now_ms)
    return Evaluation(new_state, since_ms, run.findings())


def _first(device: Device, first_ms: int) -> State:
    """Returns the state before the first reading."""
    day = local_ordinal(device.zone, first_ms)
    return State(Carried(first_ms, day, night=day - 1), History.empty(day))


class _Run:
    """One running evaluation."""

    def __init__(
        self,
        device: Device,
        settings: Settings,
        state: State,
        readings: Readings,
        rows: Sequence[HourRow],
    ) -> None:
        self._device, self._readings = device, readings
        self._kinds = [
            kind
            for kind in KINDS
            if (one := values(kind, settings))["enabled"] and kind.needs(device, one)
        ]
        self._values = {kind.name: values(kind, settings) for kind in self._kinds}
        self._rows = {row.start_ms: row for row in rows}
        self._last_ms = rows[-1].start_ms if rows else None
        self._today: Today | None = None
        self._all_drafts: dict[tuple[str, int], Draft] = {}
        self._begin(state)
        self._contexts = {
            kind.name: Context(device, self._values[kind.name], self._drafts)
            for kind in self._kinds
        }
        self._by_event = {
            event: [kind for kind in self._kinds if event in kind.sees]
            for event in (Hour, Day, Night)
        }

    def _begin(self, state: State) -> None:
        carried, self._history, self._snapshots = state.carried, state.history, state.snapshots
        self._memories: dict[str, Any] = {
            kind.name: carried.memories.get(kind.name, kind.memory()) for kind in self._kinds
        }
        self._drafts: dict[str, Draft | None] = {
            kind.name: carried.drafts.get(kind.name) for kind in self._kinds
        }
        for name, draft in self._drafts.items():
            if draft is not None:
                self._all_drafts[name, draft.opened_ms] = draft
        self._hours = list(carried.today)
        self._masked, self._day_spans = carried.masked, carried.day_spans
        self._day, self._night = carried.day, carried.night
        self._next_ms = carried.next_ms
        self._day_end_ms = day_start(self._device.zone, self._day + 1)

    # --- Hours, days, nights ---

    def all(self, rows: Sequence[HourRow]) -> None:
        if self._last_ms is None:
            return
        for start_ms in range(self._next_ms, self._last_ms + HOUR_MS, HOUR_MS):
            self._next_ms = start_ms
            if start_ms >= self._day_end_ms:
                self._close_day(start_ms)
            self._close_night(start_ms)
            if start_ms < self._last_ms:
                self._see_hour(start_ms)
                self._next_ms = start_ms + HOUR_MS

    def _see_hour(self, start_ms: int) -> None:
        row = self._rows.get(start_ms)
        self._dispatch(Hour, self._hour(start_ms, row, start_ms + HOUR_MS))
        if row is not None and row.gallons is not None and row.coverage >= LEAST_COVERAGE:
            self._hours.append((start_ms, row.gallons))

    def _hour(self, start_ms: int, row: HourRow | None, until_ms: int) -> Hour:
        local = start_ms + offset_ms(self._device.zone, start_ms)
        return Hour(
            start_ms, row, local // HOUR_MS % 24, self._usual_today, self._readings, until_ms
        )

    def _close_day(self, now_ms: int) -> None:
        """Closes the days that ended since: one that had hours, then possibly empty ones."""
        zone = self._device.zone
        today = self._usual_today()
        volumes = day_row(self._day, zone, self._hours)
        start_ms, end_ms = day_start(zone, self._day), self._day_end_ms
        event = Day(self._day, start_ms, end_ms, volumes, today, self._history)
        self._dispatch(Day, event)
        self._history = self._history.with_day(volumes, today.expected)
        self._day = local_ordinal(zone, now_ms)
        self._history = self._history.skipped_to(self._day)
        self._day_end_ms = day_start(zone, self._day + 1)
        self._hours = []
        self._today = None
        horizon = now_ms - (DAYS + 2) * DAY_MS
        self._masked = tuple(span for span in self._masked if span[1] > horizon)
        self._day_spans = self._spans(now_ms)
        state = State(self._carried(), self._history, self._snapshots).with_snapshot()
        self._snapshots = state.snapshots

    def _close_night(self, start_ms: int) -> None:
        if self._night >= self._day:
            return
        from_ms, to_ms = night_of(self._device.zone, self._day)
        if start_ms < to_ms:
            return
        self._night = self._day
        flow = lowest_flow(self._readings, self._rows, from_ms, to_ms, self._device.reading_ms)
        flow = None if flow is None else float(f"{flow:.6g}")  # 59 of them are carried
        mean = self._history.mean
        self._dispatch(Night, Night(self._day, from_ms, to_ms, flow, mean))

    def latest(self, now_ms: int | None) -> None:
        """Passes the unfinished hour, and the hours since without readings, to the live kinds, and
        discards their memory of it."""
        last_ms = self._next_ms if self._last_ms is None else self._last_ms
        until_ms = max(self._reported_until(last_ms) if now_ms is None else now_ms, last_ms + 1)
        row = self._rows.get(last_ms)
        live = [kind for kind in self._by_event[Hour] if kind.live]
        self._dispatch_to(live, self._hour(last_ms, row, min(until_ms, last_ms + HOUR_MS)))
        if until_ms > last_ms + HOUR_MS:
            self._dispatch_to(live, self._hour(last_ms + HOUR_MS, None, until_ms))
        self._now_ms = until_ms

    def _reported_until(self, hour_ms: int) -> int:
        """Returns the end of the latest minute with a reading in the hour."""
        minutes = self._readings.minutes(hour_ms, hour_ms + HOUR_MS)
        return minutes[-1].start_ms + MINUTE_MS if minutes else hour_ms + HOUR_MS

    def _dispatch(self, seen: type, event: Event) -> None:
        self._dispatch_to(self._by_event[seen], event)

    def _dispatch_to(self, kinds: Sequence[Kind], event: Event) -> None:
        for kind in kinds:
            name = kind.name
            before = self._drafts[name]
            self._memories[name], drafts = kind.step(
                self._memories[name], before, event, self._contexts[name]
            )
            if drafts and not (len(drafts) == 1 and drafts[0] is before):
                self._keep(kind, drafts)

    def _keep(self, kind: Kind, drafts: Sequence[Draft]) -> None:
        for made in drafts:
            before = self._all_drafts.get((kind.name, made.opened_ms))
            draft = made._replace(usual_per_day=self._usual_of(made, before))
            closed = draft.end_ms is not None and (before is None or before.end_ms is None)
            if closed and kind.masks and _masks(draft, draft.end_ms or 0):
                self._masked = (*self._masked, (draft.start_ms, draft.end_ms or 0))
            if closed and draft.end_ms == self._values[kind.name].get(NORMAL_FROM.name):
                # The profile is learned again, from this hour on.
                earlier = (draft.start_ms - (DAYS + 2) * DAY_MS, draft.start_ms)
                self._masked = (*self._masked, earlier)
                self._day_spans, self._today = (*self._day_spans, earlier), None
            self._all_drafts[kind.name, draft.opened_ms] = self._drafts[kind.name] = draft

    def _usual_of(self, draft: Draft, before: Draft | None) -> float | None:
        """Returns the usual volume of the day on which the draft closed, whenever it is
        evaluated."""
        if draft.end_ms is None:
            return None
        earlier = None if before is None else before.usual_per_day
        return self._usual_per_day() if earlier is None else earlier

    # --- What is usual ---

    def _usual_today(self) -> Today:
        if self._today is None:
            device = self._device
            silenced = untrained(self._day, device.zone, self._day_spans)
            profile = usual(self._history, device.holidays, silenced)
            expected = profile.expected(day_types(self._day, 1, device.holidays))[0]
            self._today = Today(profile, np.asarray(expected))
        return self._today

    def _usual_per_day(self) -> float:
        mean = self._history.mean
        return 24 * mean if math.isfinite(mean) else 0.0

    def _spans(self, now_ms: int) -> tuple[Span, ...]:
        """Returns the spans that aren't used for training as of now."""
        horizon = now_ms - (DAYS + 2) * DAY_MS
        excluded = (
            (start, min(end, now_ms))
            for start, end in self._device.excluded
            if end > horizon and start < now_ms
        )
        open_now = (
            (draft.start_ms, now_ms)
            for kind in self._kinds
            if kind.masks
            and (draft := self._drafts[kind.name]) is not None
            and draft.end_ms is None
            and _masks(draft, now_ms)
        )
        return (*excluded, *self._masked, *open_now)

    # --- Results ---

    def _carried(self) -> Carried:
        return Carried(
            self._next_ms,
            self._day,
            self._night,
            tuple(self._hours),
            self._masked,
            self._day_spans,
            dict(self._memories),
            dict(self._drafts),
        )

    def state(self) -> State:
        return State(self._carried(), self._history, self._snapshots)

    def findings(self) -> tuple[Finding, ...]:
        device = self._device
        by_name = {kind.name: kind for kind in self._kinds}
        usual_now = self._usual_per_day() if self._all_drafts else 0.0
        return tuple(
            finding_of(
                by_name[name],
                draft,
                self._values[name],
                device.price,
                device.zone,
                self._now_ms,
                usual_now,
            )
            for (name, _), draft in self._all_drafts.items()
        )


def _masks(draft: Draft, now_ms: int) -> bool:
    return not draft.trains and now_ms - draft.opened_ms < MASKS_MS
