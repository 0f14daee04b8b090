"""The demo fleet's readings: seeded, resumed, caught up, live."""

from __future__ import annotations

import pytest

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS, RAW
from api.ingest.demo import feed as demo
from api.ingest.demo.feed import Fleet, catch_up, live, seed
from api.ingest.demo.fleet import (
    FLEET,
    LONGEST_GAP_MS,
    MARK,
    ORGANIZATION_ID,
    SILENT_MS,
    Character,
    Condition,
    device,
)
from api.ingest.demo.meter import last_instant, readings
from api.store.base import Device, Grant, ReadingRow, Scope, Span, Store

HISTORY_MS = 8 * HOUR_MS


@pytest.fixture
def fleet(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """The fleet's devices in an empty store; its history is eight hours, not thirty days."""
    for name in ("HISTORY_MS", "LONG_HISTORY_MS"):
        monkeypatch.setattr(f"api.ingest.demo.fleet.{name}", HISTORY_MS)
    organization = sqlite_store.create_organization("Demo", organization_id=ORGANIZATION_ID)
    devices = [device(one, organization.created_ms) for one in FLEET]
    sqlite_store.import_devices(ORGANIZATION_ID, devices)
    fleet = Fleet.of(sqlite_store)
    assert fleet is not None
    return fleet


def expected(fleet: Fleet, one: Character, until_ms: int) -> list[ReadingRow]:
    """Everything from the start of the history to an instant, from the generator."""
    start = fleet.origin_ms - HISTORY_MS
    rows = readings(one, fleet.keys[one.id], fleet.origin_ms, start, until_ms).rows()
    return [_sent(one, row) for row in rows]


def _sent(one: Character, row: tuple[object, ...]) -> ReadingRow:
    """A row as it is sent: of a meter with a register, without the derived values."""
    water = (None,) * 3 if one.meter.register else row[2:5]
    return (*row[:2], *water, *row[5:])  # pyright: ignore[reportReturnType]


def stored(store: Store, fleet: Fleet, one: Character) -> list[ReadingRow]:
    scope = Scope(ORGANIZATION_ID, Grant(everything=True))
    (result,) = store.resolve(scope, [one.id])
    assert isinstance(result, Device)
    rows = store.rows(result, RAW, Span(), limit=200_000)
    if one.meter.register and rows:
        sent = readings(one, 0, fleet.origin_ms, rows[1][0], rows[-1][0] + 1).values[2].sum()
        assert sum(row[3] or 0.0 for row in rows) == pytest.approx(sent, abs=1.0)
    return [_sent(one, (fleet.keys[one.id], *row)) for row in rows]


def assert_holds(store: Store, fleet: Fleet, now_ms: int) -> None:
    """Asserts that exactly the readings sent by now are stored."""
    for one in FLEET:
        until = last_instant(one, fleet.origin_ms, now_ms)
        assert stored(store, fleet, one) == expected(fleet, one, until), one.meter.label


def test_without_its_devices_there_is_no_fleet(sqlite_store: Store) -> None:
    assert Fleet.of(sqlite_store) is None


def test_seeding_stores_the_history(sqlite_store: Store, fleet: Fleet) -> None:
    done = seed(sqlite_store, fleet, lambda batch: None)
    assert done.complete
    assert done.position == done.stored
    assert done.repeated == 0
    assert_holds(sqlite_store, fleet, fleet.origin_ms)
    assert sqlite_store.verify().wrong == 0


def test_an_interrupted_seeding_continues(
    sqlite_store: Store, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LostError(Exception):
        pass

    def lose(batch: object) -> None:
        raise LostError

    monkeypatch.setattr(demo, "BATCH_ROWS", 3000)
    with pytest.raises(LostError):
        seed(sqlite_store, fleet, lose)
    begun = sqlite_store.progress(MARK, ORGANIZATION_ID)
    assert begun is not None
    assert 0 < begun.position <= 3000
    monkeypatch.setattr(demo, "BATCH_ROWS", 5000)  # the batches may be divided differently
    done = seed(sqlite_store, fleet, lambda batch: None)
    assert (done.complete, done.repeated, done.stored) == (True, 0, done.position)
    assert_holds(sqlite_store, fleet, fleet.origin_ms)


def test_catching_up_fills_only_the_gap(sqlite_store: Store, fleet: Fleet) -> None:
    seed(sqlite_store, fleet, lambda batch: None)
    now = fleet.origin_ms + 3 * HOUR_MS + 12_345
    assert catch_up(sqlite_store, fleet, now).repeated == 0
    assert_holds(sqlite_store, fleet, now)
    again = catch_up(sqlite_store, fleet, now)
    assert (again.stored, again.repeated) == (0, 0)


def test_no_gap_is_filled_beyond_seven_days(sqlite_store: Store, fleet: Fleet) -> None:
    slow = [
        one
        for one in FLEET
        if one.meter.cadence_s == 900 and one.meter.condition is Condition.HEALTHY
    ]
    now = fleet.origin_ms + 20 * DAY_MS
    catch_up(sqlite_store, fleet, now)
    for one in slow:
        first = stored(sqlite_store, fleet, one)[0][1]
        assert 0 <= first - (now - LONGEST_GAP_MS) < 2 * HOUR_MS


def test_live_readings_are_sent_when_due_and_leave_no_gap(
    sqlite_store: Store, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five minutes by a clock that only waiting moves; then an hour of sleep; then a stop."""
    start = fleet.origin_ms
    clock = [start]
    monkeypatch.setattr(demo, "now_ms", lambda: clock[0])
    real_write = sqlite_store.write

    def write(rows: list[ReadingRow], **more: object) -> object:
        assert all(row[1] <= clock[0] for row in rows), "a reading came before its time"
        return real_write(rows, **more)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(sqlite_store, "write", write)

    def wait(seconds: float) -> bool:
        assert seconds >= demo.PAUSE_S
        clock[0] += round(seconds * 1000)
        if start + 5 * MINUTE_MS < clock[0] < start + 6 * MINUTE_MS:
            clock[0] += HOUR_MS
        return clock[0] > start + 70 * MINUTE_MS

    seed(sqlite_store, fleet, lambda batch: None)
    catch_up(sqlite_store, fleet, start)
    live(sqlite_store, fleet, start, wait)
    until = max(row[-1][1] for one in FLEET if (row := stored(sqlite_store, fleet, one)))
    assert until > start + 69 * MINUTE_MS
    for one in FLEET:
        if one.meter.condition in (Condition.SILENT, Condition.NEVER_SEEN, Condition.INACTIVE):
            continue
        assert stored(sqlite_store, fleet, one) == expected(fleet, one, until + 1), one.serial
    (silent,) = [one for one in FLEET if one.meter.condition is Condition.SILENT]
    assert stored(sqlite_store, fleet, silent)[-1][1] < start - SILENT_MS
    assert sqlite_store.verify().wrong == 0


def test_two_feeds_at_once_store_each_reading_once(sqlite_store: Store, fleet: Fleet) -> None:
    now = fleet.origin_ms + HOUR_MS
    seed(sqlite_store, fleet, lambda batch: None)
    spans = {one.id: (fleet.origin_ms, now) for one in FLEET}
    first = [
        sqlite_store.write(batch.columns.rows(), registers=batch.registers)
        for batch in fleet.batches(spans)
    ]
    second = [
        sqlite_store.write(batch.columns.rows(), registers=batch.registers)
        for batch in fleet.batches(spans)
    ]
    assert sum(w.stored for w in first) > 1000
    assert sum(w.stored for w in second) == 0
