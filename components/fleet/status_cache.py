"""What is known of each device: the page's devices at each refresh, all others little by little.

The interface summarises 50 devices a question. A page is two or three questions; a fleet of ten
thousand is two hundred, too many for one refresh. So each refresh also spends a bounded time on
the devices whose state is oldest, and what it learns is kept for all who look with that key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from api.catalog import EARLIEST_READING_MS, Resolution
from api.client import LatestEntry
from api.errors import WeirError
from api.metering import uptime
from api.metering.cadence import Cadence
from api.metering.windows import Span, Window, latest_buckets
from api.timez import HOUR_MS
from components.fleet.cadence import cadences
from components.fleet.device_status import Known, learnt
from components.fleet.install_date import believed
from components.fleet.meters import Meter
from components.fleet.queries import Deadline, Desk, batches, latest
from components.fleet.shared_cache import Book

PAGE_FRESH_MS: Final = 4_000  # several who look at one page ask once
SWEEP_FRESH_MS: Final = 120_000
EVER_FRESH_MS: Final = HOUR_MS
PAGE_PATIENCE_S: Final = 30.0  # a page without states is no page: wait as long as the client does
CADENCE_S: Final = 0.4
METRICS: Final = ("uptime", "lastDatapoint", "quality")


class _Group(NamedTuple):
    """What devices share that one question can ask for together."""

    resolution: Resolution
    window: Window | None


class _Question(NamedTuple):
    group: _Group
    cadence: Mapping[str, Cadence]
    before: Mapping[str, Known]
    now_ms: int


def knowledge(desk: Desk, span: Span) -> Mapping[str, Known]:
    """Everything known so far, by device id."""
    return _book(desk, span).pull()


def refresh_page(desk: Desk, span: Span, meters: Sequence[Meter], now_ms: int) -> None:
    """The devices in sight, but for those that somebody asked about a moment ago. Raises a
    WeirError where the service can't answer."""
    known = knowledge(desk, span)
    due = [m for m in meters if now_ms - _asked_ms(known, m.id) >= PAGE_FRESH_MS]
    cadence = cadences(desk, due, Deadline(CADENCE_S), now_ms)
    _refresh(desk, span, due, cadence, known, Deadline(PAGE_PATIENCE_S), now_ms)


def sweep(desk: Desk, span: Span, meters: Sequence[Meter], deadline: Deadline, now_ms: int) -> None:
    """The devices whose state is oldest, as far as the deadline allows. One sweep a process and
    principal at a time: a second would ask the same."""
    lock = _book(desk, span).sweeping
    if not lock.acquire(blocking=False):
        return
    try:
        known = knowledge(desk, span)
        due = [m for m in meters if now_ms - _asked_ms(known, m.id) >= SWEEP_FRESH_MS]
        due.sort(key=lambda meter: _asked_ms(known, meter.id))
        cadence = cadences(desk, due, deadline.half(), now_ms)
        _refresh(desk, span, due, cadence, known, deadline, now_ms)
    finally:
        lock.release()


def _book(desk: Desk, span: Span) -> Book[Known]:
    return desk.memory.book(desk.principal, f"states:{span.name}", Known._make)


def _asked_ms(known: Mapping[str, Known], device_id: str) -> int:
    return known[device_id].asked_ms if device_id in known else 0


def _refresh(
    desk: Desk,
    span: Span,
    meters: Iterable[Meter],
    cadence: Mapping[str, Cadence],
    before: Mapping[str, Known],
    deadline: Deadline,
    now_ms: int,
) -> None:
    """Ask, the oldest knowledge first, and remember the answers."""
    learnt_now: dict[str, Known] = {}
    meters = believed(desk, meters, now_ms - span.length_ms, deadline.half(), now_ms)
    questions = [
        (_Question(group, cadence, before, now_ms), ids)
        for group, members in _groups(span, meters, cadence, now_ms).items()
        for ids in batches(members)
    ]
    questions.sort(key=lambda each: _asked_ms(before, each[1][0]))
    jobs = (partial(_ask, desk, question, ids) for question, ids in questions)
    try:
        for told in desk.answers(jobs, deadline):
            learnt_now |= told
    finally:
        _book(desk, span).put(learnt_now, now_ms)


def _groups(
    span: Span, meters: Iterable[Meter], cadence: Mapping[str, Cadence], now_ms: int
) -> Mapping[_Group, list[str]]:
    """By uptime resolution, and by first due instant where that lies in the window."""
    groups: defaultdict[_Group, list[str]] = defaultdict(list)
    for meter in meters:
        if meter.id in cadence:
            resolution = uptime.resolution_for(cadence[meter.id])
            window = latest_buckets(span, resolution, meter.installed_on_ms, now_ms)
            groups[_Group(resolution, window)].append(meter.id)
    return groups


def _ask(desk: Desk, question: _Question, ids: Sequence[str]) -> dict[str, Known]:
    group, now_ms = question.group, question.now_ms
    start = group.window.from_ms if group.window else now_ms - group.resolution.fixed_ms
    answered = latest(desk.client, ids, METRICS, Window(start, now_ms), group.resolution)
    known = {id: _known(question, id, told) for id, told in answered.items()}
    unseen = [id for id, each in known.items() if each.seen_ms is None and not each.failure]
    return known | _seen_before(desk, question, {id: known[id] for id in unseen})


def _known(question: _Question, device_id: str, told: LatestEntry | WeirError) -> Known:
    cadence = question.cadence[device_id]
    if isinstance(told, WeirError):
        return Known(question.now_ms, cadence.ms, failure=str(told))
    return learnt(
        told,
        cadence=cadence,
        resolution=question.group.resolution,
        window=question.group.window,
        now_ms=question.now_ms,
    )


def _seen_before(desk: Desk, question: _Question, unseen: Mapping[str, Known]) -> dict[str, Known]:
    """Devices without a reading in the window: when they were last heard of at all. Only late
    readings change that, so it is asked once an hour."""
    found: dict[str, Known] = {}
    for id, each in unseen.items():
        before = question.before.get(id)
        looked_ms = _looked_ms(before) if before is not None else 0
        if before is not None and question.now_ms - looked_ms < EVER_FRESH_MS:
            found[id] = each._replace(seen_ms=before.seen_ms, ever_ms=looked_ms)
    due = [id for id in unseen if id not in found]
    window = Window(EARLIEST_READING_MS, question.now_ms)
    for id, told in latest(desk.client, due, ("lastSeen",), window).items():
        if isinstance(told, WeirError):
            found[id] = unseen[id]._replace(failure=str(told))
        else:
            found[id] = unseen[id]._replace(seen_ms=told.last_seen_ms, ever_ms=question.now_ms)
    return found


def _looked_ms(before: Known) -> int:
    """When its last reading was known for certain: seen in a window then, or looked for."""
    return before.ever_ms or (before.asked_ms if before.seen_ms is not None else 0)
