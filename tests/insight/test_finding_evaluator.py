"""Stored findings equal those of one run over all readings: with readings in any order, late, in
batches, repeated, and after a kill at any point."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.insight.expectations import usual_of
from api.insight.finding_evaluator import Evaluator
from api.insight.status_projection import Projection
from api.insight.usual_lines import usual_lines
from api.store.base import (
    Device,
    FindingQuery,
    FindingRow,
    FindingSetting,
    NewDevice,
    ReadingRow,
    StatusQuery,
    Store,
)
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, day_start, local_ordinal, now_ms, zone
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
    by_name = {"reportingInterval": 3600.0, "deviceTimeZone": "Europe/Rome", **fields}
    store.import_devices("acme", [NewDevice(serial, by_name)])
    (result,) = store.resolve(everything("acme"), [serial])
    assert result is not None
    return result


def hourly(device: Device, gallons: list[float | None], start_ms: int = START) -> list[ReadingRow]:
    return [
        reading(device, start_ms + n * HOUR_MS, flow_amount=value, flow_rate=value / 60)
        for n, value in enumerate(gallons)
        if value is not None
    ]


def stored_findings(store: Store, device: Device) -> dict[tuple[str, int], FindingRow]:
    result = store.findings(everything("acme"), FindingQuery(device=device, limit=1000))
    return {(e.finding.kind, e.finding.opened_ms): e.finding for e in result}


def without_device(rows: dict[tuple[str, int], FindingRow]) -> dict[tuple[str, int], FindingRow]:
    """The findings without the device's key and id."""
    return {name: replace(row, key=0, id="") for name, row in rows.items()}


def evaluated(store: Store, device: Device) -> dict[tuple[str, int], FindingRow]:
    Evaluator(store).up_to_date(key=device.key)
    return without_device(stored_findings(store, device))


def leak(days: int, *, seed: int = 1) -> list[float | None]:
    return [
        value + (54.0 if n >= 24 * (days - 6) else 0.0)
        for n, value in enumerate(household(days, seed=seed))
    ]


def test_a_leak_has_its_cost_and_a_second_run_writes_nothing(store: Store) -> None:
    device = meter(store)
    store.write(hourly(device, leak(20)))
    evaluator = Evaluator(store)
    counts = evaluator.up_to_date(key=device.key)
    assert (counts.devices, counts.opened) == (1, len(stored_findings(store, device)))
    (result,) = [
        row for row in stored_findings(store, device).values() if row.kind == "continuous-flow"
    ]
    assert result.state == "open"
    assert result.severity == "critical"
    assert result.cost_per_day == pytest.approx(result.value * 24 * 0.01)
    assert result.start_ms == START + 14 * DAY_MS - HOUR_MS  # somebody used water just before
    assert evaluator.up_to_date(key=device.key).devices == 0
    assert evaluator.wrong(device.key) is False


