"""The status of devices against a recount of their raw readings."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from api.insight.status_projection import Projection, differing
from api.store.base import Device, NewDevice, ReadingRow, Status, Store
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS
from tests import citus
from tests.insight import brute
from tests.store.fleet import everything, reading
from tests.world import ms

NOW = ms("2026-03-20T18:07:23Z")
ZONES = ("America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC")


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = citus.made(store_url)
    opened.create_organization("Acme", organization_id="acme")
    yield opened
    opened.close()


def made(store: Store, serial: str, **fields: object) -> Device:
    old = {"installedOn": "2020-01-01T00:00:00Z", "created": "2020-01-01T00:00:00Z"}
    store.import_devices("acme", [NewDevice(serial, {**old, **fields})])
    (result,) = store.resolve(everything("acme"), [serial])
    assert result is not None
    return result


def row_of(store: Store, device: Device) -> Status:
    return store.status_rows([device.key])[device.key]


def assert_right(store: Store, device: Device, rows: Sequence[ReadingRow]) -> None:
    stored = row_of(store, device)
    result = brute.status(device, rows, stored.as_of_ms)
    assert stored.cadence_ms == result["cadence_ms"]
    assert stored.event_driven == result["event_driven"]
    assert stored.bucket_ms == result["bucket_ms"]
    assert [tuple(window) for window in stored.windows] == result["windows"]
    assert (stored.state, stored.seen_ms) == (result["state"], result["seen_ms"])
    assert stored.flow in result["flows"]
    assert stored.volume_today == pytest.approx(result["volume_today"])
    assert stored.volume_month == pytest.approx(result["volume_month"])


def readings(
    device: Device, dice: random.Random, step_s: float, days: float, *, until_ms: int = NOW
) -> list[ReadingRow]:
    """With gaps, and sometimes without a quality or a volume."""
    rows: list[ReadingRow] = []
    at = until_ms - round(days * DAY_MS)
    while at < until_ms:
        if dice.random() < 0.9:
            values = {"flow_rate": dice.uniform(0, 9), "flow_amount": dice.uniform(0, 2)}
            if dice.random() < 0.8:
                values["quality"] = dice.uniform(20, 99)
            rows.append(reading(device, at, **values))
        at += round(step_s * 1000 * dice.uniform(0.9, 1.1))
    return rows


@pytest.mark.parametrize(("step_s", "days"), [(60, 2), (300, 9), (900, 33), (3600, 33)])
@pytest.mark.parametrize("name", ZONES)
def test_the_status_equals_a_recount(store: Store, name: str, step_s: float, days: float) -> None:
    device = made(store, "M-1", deviceTimeZone=name)
    rows = readings(device, random.Random(f"{name}{step_s}"), step_s, days)
    store.write(rows)
    projection = Projection(store)
    for now in (NOW, NOW + 40_000, NOW + 17 * MINUTE_MS, NOW + 2 * HOUR_MS, NOW + 26 * HOUR_MS):
        projection.all_due(now)
        assert_right(store, device, rows)


@settings(
    max_examples=10,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a smaller example takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 2**32), st.sampled_from([45, 60, 300, 700, 3600]))
def test_order_lateness_and_repetition_change_nothing(
    sqlite_url: str, seed: int, step_s: float
) -> None:
    """Readings in random batches, some twice, while time passes between them."""
    dice, store = random.Random(seed), citus.made(sqlite_url)
    try:
        if store.organization("acme") is None:
            store.create_organization("Acme", organization_id="acme")
        device = made(store, str(uuid4()), deviceTimeZone=dice.choice(ZONES))
        rows = readings(device, dice, step_s, 3)
        order = rows + dice.sample(rows, len(rows) // 4)
        dice.shuffle(order)
        projection, at, now = Projection(store), 0, NOW
        while at < len(order):
            size = dice.randrange(1, 1 + len(order) // 3)
            store.write(order[at : at + size])
            at += size
            now += dice.randrange(1, 90 * MINUTE_MS)
            projection.all_due(now)
            assert_right(store, device, list(dict.fromkeys(order[:at])))
    finally:
        store.close()


def test_a_device_has_no_values_until_it_reports(store: Store) -> None:
    device = made(store, "M-1")
    Projection(store).all_due(NOW)
    assert_right(store, device, [])
    assert row_of(store, device).state == "no-data"


def test_silence_changes_the_state_exactly_when_due(store: Store) -> None:
    device = made(store, "M-1", reportingInterval=60.0)
    last = NOW - NOW % MINUTE_MS
    store.write([reading(device, last - n * MINUTE_MS, quality=90.0) for n in range(1500)])
    projection = Projection(store)
    projection.all_due(last)
    assert row_of(store, device).state == "reporting"
    at = last + 15 * MINUTE_MS
    projection.all_due(at)
    assert row_of(store, device).state == "reporting"
    projection.all_due(at + 1)
    assert row_of(store, device).state == "silent"


def test_a_state_is_due_at_the_instant_that_it_changes(store: Store) -> None:
    """By every rule: updated by the clock alone, the row equals a recount at each step."""
    device = made(store, "M-1", reportingInterval=60.0)
    dice = random.Random(3)
    start = NOW - NOW % MINUTE_MS
    times = [start - n * MINUTE_MS for n in range(1500) if dice.random() < 0.955]
    rows = [reading(device, t, quality=dice.uniform(45, 90)) for t in times]
    rows.append(reading(device, start - DAY_MS + 7 * MINUTE_MS, quality=12.0))
    store.write(rows)
    projection = Projection(store)
    projection.all_due(start)
    for now in range(start, start + 20 * MINUTE_MS, 10_000):
        projection.by_time(now)
        result = brute.status(device, rows, now)
        assert row_of(store, device).state == result["state"], now - start


def test_an_installation_date_after_the_first_reading_is_ignored(store: Store) -> None:
    installed = "2026-03-20T15:20:00Z"
    device = made(store, "M-1", installedOn=installed, reportingInterval=60.0)
    young = [reading(device, NOW - n * MINUTE_MS, quality=90.0) for n in range(150)]
    store.write(young)
    projection = Projection(store)
    projection.all_due(NOW)
    assert_right(store, device, young)
    assert row_of(store, device).windows[1].expected < 200
    old = reading(device, NOW - 5 * DAY_MS, quality=90.0)
    store.write([old])
    projection.all_due(NOW)
    assert_right(store, device, [*young, old])
    assert row_of(store, device).windows[1].expected == 1440


def test_a_changed_device_changes_its_status(store: Store) -> None:
    device = made(store, "M-1", label="Attic")
    store.write([reading(device, NOW - MINUTE_MS, quality=50.0)])
    projection = Projection(store)
    projection.all_due(NOW)
    before = row_of(store, device)
    store.import_devices("acme", [NewDevice("M-1", {"label": "Cellar", "active": False})])
    projection.all_due(NOW)
    after = row_of(store, device)
    assert (before.searched.split("\n")[0], after.searched.split("\n")[0]) == ("attic", "cellar")
    assert (before.state, after.state) == ("degraded", "inactive")


def test_readings_stored_during_an_update_stay_due(store: Store) -> None:
    device = made(store, "M-1")
    store.write([reading(device, NOW - MINUTE_MS)])
    (due,) = store.due_by_reading(10)
    store.write([reading(device, NOW)])
    store.save_statuses([], [due], "me")
    assert [each.from_ms for each in store.due_by_reading(10)] == [NOW - MINUTE_MS]


def test_two_updaters_never_store_an_older_status(store: Store) -> None:
    """What one has marked as due, the other includes when it updates the row next."""
    device = made(store, "M-1", reportingInterval=60.0)
    rows = [reading(device, NOW - n * MINUTE_MS, quality=90.0) for n in range(100)]
    store.write(rows)
    one, other = Projection(store), Projection(store)
    one.all_due(NOW)
    late = [reading(device, NOW - 20 * HOUR_MS, quality=4.0)]
    store.write(late)
    other.all_due(NOW)
    one.by_time(NOW + 2 * MINUTE_MS)
    assert_right(store, device, [*rows, *late])


def test_verification_accepts_a_right_row_and_finds_a_wrong_one(store: Store) -> None:
    device = made(store, "M-1")
    store.write([reading(device, NOW - n * MINUTE_MS, flow_amount=0.1) for n in range(100)])
    projection = Projection(store)
    projection.all_due(NOW)
    stored = row_of(store, device)
    (fresh,) = projection.of([device.key], stored.as_of_ms)
    assert not differing(stored, fresh)
    store.write([reading(device, NOW - 200 * MINUTE_MS, flow_amount=0.1)])
    (fresh,) = projection.of([device.key], stored.as_of_ms)
    assert differing(stored, fresh)


@pytest.mark.parametrize(
    ("days", "usual"),
    [((7, 14), 12.0), ((7, 14, 21, 28), 12.0), ((7,), None), ((6, 8), None)],
)
def test_the_usual_volume_is_of_the_same_weekday_by_this_time(
    store: Store, days: tuple[int, ...], usual: float | None
) -> None:
    """A gallon every half hour on that many earlier days, and today until 06:00."""
    device = made(store, "U-1", deviceTimeZone="Asia/Kathmandu", reportingInterval=1800.0)
    midnight = ms("2026-03-19T18:15:00Z")
    for ago in (0, *days):
        start, count = midnight - ago * DAY_MS, 48 if ago else 12
        store.write(
            [reading(device, start + n * HOUR_MS // 2, flow_amount=1.0) for n in range(count)]
        )
    Projection(store).all_due(midnight + 6 * HOUR_MS)
    stored = row_of(store, device)
    assert stored.volume_today == 12.0
    assert stored.volume_usual == (None if usual is None else pytest.approx(usual))
    assert stored == Projection(store).of([device.key], stored.as_of_ms)[0]
