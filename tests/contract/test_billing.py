"""Tariffs, costs and budgets over HTTP, and the alert of a budget."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from api.catalog import HOUR_MS
from api.client import Client, Credential
from api.errors import BadRequest, Forbidden, NotFound
from api.insight.alerts.conditions import of_budgets
from api.insight.alerts.evaluator import AlertEvaluator
from api.insight.budgets import Budget, BudgetState
from api.insight.month_ends import MonthEnds
from api.insight.status_projection import Projection
from api.metering.forecast import Interval
from api.metering.month_end import MonthEnd
from api.roles import Role
from api.store.base import AuditQuery, BillingRow, Grant, NewDevice
from api.timez import day_start, local_ordinal, now_ms, zone
from tests import citus
from tests.store.fleet import everything, reading
from tests.world import ACME, World, opened

TZ = zone("America/New_York")
NOW = now_ms()
TODAY = local_ordinal(TZ, NOW)
GROUP = "budgeted"
SINCE = day_start(TZ, TODAY - 70)
DAILY = 240.0  # gallons
TIERS = [{"perGallon": "0.01"}, {"perGallon": "0.03", "above": "480"}]
VERSIONS: list[dict[str, Any]] = [{"from": "2020-01-01", "rates": TIERS}]


@pytest.fixture(scope="module", params=citus.FILE_OR_CLUSTER)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Two meters with the same use in each hour, up to now."""
    details = {"deviceTimeZone": TZ.key, "reportingInterval": 3600.0}
    with (
        citus.place(request.param, tmp_path_factory.mktemp("billing")) as url,
        opened(url) as world,
    ):
        new = [NewDevice(serial, details, groups=(GROUP,)) for serial in ("B-1", "B-2")]
        world.store.import_devices(ACME, new)
        for device in world.store.resolve(everything(ACME), ["B-1", "B-2"]):
            assert device is not None
            hours = range(SINCE, NOW, HOUR_MS)
            world.store.write([reading(device, at, flow_amount=DAILY / 24) for at in hours])
        yield world


@pytest.fixture
def admin(world: World) -> Iterator[Client]:
    client = of(world)
    yield client
    for tariff in client.tariffs():
        client.delete_tariff(tariff.id)
    for budget in client.budgets():
        client.delete_budget(budget.id)


def of(world: World, role: Role = Role.ADMINISTRATOR, grant: Grant | None = None) -> Client:
    secret, _ = world.new_key(grant or Grant(everything=True), role=role)
    return Client.in_process(world.client.application, Credential.key(secret))


def device_id(world: World, serial: str) -> str:
    (device,) = world.store.resolve(everything(ACME), [serial])
    assert device is not None
    return device.id


def test_days_cost_the_rates_of_their_tiers(world: World, admin: Client) -> None:
    """240 gal a day: two days in the first tier, from the third on in the second."""
    admin.create_tariff({"name": "City 2026", "versions": VERSIONS, "groups": [GROUP]})
    id = device_id(world, "B-1")
    this_month = date.fromordinal(TODAY).replace(day=1)
    first = (this_month - timedelta(days=1)).replace(day=1).toordinal()
    edges = [day_start(TZ, first + day) for day in range(5)]
    (costs,) = admin.costs([id], from_ms=edges[0], to_ms=edges[4] - 1).values()
    assert (costs.tariff, costs.currency) == ("City 2026", "USD")
    assert list(costs.days) == edges[:4]
    expected = [2.4, 2.4, 7.2, 7.2]
    assert list(costs.days.values()) == pytest.approx(expected, abs=0.35)  # clocks may change
    assert costs.total == pytest.approx(sum(costs.days.values()))
    alone = admin.costs([id], from_ms=edges[3], to_ms=edges[4] - 1)[id]
    assert alone.total == costs.days[edges[3]]


def test_the_most_specific_price_counts(world: World, admin: Client) -> None:
    """A device's tariff, its price, its group's tariff, the organization's tariff and price."""
    id = device_id(world, "B-1")
    everyone = admin.create_tariff({"name": "All", "versions": VERSIONS, "organization": True})
    assert named(admin, id) == "All"
    admin.create_tariff({"name": "Group", "versions": VERSIONS, "groups": [GROUP]})
    assert named(admin, id) == "Group"
    admin.create_tariff({"name": "Own", "versions": VERSIONS, "devices": ["B-1"]})
    assert named(admin, id) == "Own"
    assert named(admin, device_id(world, "B-2")) == "Group"
    with pytest.raises(BadRequest) as refused:
        admin.create_tariff({"name": "More", "versions": VERSIONS, "groups": [GROUP]})
    assert [each.parameter for each in refused.value.errors] == ["groups"]
    changed = admin.change_tariff(everyone.id, {"name": "Everyone"})
    assert (changed.name, changed.everyone) == ("Everyone", True)


def named(client: Client, id: str) -> str:
    price = client.status(id).price
    return "" if price is None else price.tariff


def test_the_month_end_is_priced_by_the_tariff(world: World, admin: Client) -> None:
    id = device_id(world, "B-1")
    assert admin.month_end(id).cost is None
    fixed = [{**VERSIONS[0], "fixed": "31"}]
    admin.create_tariff({"name": "City", "versions": fixed, "devices": [id]})
    end = admin.month_end(id)
    assert end.cost is not None
    assert end.volume.expected is not None
    assert end.tariff == "City"
    cost = Decimal("4.8") + Decimal("0.03") * (Decimal(end.volume.expected) - 480) + 31
    assert end.cost.expected == pytest.approx(float(cost), abs=0.5)