class Killed(Exception):
    pass


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_batches_and_kills_give_the_findings_of_one_run(
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
    """Kills the process before or within the transaction that stores the findings."""
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


def test_the_usual_value_of_a_closed_finding_stays(store: Store) -> None:
    """However often it is evaluated later, and whatever the device uses then."""
    values: list[float | None] = list(district(24, seed=0))
    values[266:300] = [None if v is None else -v for v in values[266:300]]
    values[440:] = [None if v is None else 3 * v for v in values[440:]]
    once, parts = meter(store), meter(store)
    for until in (280, 416, len(values)):
        store.write(hourly(parts, values[:until]))
        Evaluator(store).up_to_date(key=parts.key)
    store.write(hourly(once, values))
    result = evaluated(store, once)
    assert evaluated(store, parts) == result
    backwards = [row for (kind, _), row in result.items() if kind == "backwards"]
    assert backwards
    assert all(row.end_ms is not None and row.usual_per_day > 0 for row in backwards)


def test_a_slower_evaluators_older_result_is_not_stored(store: Store) -> None:
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
    assert without_device(stored_findings(store, device)) == expected
    assert Evaluator(store).wrong(device.key) is False


def test_readings_stored_during_an_evaluation_stay_due(store: Store) -> None:
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
    assert "continuous-flow" in {kind for kind, _ in stored_findings(store, device)}


def test_a_device_whose_history_arrives_is_unchecked_and_soon_due(store: Store) -> None:
    """Not as checked as it was by its first days, which were evaluated a moment ago."""
    device, now = meter(store), now_ms()
    rows = hourly(device, leak(20))
    scope, query = everything("acme"), StatusQuery(text=device.serial_number)

    def unchecked() -> tuple[int, int | None]:
        Projection(store).after_readings()
        made = store.attention(scope, query, now - DAY_MS)
        return made.unchecked, made.checked_ms

    def due(at_ms: int) -> bool:
        return device.key in {task.key for task in Evaluator(store).due(at_ms)}

    store.write(rows[:100])
    assert unchecked() == (1, rows[0][1])
    Evaluator(store).up_to_date(key=device.key)
    assert unchecked() == (0, None)
    store.write(rows[100:101])  # the next hour: within minutes
    assert unchecked() == (0, None)
    assert not due(now + MINUTE_MS)
    store.write(rows[101:])
    assert unchecked() == (1, rows[99][1])
    assert due(now + MINUTE_MS)
    assert not due(now)  # not after each batch of a long import
    Evaluator(store).up_to_date(key=device.key)
    assert unchecked() == (0, None)
    store.write([reading(device, rows[0][1] - DAY_MS, flow_amount=1.0)])  # and late ones
    assert unchecked()[0] == 1


def test_a_device_that_cannot_be_evaluated_blocks_no_other(store: Store) -> None:
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
    assert not stored_findings(store, bad)
    assert stored_findings(store, good)
    assert store.due_findings(1, key=bad.key)
    evaluator.run_each(tasks, START + 20 * DAY_MS)
    assert not stored_findings(store, bad)  # it waits
    assert Evaluator(store).run_each(tasks, START + 20 * DAY_MS).devices == 2
    assert stored_findings(store, bad)


# --- The clock -----------------------------------------------------------------------------------


def minutely(device: Device, hours: int) -> list[ReadingRow]:
    steps = range(0, hours * HOUR_MS, MINUTE_MS)
    return [reading(device, START + at, flow_amount=0.5, flow_rate=0.5) for at in steps]


def by_clock(evaluator: Evaluator, at_ms: int) -> None:
    tasks = {task.key: task for task in (*evaluator.silent(at_ms), *evaluator.due(at_ms))}
    evaluator.run(list(tasks.values()), at_ms)


def test_silence_is_detected_by_the_clock_alone(store: Store) -> None:
    device = meter(store, reportingInterval=60.0)
    store.write(minutely(device, 5))
    evaluator, heard_ms = Evaluator(store), START + 5 * HOUR_MS - MINUTE_MS
    by_clock(evaluator, heard_ms + MINUTE_MS)
    assert not stored_findings(store, device)
    by_clock(evaluator, heard_ms + 40 * MINUTE_MS)
    silent = [row for row in stored_findings(store, device).values() if row.kind == "silent"]
    assert [(row.start_ms, row.state) for row in silent] == [(heard_ms, "open")]
    store.write([reading(device, heard_ms + 41 * MINUTE_MS, flow_amount=0.5, flow_rate=0.5)])
    by_clock(evaluator, heard_ms + 41 * MINUTE_MS + 2000)  # at once, not within minutes
    silent = [row for row in stored_findings(store, device).values() if row.kind == "silent"]
    assert [row.end_ms for row in silent] == [heard_ms + 41 * MINUTE_MS]


def test_weirs_own_downtime_leaves_no_finding_of_silence(store: Store) -> None:
    device = meter(store, reportingInterval=60.0)
    minutes = minutely(device, 6)
    store.write(minutes[:300])
    evaluator, up_ms = Evaluator(store), START + 6 * HOUR_MS
    by_clock(evaluator, up_ms)  # just started: readings sent meanwhile still wait at their sender
    assert [kind for kind, _ in stored_findings(store, device)] == ["silent"]
    store.write(minutes[300:])
    by_clock(evaluator, up_ms + 2000)
    assert not stored_findings(store, device)


def test_a_clock_that_jumped_ahead_leaves_no_finding_of_silence(store: Store) -> None:
    device = meter(store, reportingInterval=60.0)
    store.write(minutely(device, 5))
    evaluator, heard_ms = Evaluator(store), START + 5 * HOUR_MS - MINUTE_MS
    by_clock(evaluator, heard_ms + 9 * DAY_MS)
    assert [kind for kind, _ in stored_findings(store, device)] == ["silent"]
    by_clock(evaluator, heard_ms + 2 * MINUTE_MS)
    assert not stored_findings(store, device)
    assert evaluator.wrong(device.key) is False


# --- Usual values --------------------------------------------------------------------------------


def test_the_usual_line_is_the_profile_without_the_leak(store: Store) -> None:
    device, days = meter(store), 40
    store.write(hourly(device, leak(days)))
    Evaluator(store).up_to_date(key=device.key)
    today = (
        day_start(zone("Europe/Rome"), local_ordinal(zone("Europe/Rome"), START)) + days * DAY_MS
    )
    (line,) = usual_lines(store, [device], today, today + DAY_MS).values()
    result = usual_of(store, everything("acme"), device, today, today + DAY_MS - 1)
    expected = [hour.volume / 60 for hour in result]
    assert line.rates == pytest.approx(expected, rel=0.01, abs=0.001)
    young = meter(store)
    store.write(hourly(young, leak(10)))
    Evaluator(store).up_to_date(key=young.key)
    assert usual_lines(store, [young], today, today + DAY_MS) == {}


# --- Settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["organization", "group", "device"])
def test_a_setting_applies_to_the_past_too(store: Store, level: Any) -> None:
    organization = f"org {level} {store.dialect.name}"  # pyright: ignore[reportAttributeAccessIssue]
    store.create_organization("Other", organization_id=organization)
    fields = {"reportingInterval": 3600.0}
    store.import_devices(
        organization, [NewDevice("S-1", fields, ("north",)), NewDevice("S-2", fields)]
    )
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
        requests = FindingQuery(kinds=["continuous-flow"])
        return {e.serial_number for e in store.findings(everything(organization), requests)}

    assert leaking() == (set() if level == "organization" else {"S-2"})
    store.drop_finding_settings(organization, [setting])
    assert leaking() == {"S-1", "S-2"}
