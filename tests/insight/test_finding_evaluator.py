"""What is kept of findings is what one run over the finished readings finds: in any order, late,
split, repeated, and killed at any point."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.insight import finding_evaluator
from api.insight.expectations import usual_of
from api.insight.finding_evaluator import Evaluator
from api.insight.usual_lines import usual_lines
from api.store.base import (
    Device,
    FindingQuery,
    FindingRow,
    FindingSetting,
    NewDevice,
    ReadingRow,
    Store,
)
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, day_start, local_ordinal, zone
from tests import citus
from tests.insight.series import START, district, household
from tests.store.fleet import everything, reading

_serials = count(1)


@pytest.fixture(scope="module", params=citus.ENGINES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    opened = citus.made(request.getfixturevalue(f"module_{request.param}_url"))
    opened.create_organization("Acme", organization_id="acme", cost_per_gallon=0.01)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def module_sqlite_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('findings') / 'weir.sqlite'}"


@pytest.fixture(scope="module")
def module_postgres_url(postgres_server: str) -> str:
    import psycopg

    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE findings_module")
    return f"{postgres_server}/findings_module"


@pytest.fixture(scope="module")
def module_citus_url() -> Iterator[str]:
    with citus.schema() as url:
        yield url


def meter(store: Store, **fields: Any) -> Device:
    serial = f"F-{next(_serials):05}"
    said = {"reportingInterval": 3600.0, "deviceTimeZone": "Europe/Rome", **fields}
    store.import_devices("acme", [NewDevice(serial, said)])
    (found,) = store.resolve(everything("acme"), [serial])
    assert found is not None
    return found


def hourly(device: Device, gallons: list[float | None], start_ms: int = START) -> list[ReadingRow]:
    return [
        reading(device, start_ms + n * HOUR_MS, flow_amount=value, flow_rate=value / 60)
        for n, value in enumerate(gallons)
        if value is not None
    ]


def kept(store: Store, device: Device) -> dict[tuple[str, int], FindingRow]:
    found = store.findings(everything("acme"), FindingQuery(device=device, limit=1000))
    return {(e.finding.kind, e.finding.opened_ms): e.finding for e in found}


def as_told(rows: dict[tuple[str, int], FindingRow]) -> dict[tuple[str, int], FindingRow]:
    """Without what names the device."""
    return {name: replace(row, key=0, id="") for name, row in rows.items()}


def evaluated(store: Store, device: Device) -> dict[tuple[str, int], FindingRow]:
    Evaluator(store).up_to_date(key=device.key)
    return as_told(kept(store, device))


def leak(days: int, *, seed: int = 1) -> list[float | None]:
    return [
        value + (54.0 if n >= 24 * (days - 6) else 0.0)
        for n, value in enumerate(household(days, seed=seed))
    ]


def test_a_leak_is_found_with_its_cost_and_costs_nothing_to_look_again(store: Store) -> None:
    device = meter(store)
    store.write(hourly(device, leak(20)))
    evaluator = Evaluator(store)
    counts = evaluator.up_to_date(key=device.key)
    assert (counts.devices, counts.opened) == (1, len(kept(store, device)))
    (found,) = [row for row in kept(store, device).values() if row.kind == "continuous-flow"]
    assert found.state == "open"
    assert found.severity == "critical"
    assert found.cost_per_day == pytest.approx(found.value * 24 * 0.01)
    assert found.start_ms == START + 14 * DAY_MS - HOUR_MS  # somebody used water just before
    assert evaluator.up_to_date(key=device.key).devices == 0
    assert evaluator.wrong(device.key) is False


class Killed(Exception):
    pass


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_order_lateness_split_and_kill_finds_what_one_run_finds(
    store: Store, data: st.DataObject
) -> None:
    seed = data.draw(st.integers(0, 10_000))
    dice = random.Random(seed)
    values: list[float | None] = list(
        household(24, seed=seed) if seed % 2 else district(24, seed=seed)
    )
    for _ in range(3):
        at, length = dice.randrange(len(values)), dice.randrange(20, 60)
        change = dice.choice([lambda v: v + 90, lambda v: None, lambda v: 7.5, lambda v: -v])
        values[at : at + length] = [
            None if v is None else change(v) for v in values[at : at + length]
        ]
    once, parts = meter(store), meter(store)
    rows = hourly(parts, values)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows) - 1), max_size=4)))
    batches = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    if data.draw(st.booleans()):
        batches = data.draw(st.permutations(batches))
    batches.append(data.draw(st.sampled_from(batches)))
    for batch in batches:
        store.write(batch)
        fate = data.draw(st.sampled_from(["evaluated", "not yet", "killed before", "killed in"]))
        if fate == "evaluated":
            Evaluator(store).up_to_date(key=parts.key)
        elif fate.startswith("killed"):
            _kill(store, parts, within=fate == "killed in")
    store.write(hourly(once, values))
    assert evaluated(store, parts) == evaluated(store, once)
    assert Evaluator(store).wrong(parts.key) is False


def _kill(store: Store, device: Device, *, within: bool) -> None:
    """Before or within the transaction that keeps what was found."""
    with pytest.MonkeyPatch.context() as patch:

        def dies(*_: object) -> None:
            raise Killed

        if within:
            patch.setattr("api.store.findings.sql.done", dies)
        else:
            patch.setattr(type(store), "save_evaluations", dies)
        try:
            Evaluator(store).up_to_date(key=device.key)
        except Killed:
            return


def test_what_is_usual_of_a_closed_finding_stays_that_of_its_day(store: Store) -> None:
    """However often it is evaluated since, and whatever the device uses later."""
    values: list[float | None] = list(district(24, seed=0))
    values[266:300] = [None if v is None else -v for v in values[266:300]]
    values[440:] = [None if v is None else 3 * v for v in values[440:]]
    once, parts = meter(store), meter(store)
    for until in (280, 416, len(values)):
        store.write(hourly(parts, values[:until]))
        Evaluator(store).up_to_date(key=parts.key)
    store.write(hourly(once, values))
    found = evaluated(store, once)
    assert evaluated(store, parts) == found
    backwards = [row for (kind, _), row in found.items() if kind == "backwards"]
    assert backwards
    assert all(row.end_ms is not None and row.usual_per_day > 0 for row in backwards)


def test_what_a_slower_evaluator_made_of_less_is_not_kept(store: Store) -> None:
    device = meter(store)
    values = leak(20)
    store.write(hourly(device, values[:400]))
    keep, made = type(store).save_evaluations, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(store), "save_evaluations", lambda self, each: made.append(each) or [])
        Evaluator(store).up_to_date(key=device.key)
    store.write(hourly(device, values))
    expected = evaluated(store, device)
    assert keep(store, made[0]) == []
    assert as_told(kept(store, device)) == expected
    assert Evaluator(store).wrong(device.key) is False


def test_readings_that_come_while_it_evaluates_stay_due(store: Store) -> None:
    device = meter(store)
    values = leak(20)
    store.write(hourly(device, values[:300]))
    keep = type(store).save_evaluations
    with pytest.MonkeyPatch.context() as patch:

        def and_more(self: Store, each: Any) -> list[int]:
            patch.undo()
            self.write(hourly(device, values))
            return keep(self, each)

        patch.setattr(type(store), "save_evaluations", and_more)
        Evaluator(store).up_to_date(key=device.key)
    assert not store.due_findings(1, key=device.key)
    assert Evaluator(store).wrong(device.key) is False
    assert "continuous-flow" in {kind for kind, _ in kept(store, device)}


def test_a_device_that_cannot_be_evaluated_keeps_no_other_from_it(store: Store) -> None:
    bad, good = meter(store), meter(store)
    for device in (bad, good):
        store.write(hourly(device, leak(20)))
    evaluator, made = Evaluator(store), Evaluator._result  # pyright: ignore[reportPrivateUsage]

    def fails(self: Evaluator, task: Any, *rest: Any) -> Any:
        if task.key == bad.key:
            raise ZeroDivisionError
        return made(self, task, *rest)

    tasks = [task for task in evaluator.due(START + 99 * DAY_MS) if task.key in (bad.key, good.key)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluator, "_result", fails)
        evaluator.run_each(tasks, START + 20 * DAY_MS)
    assert not kept(store, bad)
    assert kept(store, good)
    assert store.due_findings(1, key=bad.key)
    evaluator.run_each(tasks, START + 20 * DAY_MS)
    assert not kept(store, bad)  # it waits
    assert Evaluator(store).run_each(tasks, START + 20 * DAY_MS).devices == 2
    assert kept(store, bad)


# --- The clock -----------------------------------------------------------------------------------


def minutely(device: Device, hours: int) -> list[ReadingRow]:
    steps = range(0, hours * HOUR_MS, MINUTE_MS)
    return [reading(device, START + at, flow_amount=0.5, flow_rate=0.5) for at in steps]


def by_clock(evaluator: Evaluator, at_ms: int) -> None:
    tasks = {task.key: task for task in (*evaluator.silent(at_ms), *evaluator.due(at_ms))}
    evaluator.run(list(tasks.values()), at_ms)


def test_silence_falls_due_by_the_clock_alone(store: Store) -> None:
    device = meter(store, reportingInterval=60.0)
    store.write(minutely(device, 5))
    evaluator, heard_ms = Evaluator(store), START + 5 * HOUR_MS - MINUTE_MS
    by_clock(evaluator, heard_ms + MINUTE_MS)
    assert not kept(store, device)
    by_clock(evaluator, heard_ms + 40 * MINUTE_MS)
    silent = [row for row in kept(store, device).values() if row.kind == "silent"]
    assert [(row.start_ms, row.state) for row in silent] == [(heard_ms, "open")]
    store.write([reading(device, heard_ms + 41 * MINUTE_MS, flow_amount=0.5, flow_rate=0.5)])
    by_clock(evaluator, heard_ms + 41 * MINUTE_MS + 2000)  # at once, not within minutes
    silent = [row for row in kept(store, device).values() if row.kind == "silent"]
    assert [row.end_ms for row in silent] == [heard_ms + 41 * MINUTE_MS]


def test_our_own_downtime_leaves_no_silence_behind(store: Store) -> None:
    device = meter(store, reportingInterval=60.0)
    minutes = minutely(device, 6)
    store.write(minutes[:300])
    evaluator, up_ms = Evaluator(store), START + 6 * HOUR_MS
    by_clock(evaluator, up_ms)  # just started: what was sent meanwhile waits at its sender
    assert [kind for kind, _ in kept(store, device)] == ["silent"]
    store.write(minutes[300:])
    by_clock(evaluator, up_ms + 2000)
    assert not kept(store, device)


def test_a_clock_that_jumped_ahead_leaves_no_silence_behind(store: Store) -> None:
    device = meter(store, reportingInterval=60.0)
    store.write(minutely(device, 5))
    evaluator, heard_ms = Evaluator(store), START + 5 * HOUR_MS - MINUTE_MS
    by_clock(evaluator, heard_ms + 9 * DAY_MS)
    assert [kind for kind, _ in kept(store, device)] == ["silent"]
    by_clock(evaluator, heard_ms + 2 * MINUTE_MS)
    assert not kept(store, device)
    assert evaluator.wrong(device.key) is False


# --- What is usual -------------------------------------------------------------------------------


def test_what_is_usual_beside_a_line_is_the_profile_without_the_leak(store: Store) -> None:
    device, days = meter(store), 40
    store.write(hourly(device, leak(days)))
    Evaluator(store).up_to_date(key=device.key)
    today = (
        day_start(zone("Europe/Rome"), local_ordinal(zone("Europe/Rome"), START)) + days * DAY_MS
    )
    (line,) = usual_lines(store, [device], today, today + DAY_MS).values()
    told = usual_of(store, everything("acme"), device, today, today + DAY_MS - 1)
    expected = [hour.volume / 60 for hour in told]
    assert line.rates == pytest.approx(expected, rel=0.01, abs=0.001)
    young = meter(store)
    store.write(hourly(young, leak(10)))
    Evaluator(store).up_to_date(key=young.key)
    assert usual_lines(store, [young], today, today + DAY_MS) == {}


# --- Settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["organization", "group", "device"])
def test_a_setting_holds_for_what_has_been_as_well(store: Store, level: Any) -> None:
    organization = f"org {level} {store.dialect.name}"  # pyright: ignore[reportAttributeAccessIssue]
    store.create_organization("Other", organization_id=organization)
    said = {"reportingInterval": 3600.0}
    store.import_devices(organization, [NewDevice("S-1", said, ("north",)), NewDevice("S-2", said)])
    one, other = store.resolve(everything(organization), ["S-1", "S-2"])
    assert one is not None
    assert other is not None
    for each in (one, other):
        store.write(hourly(each, leak(20)))
    evaluator = Evaluator(store)
    evaluator.up_to_date(organization)
    target = {"organization": "", "group": "north", "device": one.id}[level]
    setting = FindingSetting(level, target, "continuous-flow", "enabled", 0.0)
    store.save_finding_settings(organization, [setting])

    def leaking() -> set[str]:
        evaluator.up_to_date(organization)
        asked = FindingQuery(kinds=["continuous-flow"])
        return {e.serial_number for e in store.findings(everything(organization), asked)}

    assert leaking() == (set() if level == "organization" else {"S-2"})
    store.drop_finding_settings(organization, [setting])
    assert leaking() == {"S-1", "S-2"}


# --- After an outage -----------------------------------------------------------------------------


def test_with_100_000_devices_due_readings_come_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While readings wait it works a twentieth of the time; then without a pause."""
    clock_s, pauses, batches = [0.0], list[float](), list[int]()
    waiting = [True]
    thread = finding_evaluator.EvaluatorThread(store, busy=lambda: waiting[0])

    class Many:
        """Of those due a list at a time is taken up, the longest waiting first."""

        due = staticmethod(lambda at_ms: [_task(key) for key in range(finding_evaluator.LIST)])
        silent = staticmethod(lambda at_ms: [])
        changed = staticmethod(list)

        @staticmethod
        def run_each(tasks: Any, at_ms: int) -> Any:
            clock_s[0] += 0.1
            batches.append(len(tasks))
            waiting[0] = len(batches) < 10
            return finding_evaluator.Counts(len(tasks))

    class Stopping:
        is_set = staticmethod(lambda: False)
        wait = staticmethod(pauses.append)

    monkeypatch.setattr(finding_evaluator, "monotonic", lambda: clock_s[0])
    monkeypatch.setattr(thread, "_evaluator", Many)
    monkeypatch.setattr(thread, "_stopping", Stopping)
    assert thread.step() == 0.0
    assert (sum(batches), set(batches)) == (finding_evaluator.LIST, {finding_evaluator.BATCH})
    assert pauses == pytest.approx([1.9] * 9)


def _task(key: int) -> Any:
    return finding_evaluator._Task(key, None)  # pyright: ignore[reportPrivateUsage]
