"""Old raw readings are deleted, their rollups stay, and nothing is computed again from less."""

from __future__ import annotations

from itertools import pairwise

import pytest

from api.catalog import DAY_MS, HOUR_MS, LADDER, MINUTE_MS, RAW, STORED
from api.domain.adaptive import adaptive
from api.errors import UserError
from api.store.base import Device, LatestQuery, Progress, Span, Store
from api.store.retention import REASON, months_before
from api.timez import parse_instant
from tests.store.fleet import NOON_MS, new_meters, reading
from tests.tables import cases

LIMIT_MS = NOON_MS + 12 * HOUR_MS  # a midnight
EVERYTHING = Span()


def filled(store: Store, meter: Device, *, hours: range) -> None:
    """A reading every ten minutes of these hours after noon."""
    store.write(
        [
            reading(meter, NOON_MS + hour * HOUR_MS + ten * 10 * MINUTE_MS, flow_rate=float(hour))
            for hour in hours
            for ten in range(6)
        ]
    )


def counts(store: Store, meter: Device, span: Span = EVERYTHING) -> dict[str, int]:
    return {r.name: store.count(meter, r, span) for r in LADDER}


def test_raw_readings_are_deleted_and_their_rollups_stay(empty_store: Store) -> None:
    meter, other = new_meters(empty_store, 2)
    filled(empty_store, meter, hours=range(24))
    filled(empty_store, other, hours=range(6, 18))
    before = {r: empty_store.rows(meter, r, EVERYTHING, limit=1_000) for r in STORED}

    assert empty_store.prune(LIMIT_MS, pretend=True) == (12 + 6) * 6
    assert counts(empty_store, meter)["raw"] == 24 * 6
    assert empty_store.raw_from_ms() is None

    assert empty_store.prune(LIMIT_MS) == (12 + 6) * 6
    assert empty_store.raw_from_ms() == LIMIT_MS
    assert {r: empty_store.rows(meter, r, EVERYTHING, limit=1_000) for r in STORED} == before
    left = empty_store.rows(meter, RAW, EVERYTHING, limit=1_000)
    assert [row[0] for row in left] == [LIMIT_MS + n * 10 * MINUTE_MS for n in range(72)]
    assert counts(empty_store, meter) == {
        "raw": 72, "1min": 144, "5min": 144, "10min": 144, "1hour": 24,
    }  # fmt: skip
    assert empty_store.prune(LIMIT_MS) == 0
    assert empty_store.verify().wrong == 0


def test_pages_after_deleted_readings_are_right(empty_store: Store) -> None:
    (meter,) = new_meters(empty_store, 1)
    rows = [reading(meter, NOON_MS + n * 5_000, flow_rate=1.0) for n in range(24 * 720)]
    empty_store.write(rows)
    empty_store.prune(LIMIT_MS)
    remaining = [row[1] for row in rows if row[1] >= LIMIT_MS]
    page = empty_store.rows(meter, RAW, EVERYTHING, limit=3, offset=6_000)
    assert [row[0] for row in page] == remaining[6_000:6_003]


def test_a_silent_device_keeps_its_last_hour(empty_store: Store) -> None:
    (meter,) = new_meters(empty_store, 1)
    filled(empty_store, meter, hours=range(3))
    assert empty_store.prune(LIMIT_MS) == 12
    result = empty_store.latest([meter], LatestQuery(EVERYTHING, last=True))[meter.key]
    assert result.last is not None
    assert result.last[0] == NOON_MS + 2 * HOUR_MS + 50 * MINUTE_MS
    assert counts(empty_store, meter)["raw"] == 6


