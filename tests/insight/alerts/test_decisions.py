"""What somebody is told, and what not: each complaint about other alerting by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from api.insight.alerts.state_machine import Quiet
from api.store.base.alerts import SilenceRow
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, stamp
from tests.insight.alerts.decided import NOW, Desk, a_finding, a_rule, ended, minutes
from tests.tables import cases

LEAK = a_finding()


def silence(until: int, **said: str) -> SilenceRow:
    whom = {"rule_id": None, "device_id": None, "group_name": None, "subject": None, **said}
    return SilenceRow(
        "s", "acme", **whom, from_ms=0, until_ms=until, reason="", created_by="", created_ms=0
    )


def test_it_fires_once_and_resolves_once() -> None:
    desk = Desk([a_rule()])
    assert desk.look(NOW, LEAK) == ["fire"]
    assert desk.look(NOW + 1, LEAK) == []
    assert desk.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS)) == ["resolve"]
    assert desk.look(NOW + HOUR_MS + 1, ended(LEAK, NOW + HOUR_MS)) == []
    (alert,) = desk.alerts
    assert (alert.state, alert.fired_ms, alert.resolved_ms) == ("resolved", NOW, NOW + HOUR_MS)


@cases(
    ("asked", "finding", "fires"),
    [
        ({}, {}, True),
        ({"kinds": ["continuous-flow"]}, {}, True),
        ({"kinds": ["burst"]}, {}, False),
        ({"severity": "critical"}, {}, False),
        ({"severity": "critical"}, {"severity": "critical"}, True),
        ({"severity": "warning"}, {"severity": "notice"}, False),
        ({"costPerDay": 10}, {"cost": 9.99}, False),
        ({"costPerDay": 10}, {"cost": 10.0}, True),
        ({"devices": ["d-1"]}, {}, True),
        ({"devices": ["d-2"]}, {}, False),
        ({"groups": ["north"]}, {}, True),
        ({"groups": ["south"]}, {}, False),
        ({"devices": ["d-2"], "groups": ["north"]}, {}, True),
        ({"enabled": False}, {}, False),
    ],
)
def test_a_rule_asks_for_some_findings_of_some_devices(
    asked: dict[str, Any], finding: dict[str, Any], fires: bool
) -> None:
    desk = Desk([a_rule(**asked)], groups={"north": frozenset((1,))})
    assert desk.look(NOW, a_finding(**finding)) == (["fire"] if fires else [])


def test_it_waits_for_the_hold_and_forgets_what_ended_before() -> None:
    desk = Desk([a_rule(hold=3600)])
    assert desk.look(NOW, LEAK) == []
    assert [each.state for each in desk.alerts] == ["pending"]
    assert desk.look(NOW + HOUR_MS - 1, LEAK) == []
    assert desk.look(NOW + HOUR_MS, LEAK) == ["fire"]
    other = Desk([a_rule(hold=3600)])
    other.look(NOW, LEAK)
    assert other.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS - 1)) == []
    assert other.alerts == []


def test_a_restart_loses_no_timer() -> None:
    """All that a pass needs is in its rows: a new process goes on with them."""
    desk = Desk([a_rule(hold=3600, reminder=7200)])
    desk.look(NOW, LEAK)
    after = Desk([a_rule(hold=3600, reminder=7200)], rows=dict(desk.rows))
    (row,) = after.rows.values()
    assert row.due_ms == NOW + HOUR_MS
    assert after.look(row.due_ms, LEAK) == ["fire"]
    last = Desk([a_rule(hold=3600, reminder=7200)], rows=dict(after.rows))
    (row,) = last.rows.values()
    assert row.due_ms == NOW + 3 * HOUR_MS
    assert last.look(row.due_ms, LEAK) == ["reminder"]


def test_reminders_end_with_the_acknowledgement() -> None:
    desk = Desk([a_rule(reminder=3600)])
    desk.look(NOW, LEAK)
    assert desk.look(NOW + HOUR_MS, LEAK) == ["reminder"]
    desk.acknowledge(desk.alerts[0].id, NOW + HOUR_MS)
    assert desk.look(NOW + 5 * HOUR_MS, LEAK) == []
    assert desk.look(NOW + 6 * HOUR_MS, ended(LEAK, NOW + 6 * HOUR_MS)) == ["resolve"]


def test_flapping_delays_the_next_resolve() -> None:
    desk = Desk([a_rule()])
    at, delays = NOW, list[int]()
    for _ in range(2):
        leak = a_finding(opened=at)
        assert desk.look(at, leak) == ["fire"]
        over = ended(leak, at + MINUTE_MS)
        events, waited = desk.look(at + MINUTE_MS, over), 0
        while not events:
            waited += MINUTE_MS
            events = desk.look(at + MINUTE_MS + waited, over)
        assert events == ["resolve"]
        delays.append(waited)
        at += MINUTE_MS + waited + 10 * MINUTE_MS
    assert delays == [0, 15 * MINUTE_MS]


@cases(("before", "after"), [(0, 15), (15, 22.5), (minutes(40) / MINUTE_MS, 60), (60, 60)])
def test_the_resolve_waits_half_as_long_again_up_to_an_hour(before: float, after: float) -> None:
    desk, first = Desk([a_rule()]), a_finding()
    desk.look(NOW, first)
    desk.look(NOW + MINUTE_MS, ended(first, NOW + MINUTE_MS))
    (over,) = desk.alerts
    desk.rows[over.id] = replace(over, delay_ms=minutes(before)).row()
    desk.look(NOW + 2 * MINUTE_MS, a_finding(opened=NOW + 2 * MINUTE_MS))
    assert desk.alerts[-1].delay_ms == minutes(after)


def test_a_condition_that_returns_while_its_resolve_waits_tells_nobody() -> None:
    desk = Desk([a_rule()])
    first, again = a_finding(), a_finding(opened=NOW + minutes(20))
    desk.look(NOW, first)
    desk.look(NOW + minutes(10), ended(first, NOW + minutes(10)))
    desk.look(NOW + minutes(20), again)
    over = ended(again, NOW + minutes(25))
    third = a_finding(opened=NOW + minutes(30))
    assert desk.look(NOW + minutes(25), over) == []
    assert desk.look(NOW + minutes(30), over, third) == ["unstable"]  # the fifth flip of the day
    assert desk.told == [(event, ("M-1",)) for event in ("fire", "resolve", "fire", "unstable")]


def test_more_than_four_flips_a_day_make_one_unstable_message() -> None:
    desk = Desk([a_rule()])
    for n in range(20):
        at = NOW + n * 30 * MINUTE_MS
        leak = a_finding(opened=at)
        desk.look(at, leak)
        desk.look(at + minutes(10), ended(leak, at + minutes(10)))
    events = [event for event, _ in desk.told]
    assert events.count("unstable") == 1
    assert len(events) <= 5
    quiet = NOW + 10 * HOUR_MS + 2 * DAY_MS
    last = ended(a_finding(opened=NOW + 19 * 30 * MINUTE_MS), NOW + 10 * HOUR_MS)
    desk.look(quiet, last)
    assert [event for event, _ in desk.told].count("resolve") == events.count("resolve") + 1


def test_no_data_keeps_the_state() -> None:
    """A leak's finding stays open while nothing is received; and so does the alert."""
    desk = Desk([a_rule(kinds=["continuous-flow"])])
    desk.look(NOW, LEAK)
    gone = a_finding(kind="silent", opened=NOW + HOUR_MS)
    assert desk.look(NOW + DAY_MS, LEAK, gone) == []
    assert [each.state for each in desk.alerts] == ["firing"]