def test_a_budget_fires_and_is_resolved(world: World, admin: Client) -> None:
    id = device_id(world, "B-1")
    admin.create_rule({"name": "Budgets", "source": "budget"})
    (rule,) = admin.alert_rules()
    month = admin.month_end(id).volume.expected or 0.0
    low = admin.set_budget(1, device=id)  # exceeded on the first day of a month
    group = admin.set_budget(1, group=GROUP)
    assert (low.measure, group.devices) == ("volume", 0)  # month ends aren't computed yet
    evaluate(world)
    states = {each.label: each.state for each in admin.budgets()}
    assert set(states.values()) <= {"likely", "exceeded"}
    firing = admin.alerts(states=["firing"]).alerts
    assert {each.kind for each in firing} == {"Volume budget", f"Volume budget of {GROUP}"}
    end = admin.status_summary(group=GROUP).month_end
    assert end is not None
    assert end.expected == pytest.approx(2 * month)
    assert end.likely == 2
    assert admin.status_summary(group="nobody's").month_end is None
    one = of(world, Role.VIEWER, Grant(devices=frozenset((id,))))
    assert {each.kind for each in one.alerts().alerts} == {"Volume budget"}
    assert [each.device_id for each in one.budgets()] == [id]
    assert admin.month_end(id).budgets[0].state in ("likely", "exceeded")
    assert admin.set_budget(round(month * 9), device=id).id == low.id
    admin.delete_budget(group.id)
    evaluate(world)
    assert admin.alerts(states=["firing"]).alerts == ()
    admin.delete_rule(rule.id)
    log = world.store.audit(AuditQuery(organization_id=ACME, kind="budget"))
    assert [each.action for each in log][:3] == ["delete", "change", "create"]


def evaluate(world: World) -> None:
    MonthEnds(world.store).all_due()
    AlertEvaluator(world.store).run(now_ms())


def test_a_change_of_tariff_updates_status_and_month_ends(world: World, admin: Client) -> None:
    (key,) = [d.key for d in world.store.resolve(everything(ACME), ["B-1"]) if d is not None]
    evaluate(world)
    Projection(world.store).all_due()
    assert world.store.month_ends([key])[key].tariff == ""
    admin.create_tariff({"name": "New", "versions": VERSIONS, "organization": True})
    assert key in world.store.due_month_ends(now_ms(), 100)
    evaluate(world)
    Projection(world.store).all_due()
    assert world.store.month_ends([key])[key].tariff == "New"
    # The rate of the tier that the month will reach.
    assert world.store.status_rows([key])[key].price == 0.03


def state(level: str, amount: str, interval: Interval | None, so_far: float) -> BudgetState:
    definition = f'{{"measure": "cost", "amount": "{amount}"}}'
    row = BillingRow("b", ACME, "budget", f"{level}:North", definition, None, "key", 0, 0)
    end = MonthEnd(date(2026, 11, 1), so_far, 100.0, interval)
    return BudgetState(Budget.of(row), "North", 2, "2026-11", end, "USD", 5, 1)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            state("device", "90", Interval(90, 110, 80, 120), 50),
            "the month will likely end at $100.00, above its budget of $90.00 (chance 90%).",
        ),
        (state("device", "95", Interval(90, 110, 80, 120), 50), None),
        (state("device", "90", None, 50), None),
        (
            state("group", "90", None, 91),
            "North: $91.00 exceed the month's budget of $90.00.",
        ),
    ],
)
def test_a_budget_fires_at_a_probability_of_four_in_five(
    state: BudgetState, words: str | None
) -> None:
    result = of_budgets([state])
    assert [each.words for each in result.conditions] == ([] if words is None else [words])
    assert not result.unclear


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"amount": 5}, "device"),
        ({"device": "B-1", "group": GROUP, "amount": 5}, "device"),
        ({"device": "B-1", "amount": 0}, "amount"),
        ({"device": "B-1", "amount": "nan"}, "amount"),
        ({"device": "B-1", "amount": 5, "measure": "litres"}, "measure"),
        ({"device": "B-1", "amount": 5, "since": "now"}, "since"),
    ],
)
def test_invalid_budgets_are_refused(world: World, body: dict[str, Any], field: str) -> None:
    answer = world.client.post(
        "/insight/v1/budgets", json=body, headers=dict(world.credentials["all"].headers)
    )
    assert answer.status_code == 400, answer.text
    errors = (answer.json or {})["errors"]
    assert [each["parameter"] for each in errors] == [field]


def test_changes_need_their_role(world: World) -> None:
    viewer, some = of(world, Role.VIEWER), Grant(devices=frozenset((device_id(world, "B-1"),)))
    with pytest.raises(Forbidden):
        viewer.set_budget(5, device="B-1")
    part = of(world, Role.ADMINISTRATOR, some)
    assert part.tariffs() == ()
    with pytest.raises(Forbidden):
        part.create_tariff({"name": "T", "versions": VERSIONS})
    for other in ({"device": "B-2"}, {"group": GROUP}):
        with pytest.raises(NotFound):
            part.set_budget(5, **other)
    assert world.store.billing_rows("budget") == []