def test_readings_before_the_limit_are_refused_with_a_reason(empty_store: Store) -> None:
    (meter,) = new_meters(empty_store, 1)
    filled(empty_store, meter, hours=range(24))
    empty_store.prune(LIMIT_MS)
    before = empty_store.rows(meter, STORED[0], EVERYTHING, limit=1_000)
    late = [
        reading(meter, LIMIT_MS - 1, flow_rate=7.0),
        reading(meter, LIMIT_MS + 1, flow_rate=7.0),
    ]
    written = empty_store.write(late, progress=Progress("d", meter.organization_id, 2))
    assert written == (1, 0, 1)
    progress = empty_store.progress("d", meter.organization_id)
    assert progress is not None
    assert (progress.stored, progress.repeated, progress.refused) == (1, 0, 1)
    assert empty_store.add([reading(meter, LIMIT_MS - 2, flow_rate=7.0)]).readings == []
    (refusal,) = empty_store.refusals(meter.organization_id)
    assert (refusal.reason, refusal.device, refusal.count) == (REASON, meter.serial_number, 2)
    after = empty_store.rows(meter, STORED[0], EVERYTHING, limit=1_000)
    assert after[: len(before) // 2] == before[: len(before) // 2]
    assert empty_store.verify().wrong == 0


def test_a_repair_leaves_rollups_without_raw_readings_alone(empty_store: Store) -> None:
    (meter,) = new_meters(empty_store, 1)
    filled(empty_store, meter, hours=range(24))
    before = empty_store.rows(meter, STORED[-1], EVERYTHING, limit=1_000)
    empty_store.prune(LIMIT_MS)
    assert empty_store.verify(repair=True).wrong == 0
    assert empty_store.rows(meter, STORED[-1], EVERYTHING, limit=1_000) == before


@pytest.mark.parametrize(
    ("span", "there"),
    [
        (Span(None, None), False),
        (Span(LIMIT_MS - 1, None), False),
        (Span(LIMIT_MS - HOUR_MS, LIMIT_MS - 1), False),
        (Span(LIMIT_MS, None), True),
        (Span(LIMIT_MS, LIMIT_MS + 1), True),
        (Span(0, NOON_MS - 1), True),  # it had no readings then
    ],
)
def test_a_span_has_its_raw_readings_or_not(empty_store: Store, span: Span, there: bool) -> None:
    (meter,) = new_meters(empty_store, 1)
    filled(empty_store, meter, hours=range(24))
    assert empty_store.has_raw(meter, span)
    empty_store.prune(LIMIT_MS)
    assert empty_store.has_raw(meter, span) is there


def test_a_chart_uses_rollups_where_raw_readings_are_deleted(empty_store: Store) -> None:
    """The interface's rule alone would take the few remaining raw rows for all."""
    (meter,) = new_meters(empty_store, 1)
    filled(empty_store, meter, hours=range(24))
    end = NOON_MS + DAY_MS
    assert adaptive(empty_store, meter, NOON_MS, end, 1_000).resolution is RAW
    empty_store.prune(LIMIT_MS)
    chosen = adaptive(empty_store, meter, NOON_MS, end, 1_000)
    assert (chosen.resolution, chosen.count) == (STORED[0], 144)
    assert adaptive(empty_store, meter, LIMIT_MS, end, 1_000).resolution is RAW


@pytest.mark.parametrize(
    ("instant", "words"), [(NOON_MS + 1, "not on the hour"), (2**45 * HOUR_MS, "future")]
)
def test_an_invalid_limit_changes_nothing(empty_store: Store, instant: int, words: str) -> None:
    with pytest.raises(UserError, match=words):
        empty_store.prune(instant)
    assert empty_store.raw_from_ms() is None


def test_the_limit_never_moves_back(empty_store: Store) -> None:
    empty_store.prune(LIMIT_MS)
    empty_store.prune(LIMIT_MS - DAY_MS)
    assert empty_store.raw_from_ms() == LIMIT_MS


@cases(
    ("now", "months", "limit"),
    [
        ("2026-11-21T02:30:00Z", 0, "2026-11-01T00:00:00Z"),
        ("2026-11-21T02:30:00Z", 1, "2026-10-01T00:00:00Z"),
        ("2026-01-31T23:59:59Z", 1, "2025-12-01T00:00:00Z"),
        ("2026-11-01T00:00:00Z", 24, "2024-11-01T00:00:00Z"),
        ("2026-12-31T00:00:00Z", 12, "2025-12-01T00:00:00Z"),
    ],
)
def test_months_are_counted_back_in_utc(now: str, months: int, limit: str) -> None:
    assert months_before(parse_instant(now), months) == parse_instant(limit)


def test_months_are_counted_back_one_by_one() -> None:
    limits = [months_before(NOON_MS, months) for months in range(40)]
    assert all(28 <= (later - earlier) / DAY_MS <= 31 for later, earlier in pairwise(limits))