def test_a_late_batch_is_recorded_and_not_sent() -> None:
    desk = Desk([a_rule()])
    old = a_finding(opened=NOW - 3 * DAY_MS, end=NOW - 2 * DAY_MS)
    assert desk.look(NOW, old) == []
    (alert,) = desk.alerts
    assert (alert.state, alert.not_sent) == ("resolved", "late")
    assert desk.look(NOW + 1, old) == []
    recent = a_finding(opened=NOW - 10 * HOUR_MS, end=NOW - 8 * HOUR_MS)
    assert desk.look(NOW + 2, recent, old) == ["fire", "resolve"]
    assert desk.bodies[0]["note"] == "Found 10 h late: its readings arrived late."
    assert desk.bodies[0]["alerts"][0]["startsAt"] == stamp(NOW - 11 * HOUR_MS)
    assert desk.bodies[1]["alerts"][0]["endsAt"] == stamp(NOW - 8 * HOUR_MS)
    soon = a_finding(2, opened=NOW - MINUTE_MS)
    assert Desk([a_rule()], devices=2).look(NOW, soon) == ["fire"]


def test_a_new_rule_tells_what_is_open_once_and_nothing_of_before() -> None:
    rule = replace(a_rule(), updated_ms=NOW)
    desk = Desk([rule])
    before = a_finding(opened=NOW - 5 * DAY_MS, end=NOW - HOUR_MS)
    still = a_finding(opened=NOW - 4 * DAY_MS, kind="stuck")
    assert desk.look(NOW, before, still) == ["fire"]
    assert [body["alerts"][0]["subject"] for body in desk.bodies] == ["stuck"]


