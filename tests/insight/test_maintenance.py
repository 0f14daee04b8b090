"""Maintenance in status and findings: excluded from both sides of uptime and from training."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS, ONE_MINUTE, RAW
from api.client import Client
from api.insight.alerts.evaluator import AlertEvaluator
from api.insight.finding_evaluator import Evaluator
from api.insight.finding_inputs import OfOrganization, facts_of
from api.insight.status_projection import Projection
from api.metering.cadence import Cadence
from api.metering.maintenance import Repeat
from api.metering.windows import SPANS, Window
from api.server import create_service
from api.store.base import Annotation, AnnotationKind, Device, NewDevice, Span, Store
from components.annotations.queries import Uptime, without_maintenance
from tests.insight.alerts.decided import NOW, a_finding
from tests.insight.alerts.stored import keep_findings, keep_hook, keep_rule
from tests.store.fleet import NOON_MS, everything, reading
from tests.world import SETTINGS, all_seeing_key

NOW_MS = NOON_MS + 26 * HOUR_MS + 17_000


def planned(
    organization_id: str,
    from_ms: int,
    to_ms: int,
    *,
    device: Device | None = None,
    group: str | None = None,
    **more: Any,
) -> Annotation:
    return Annotation(
        f"m-{from_ms}-{to_ms}-{more.get('until_ms')}", organization_id,
        AnnotationKind.MAINTENANCE, None if device is None else device.key, group,
        from_ms, to_ms, "pump", 0, "key_1", **more,
    )  # fmt: skip


def meter(store: Store, organization_id: str, serial: str, **fields: Any) -> Device:
    if store.organization(organization_id) is None:
        store.create_organization("Acme", organization_id=organization_id)
    by_name = {"reportingInterval": 60.0, "installedOn": "2026-01-01T00:00:00Z", **fields}
    store.import_devices(organization_id, [NewDevice(serial, by_name, ("north",))])
    (device,) = store.resolve(everything(organization_id), [serial])
    assert device is not None
    return device


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A meter that misses a third of its minutes, on SQLite."""
    from api.store.open import open_store

    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('maintenance') / 'weir.sqlite'}")
    store.upgrade()
    device, rng = meter(store, "acme", "M-1"), random.Random(5)
    present = [n for n in range(26 * 60) if rng.random() > 0.3]
    store.write([reading(device, NOON_MS + n * MINUTE_MS, flow_rate=1.0) for n in present])
    key = all_seeing_key(store, "acme")
    client = Client.in_process(create_service(store, SETTINGS), key)
    yield store, device, {NOON_MS + n * MINUTE_MS for n in present}, client
    store.close()


_plans = st.lists(
    st.tuples(
        st.integers(-600, 26 * 60),
        st.integers(1, 200),
        st.booleans(),
        st.sampled_from(list(Repeat)),
    ),
    max_size=4,
)


@settings(max_examples=25)
@given(plans=_plans)
def test_random_maintenance_equals_a_recount(noisy: Any, plans: list[Any]) -> None:
    store, device, observed, client = noisy
    made = [
        planned(
            "acme",
            NOON_MS + start * MINUTE_MS + 13_000,
            NOON_MS + (start + length) * MINUTE_MS + 13_000,
            device=device if own else None,
            group=None if own else "north",
            repeats=repeat,
            until_ms=NOON_MS + 30 * DAY_MS if repeat else None,
        )
        for start, length, own, repeat in plans
    ]
    made = list({each.id: each for each in made}.values())
    for each in made:
        store.keep_annotation(each, [])
    (row,) = Projection(store).of([device.key], NOW_MS)
    edge = NOW_MS // MINUTE_MS * MINUTE_MS
    viewed = [_viewed(client, device, Window(edge - s.length_ms, edge - 1)) for s in SPANS[:2]]
    for each in made:
        store.drop_annotation(each, [])
    steps = {Repeat.DAILY: DAY_MS, Repeat.WEEKLY: 7 * DAY_MS}

    def idle(minute_ms: int) -> bool:
        """Within a plan, or within a repeat of it on one of the two days."""
        for each in made:
            assert each.to_ms is not None
            step = steps.get(each.repeats, 60 * DAY_MS)
            times = range(3) if each.repeats else range(1)
            if any(
                each.from_ms + n * step < minute_ms + MINUTE_MS
                and minute_ms < each.to_ms + n * step
                for n in times
            ):
                return True
        return False

    for span, result, seen in zip(SPANS[:2], row.windows, viewed, strict=False):
        due = [m for m in range(edge - span.length_ms, edge, MINUTE_MS) if not idle(m)]
        expected = (sum(m in observed for m in due), len(due))
        assert (result.actual, result.expected) == expected
        assert seen == expected


def _viewed(client: Client, device: Device, window: Window) -> tuple[int, int]:
    """The device's page: observed and expected buckets of a window."""
    counted = Uptime(
        client.count(device.id, ONE_MINUTE, from_ms=window.from_ms, to_ms=window.to_ms),
        (window.to_ms + 1 - window.from_ms) // MINUTE_MS,
    )
    result = without_maintenance(client, device.id, window, ONE_MINUTE, counted)
    return result.actual, result.expected