def test_who_was_told_of_the_fire_is_told_of_the_resolve_silenced_or_not() -> None:
    desk = Desk([a_rule()])
    desk.look(NOW, LEAK)
    desk.silences = [silence(NOW + DAY_MS)]
    assert desk.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS)) == ["resolve"]


def test_nobody_is_told_of_a_resolve_without_its_fire() -> None:
    desk = Desk([a_rule()], silences=[silence(NOW + HOUR_MS)])
    assert desk.look(NOW, LEAK) == []
    desk.silences = []
    assert desk.look(NOW + minutes(30), ended(LEAK, NOW + minutes(30))) == []
    assert desk.alerts[0].not_sent == "silenced"


@cases(
    ("whom", "quiet"),
    [
        ({}, True),
        ({"device_id": "d-1"}, True),
        ({"device_id": "d-2"}, False),
        ({"group_name": "north"}, True),
        ({"group_name": "south"}, False),
        ({"subject": "burst"}, False),
        ({"rule_id": "r"}, True),
        ({"rule_id": "other"}, False),
    ],
)
def test_a_silence_is_for_whom_it_says(whom: dict[str, str], quiet: bool) -> None:
    desk = Desk([a_rule()], groups={"north": frozenset((1,))})
    desk.silences = [silence(NOW + HOUR_MS, **whom)]
    assert desk.look(NOW, LEAK) == ([] if quiet else ["fire"])


def test_what_still_fires_at_the_end_of_a_silence_is_told_then() -> None:
    desk = Desk([a_rule()], silences=[silence(NOW + HOUR_MS)])
    desk.look(NOW, LEAK)
    assert desk.alerts[0].due_ms == NOW + HOUR_MS
    assert desk.look(NOW + HOUR_MS, LEAK) == ["fire"]


def test_the_end_of_maintenance_does_not_alert_on_what_happened_in_it() -> None:
    span = Quiet(NOW - HOUR_MS, NOW + HOUR_MS, "maintenance")
    gone = a_finding(kind="silent", opened=NOW, lasted=minutes(15))
    desk = Desk([a_rule()], quiet=[span])
    assert desk.look(NOW, gone) == []
    assert desk.look(NOW + HOUR_MS, gone) == []
    assert desk.look(NOW + HOUR_MS + minutes(5), ended(gone, NOW + HOUR_MS + minutes(5))) == []
    assert [each.not_sent for each in desk.alerts] == ["maintenance"]


def test_what_outlasts_maintenance_by_its_own_measure_is_told() -> None:
    span = Quiet(NOW - HOUR_MS, NOW + HOUR_MS, "maintenance")
    gone = a_finding(kind="silent", opened=NOW, lasted=minutes(15))
    desk = Desk([a_rule()], quiet=[span])
    desk.look(NOW, gone)
    assert desk.look(NOW + HOUR_MS + minutes(14), gone) == []
    assert desk.look(NOW + HOUR_MS + minutes(15), gone) == ["fire"]


def test_our_own_downtime_is_no_devices_silence() -> None:
    away = Quiet(NOW - HOUR_MS, NOW, "downtime")
    gone = a_finding(kind="silent", opened=NOW - minutes(45), lasted=minutes(15))
    before = a_finding(2, kind="silent", opened=NOW - 2 * HOUR_MS, lasted=minutes(15))
    desk = Desk([a_rule()], devices=2, quiet=[away])
    assert desk.look(NOW, gone, before) == ["fire"]
    assert desk.told == [("fire", ("M-2",))]
    assert desk.look(NOW + minutes(10), before) == []  # its readings arrived after all


@pytest.mark.parametrize("spread_s", [0, 600])
def test_a_gateway_that_takes_500_meters_down_is_one_message(spread_s: int) -> None:
    """However they fall silent one after the other, and are evaluated some at a time."""
    group = {"Gateway East": frozenset(range(1, 501))}
    desk = Desk([a_rule(kinds=["silent"])], devices=2_000, groups=group)
    gone = [
        a_finding(key, kind="silent", opened=NOW + spread_s * 2 * key, lasted=minutes(15))
        for key in group["Gateway East"]
    ]
    at = NOW
    for at in (NOW + minutes(n) for n in (0.5, 1.5, 3, 10, 12)):
        there = [each for each in gone if each.opened_ms <= at]
        for start in range(0, 500, 250):
            keys = range(start + 1, start + 251)
            desk.look(at, *(each for each in there if each.key in keys), keys=keys)
    assert [event for event, _ in desk.told] == ["fire"]
    assert desk.bodies[0]["group"]["name"] == "Gateway East"
    over = [ended(each, at) for each in gone]
    desk.look(at + minutes(1), *over[:400], keys=range(1, 401))
    desk.look(at + minutes(2), *over, keys=range(401, 501))
    assert [event for event, _ in desk.told] == ["fire", "resolve"]


def test_few_silent_devices_of_a_large_group_are_told_one_by_one() -> None:
    desk = Desk([a_rule(kinds=["silent"])], devices=50)
    gone = [a_finding(key, kind="silent") for key in (1, 2, 3)]
    assert desk.look(NOW, *gone) == []  # it waits a minute for others
    assert desk.look(NOW + MINUTE_MS, *gone) == ["fire"] * 3


@cases(
    ("silent", "size", "messages"), [(3, 14, 1), (3, 15, 3), (2, 4, 2), (19, 100, 19), (20, 100, 1)]
)
def test_more_than_a_fifth_of_a_group_is_one_message(silent: int, size: int, messages: int) -> None:
    """Or 20 devices at once, whatever their group."""
    group = {"East": frozenset(range(1, size + 1))}
    desk = Desk([a_rule(kinds=["silent"])], devices=1_000, groups=group)
    gone = [a_finding(key, kind="silent", lasted=minutes(15)) for key in range(1, silent + 1)]
    desk.look(NOW, *gone, keys=range(1, size + 1))
    desk.look(NOW + MINUTE_MS, *gone, keys=range(1, size + 1))
    assert [event for event, _ in desk.told] == ["fire"] * messages


def test_a_rule_that_is_switched_off_tells_who_knew() -> None:
    desk = Desk([a_rule()])
    desk.look(NOW, LEAK)
    desk.rules = []
    assert desk.look(NOW + 1, LEAK) == ["resolve"]
    assert desk.bodies[-1]["note"] == "The rule was switched off."


def test_a_finding_that_is_taken_back_resolves_its_alert() -> None:
    desk = Desk([a_rule()])
    desk.look(NOW, LEAK)
    assert desk.look(NOW + 1) == ["resolve"]
    assert desk.bodies[-1]["note"] == "It was taken back."


def test_a_dismissed_finding_resolves_its_alert() -> None:
    desk = Desk([a_rule()])
    desk.look(NOW, LEAK)
    assert desk.look(NOW + 1, replace(LEAK, dismissed_ms=NOW)) == ["resolve"]


def test_without_a_receiver_it_is_shown_and_not_sent() -> None:
    desk = Desk([a_rule(receivers=[])])
    assert desk.look(NOW, LEAK) == []
    assert desk.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS)) == []
    assert [(each.state, each.not_sent) for each in desk.alerts] == [("resolved", "no receiver")]