def test_a_group_s_maintenance_is_limited_to_its_devices(store: Store) -> None:
    device = meter(store, "acme", "M-1")
    store.create_organization("Other", organization_id="other")
    foreign = meter(store, "other", "M-1")
    rows = [
        reading(each, NOON_MS + n * MINUTE_MS, flow_rate=1.0)
        for each in (device, foreign)
        for n in range(60)
    ]
    store.write(rows)
    at_ms = NOON_MS + 2 * HOUR_MS
    store.keep_annotation(planned("acme", NOON_MS + HOUR_MS, at_ms, group="north"), [])
    mine, theirs = Projection(store).of([device.key, foreign.key], at_ms)
    assert (mine.windows[0].actual, mine.windows[0].expected) == (0, 0)
    assert (theirs.windows[0].actual, theirs.windows[0].expected) == (0, 60)
    assert {due.key for due in store.due_of([device.key, foreign.key])} >= {device.key}


def test_maintenance_and_corrections_do_not_train_the_profile(store: Store) -> None:
    device = meter(store, "acme", "M-2")
    plan = planned(
        "acme", NOON_MS, NOON_MS + HOUR_MS, device=device, repeats=Repeat.DAILY,
        until_ms=NOON_MS + DAY_MS,
    )  # fmt: skip
    wrong = replace(plan, kind=AnnotationKind.CORRECTION, from_ms=NOON_MS + 30 * MINUTE_MS,
                    to_ms=NOON_MS + 2 * HOUR_MS, repeats=Repeat.ONCE)  # fmt: skip
    shared = OfOrganization.read(store, "acme")
    without = facts_of(device, [], shared, Cadence(60_000))
    facts = facts_of(device, [], shared, Cadence(60_000), [plan], [wrong])
    day = (NOON_MS + DAY_MS, NOON_MS + DAY_MS + HOUR_MS)
    assert facts.device.excluded == ((NOON_MS, NOON_MS + 2 * HOUR_MS), day)
    assert facts.device.maintained == ((NOON_MS, NOON_MS + HOUR_MS), day)
    assert facts.basis != without.basis


def test_missing_data_in_maintenance_is_no_finding(store: Store) -> None:
    device = meter(store, "acme", "M-3")
    hours = [n for n in range(24 * 6) if not 48 <= n < 96]
    store.write(
        [
            reading(device, NOON_MS + n * HOUR_MS + m * MINUTE_MS, flow_amount=1.0)
            for n in hours
            for m in range(60)
        ]
    )
    evaluator = Evaluator(store)

    def kinds() -> set[str]:
        evaluator.up_to_date("acme", device.key)
        return {result.kind for result in store.findings_of(device.key, 0)}

    assert "missing-data" in kinds()
    gap = (NOON_MS + 48 * HOUR_MS, NOON_MS + 96 * HOUR_MS)
    plan = planned("acme", *gap, device=device)
    store.keep_annotation(plan, [])
    assert "missing-data" not in kinds()
    assert evaluator.wrong(device.key) is False
    store.drop_annotation(plan, [])
    assert "missing-data" in kinds()


def test_findings_follow_a_correction_and_its_revocation(store: Store) -> None:
    """In the correction's own transaction; so do totals, and `rollups verify` finds no error."""
    device = meter(store, "acme", "M-5")
    store.write([reading(device, NOON_MS + n * MINUTE_MS, flow_amount=1.0) for n in range(30 * 60)])
    evaluator = Evaluator(store)

    def leaks() -> int:
        evaluator.up_to_date("acme", device.key)
        assert evaluator.wrong(device.key) is False
        return [each.kind for each in store.findings_of(device.key, 0)].count("continuous-flow")

    def gallons() -> float:
        (piece,) = store.pieces(device, RAW, Span(), [NOON_MS, NOON_MS + 48 * HOUR_MS])
        return max(value for value in piece.values if value is not None)

    assert (leaks(), gallons()) == (1, 1_800.0)
    wrong = replace(
        planned("acme", NOON_MS + 14 * HOUR_MS, NOON_MS + 16 * HOUR_MS, device=device),
        kind=AnnotationKind.CORRECTION, factor=0.0, metrics=("flow_amount",),
    )  # fmt: skip
    store.correct(wrong, [])
    assert (store.verify().wrong, gallons()) == (0, 1_680.0)
    assert leaks() == 0  # neither part around it lasts 24 hours
    store.revoke_correction(replace(wrong, ended_ms=NOW_MS), [])
    assert (store.verify().wrong, gallons()) == (0, 1_800.0)
    assert leaks() == 1


def test_a_finding_that_begins_in_maintenance_sends_no_alert_during_it(sqlite_store: Store) -> None:
    store = sqlite_store
    device = meter(store, "acme", "M-4")
    keep_hook(store, "https://hook.example/", "s" * 40)
    keep_rule(store)
    plan = planned("acme", NOW - DAY_MS, NOW + HOUR_MS, group="north")
    store.keep_annotation(plan, [])
    keep_findings(store, [a_finding(device.key)])
    engine = AlertEvaluator(store)
    engine.run(NOW)
    assert store.alert_messages("acme") == []
    engine.run(NOW + DAY_MS)
    assert len(store.alert_messages("acme")) == 1
