"""Which messages are sent and which aren't: common complaints about alerting, one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from api.insight.alerts.rules import parse_rule
from api.insight.alerts.state_machine import Quiet
from api.store.base.alerts import SilenceRow
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, stamp
from tests.insight.alerts.decided import NOW, AlertBench, a_finding, a_rule, ended, minutes
from tests.tables import cases

LEAK = a_finding()


def silence(until: int, **text: str) -> SilenceRow:
    covered = {"rule_id": None, "device_id": None, "group_name": None, "subject": None, **text}
    return SilenceRow(
        "s", "acme", **covered, from_ms=0, until_ms=until, reason="", created_by="", created_ms=0
    )


def test_it_fires_once_and_resolves_once() -> None:
    bench = AlertBench([a_rule()])
    assert bench.look(NOW, LEAK) == ["fire"]
    assert bench.look(NOW + 1, LEAK) == []
    assert bench.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS)) == ["resolve"]
    assert bench.look(NOW + HOUR_MS + 1, ended(LEAK, NOW + HOUR_MS)) == []
    (alert,) = bench.alerts
    assert (alert.state, alert.fired_ms, alert.resolved_ms) == ("resolved", NOW, NOW + HOUR_MS)


@cases(
    ("units", "words"), [("us", "At least 54.4 gal/h."), ("metric", "At least 206 L/h.")]
)  # fmt: skip
def test_a_message_has_the_organization_s_units(units: str, words: str) -> None:
    bench = AlertBench([a_rule()], units=units)
    bench.look(NOW, replace(LEAK, words="At least 54.4 gal/h."))
    (body,) = bench.bodies
    assert (body["units"], body["alerts"][0]["words"]) == (units, words)
    assert (body["alerts"][0]["value"], body["alerts"][0]["unit"]) == (54.4, "gal/h")
    assert bench.alerts[0].condition.words == "At least 54.4 gal/h."


def test_a_rule_names_its_cost_in_the_organizations_currency() -> None:
    rule = parse_rule({"name": "Leaks", "costPerDay": 10})
    assert rule.words("EUR") == "Any finding, from €10.00 a day"


@cases(
    ("fields", "finding", "fires"),
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
def test_a_rule_selects_findings_and_devices(
    fields: dict[str, Any], finding: dict[str, Any], fires: bool
) -> None:
    bench = AlertBench([a_rule(**fields)], groups={"north": frozenset((1,))})
    assert bench.look(NOW, a_finding(**finding)) == (["fire"] if fires else [])


def test_it_waits_for_the_hold_and_drops_what_ended_before() -> None:
    bench = AlertBench([a_rule(hold=3600)])
    assert bench.look(NOW, LEAK) == []
    assert [each.state for each in bench.alerts] == ["pending"]
    assert bench.look(NOW + HOUR_MS - 1, LEAK) == []
    assert bench.look(NOW + HOUR_MS, LEAK) == ["fire"]
    other = AlertBench([a_rule(hold=3600)])
    other.look(NOW, LEAK)
    assert other.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS - 1)) == []
    assert other.alerts == []


def test_a_restart_loses_no_timer() -> None:
    """A pass needs only its rows, so a new process continues with them."""
    bench = AlertBench([a_rule(hold=3600, reminder=7200)])
    bench.look(NOW, LEAK)
    after = AlertBench([a_rule(hold=3600, reminder=7200)], rows=dict(bench.rows))
    (row,) = after.rows.values()
    assert row.due_ms == NOW + HOUR_MS
    assert after.look(row.due_ms, LEAK) == ["fire"]
    last = AlertBench([a_rule(hold=3600, reminder=7200)], rows=dict(after.rows))
    (row,) = last.rows.values()
    assert row.due_ms == NOW + 3 * HOUR_MS
    assert last.look(row.due_ms, LEAK) == ["reminder"]


def test_reminders_end_with_the_acknowledgement() -> None:
    bench = AlertBench([a_rule(reminder=3600)])
    bench.look(NOW, LEAK)
    assert bench.look(NOW + HOUR_MS, LEAK) == ["reminder"]
    bench.acknowledge(bench.alerts[0].id, NOW + HOUR_MS)
    assert bench.look(NOW + 5 * HOUR_MS, LEAK) == []
    assert bench.look(NOW + 6 * HOUR_MS, ended(LEAK, NOW + 6 * HOUR_MS)) == ["resolve"]


def test_flapping_delays_the_next_resolve() -> None:
    bench = AlertBench([a_rule()])
    at, delays = NOW, list[int]()
    for _ in range(2):
        leak = a_finding(opened=at)
        assert bench.look(at, leak) == ["fire"]
        over = ended(leak, at + MINUTE_MS)
        events, waited = bench.look(at + MINUTE_MS, over), 0
        while not events:
            waited += MINUTE_MS
            events = bench.look(at + MINUTE_MS + waited, over)
        assert events == ["resolve"]
        delays.append(waited)
        at += MINUTE_MS + waited + 10 * MINUTE_MS
    assert delays == [0, 15 * MINUTE_MS]


@cases(("before", "after"), [(0, 15), (15, 22.5), (minutes(40) / MINUTE_MS, 60), (60, 60)])
def test_the_resolve_waits_half_as_long_again_up_to_an_hour(before: float, after: float) -> None:
    bench, first = AlertBench([a_rule()]), a_finding()
    bench.look(NOW, first)
    bench.look(NOW + MINUTE_MS, ended(first, NOW + MINUTE_MS))
    (over,) = bench.alerts
    bench.rows[over.id] = replace(over, delay_ms=minutes(before)).row()
    bench.look(NOW + 2 * MINUTE_MS, a_finding(opened=NOW + 2 * MINUTE_MS))
    assert bench.alerts[-1].delay_ms == minutes(after)


def test_a_condition_that_returns_before_its_resolve_sends_nothing() -> None:
    bench = AlertBench([a_rule()])
    first, again = a_finding(), a_finding(opened=NOW + minutes(20))
    bench.look(NOW, first)
    bench.look(NOW + minutes(10), ended(first, NOW + minutes(10)))
    bench.look(NOW + minutes(20), again)
    over = ended(again, NOW + minutes(25))
    third = a_finding(opened=NOW + minutes(30))
    assert bench.look(NOW + minutes(25), over) == []
    assert bench.look(NOW + minutes(30), over, third) == ["unstable"]  # the fifth flip of the day
    assert bench.messages == [
        (event, ("M-1",)) for event in ("fire", "resolve", "fire", "unstable")
    ]


def test_more_than_four_flips_a_day_make_one_unstable_message() -> None:
    bench = AlertBench([a_rule()])
    for n in range(20):
        at = NOW + n * 30 * MINUTE_MS
        leak = a_finding(opened=at)
        bench.look(at, leak)
        bench.look(at + minutes(10), ended(leak, at + minutes(10)))
    events = [event for event, _ in bench.messages]
    assert events.count("unstable") == 1
    assert len(events) <= 5
    quiet = NOW + 10 * HOUR_MS + 2 * DAY_MS
    last = ended(a_finding(opened=NOW + 19 * 30 * MINUTE_MS), NOW + 10 * HOUR_MS)
    bench.look(quiet, last)
    assert [event for event, _ in bench.messages].count("resolve") == events.count("resolve") + 1


def test_no_data_keeps_the_state() -> None:
    """A leak's finding stays open while no readings arrive, and so does the alert."""
    bench = AlertBench([a_rule(kinds=["continuous-flow"])])
    bench.look(NOW, LEAK)
    gone = a_finding(kind="silent", opened=NOW + HOUR_MS)
    assert bench.look(NOW + DAY_MS, LEAK, gone) == []
    assert [each.state for each in bench.alerts] == ["firing"]


def test_a_late_batch_is_recorded_and_not_sent() -> None:
    bench = AlertBench([a_rule()])
    old = a_finding(opened=NOW - 3 * DAY_MS, end=NOW - 2 * DAY_MS)
    assert bench.look(NOW, old) == []
    (alert,) = bench.alerts
    assert (alert.state, alert.not_sent) == ("resolved", "late")
    assert bench.look(NOW + 1, old) == []
    recent = a_finding(opened=NOW - 10 * HOUR_MS, end=NOW - 8 * HOUR_MS)
    assert bench.look(NOW + 2, recent, old) == ["fire", "resolve"]
    assert bench.bodies[0]["note"] == "Found 10 h late: its readings arrived late."
    assert bench.bodies[0]["alerts"][0]["startsAt"] == stamp(NOW - 11 * HOUR_MS)
    assert bench.bodies[1]["alerts"][0]["endsAt"] == stamp(NOW - 8 * HOUR_MS)
    soon = a_finding(2, opened=NOW - MINUTE_MS)
    assert AlertBench([a_rule()], devices=2).look(NOW, soon) == ["fire"]


def test_a_new_rule_sends_open_findings_once_and_no_earlier_ones() -> None:
    rule = replace(a_rule(), updated_ms=NOW)
    bench = AlertBench([rule])
    before = a_finding(opened=NOW - 5 * DAY_MS, end=NOW - HOUR_MS)
    still = a_finding(opened=NOW - 4 * DAY_MS, kind="stuck")
    assert bench.look(NOW, before, still) == ["fire"]
    assert [body["alerts"][0]["subject"] for body in bench.bodies] == ["stuck"]


def test_a_receiver_of_the_fire_gets_the_resolve_even_if_silenced() -> None:
    bench = AlertBench([a_rule()])
    bench.look(NOW, LEAK)
    bench.silences = [silence(NOW + DAY_MS)]
    assert bench.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS)) == ["resolve"]


def test_no_resolve_is_sent_without_its_fire() -> None:
    bench = AlertBench([a_rule()], silences=[silence(NOW + HOUR_MS)])
    assert bench.look(NOW, LEAK) == []
    bench.silences = []
    assert bench.look(NOW + minutes(30), ended(LEAK, NOW + minutes(30))) == []
    assert bench.alerts[0].not_sent == "silenced"


@cases(
    ("covered", "quiet"),
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
def test_a_silence_covers_its_devices_and_rules(covered: dict[str, str], quiet: bool) -> None:
    bench = AlertBench([a_rule()], groups={"north": frozenset((1,))})
    bench.silences = [silence(NOW + HOUR_MS, **covered)]
    assert bench.look(NOW, LEAK) == ([] if quiet else ["fire"])


def test_an_alert_still_firing_after_a_silence_is_sent_then() -> None:
    bench = AlertBench([a_rule()], silences=[silence(NOW + HOUR_MS)])
    bench.look(NOW, LEAK)
    assert bench.alerts[0].due_ms == NOW + HOUR_MS
    assert bench.look(NOW + HOUR_MS, LEAK) == ["fire"]


def test_after_maintenance_its_findings_send_no_alert() -> None:
    span = Quiet(NOW - HOUR_MS, NOW + HOUR_MS, "maintenance")
    gone = a_finding(kind="silent", opened=NOW, lasted=minutes(15))
    bench = AlertBench([a_rule()], quiet=[span])
    assert bench.look(NOW, gone) == []
    assert bench.look(NOW + HOUR_MS, gone) == []
    assert bench.look(NOW + HOUR_MS + minutes(5), ended(gone, NOW + HOUR_MS + minutes(5))) == []
    assert [each.not_sent for each in bench.alerts] == ["maintenance"]


def test_a_condition_that_outlasts_maintenance_is_sent() -> None:
    span = Quiet(NOW - HOUR_MS, NOW + HOUR_MS, "maintenance")
    gone = a_finding(kind="silent", opened=NOW, lasted=minutes(15))
    bench = AlertBench([a_rule()], quiet=[span])
    bench.look(NOW, gone)
    assert bench.look(NOW + HOUR_MS + minutes(14), gone) == []
    assert bench.look(NOW + HOUR_MS + minutes(15), gone) == ["fire"]


def test_weirs_own_downtime_is_not_silence_of_devices() -> None:
    away = Quiet(NOW - HOUR_MS, NOW, "downtime")
    gone = a_finding(kind="silent", opened=NOW - minutes(45), lasted=minutes(15))
    before = a_finding(2, kind="silent", opened=NOW - 2 * HOUR_MS, lasted=minutes(15))
    bench = AlertBench([a_rule()], devices=2, quiet=[away])
    assert bench.look(NOW, gone, before) == ["fire"]
    assert bench.messages == [("fire", ("M-2",))]
    assert bench.look(NOW + minutes(10), before) == []  # its readings arrived after all


@pytest.mark.parametrize("spread_s", [0, 600])
def test_a_gateway_that_takes_500_meters_down_is_one_message(spread_s: int) -> None:
    """In any order of falling silent, and evaluated in batches."""
    group = {"Gateway East": frozenset(range(1, 501))}
    bench = AlertBench([a_rule(kinds=["silent"])], devices=2_000, groups=group)
    gone = [
        a_finding(key, kind="silent", opened=NOW + spread_s * 2 * key, lasted=minutes(15))
        for key in group["Gateway East"]
    ]
    at = NOW
    for at in (NOW + minutes(n) for n in (0.5, 1.5, 3, 10, 12)):
        there = [each for each in gone if each.opened_ms <= at]
        for start in range(0, 500, 250):
            keys = range(start + 1, start + 251)
            bench.look(at, *(each for each in there if each.key in keys), keys=keys)
    assert [event for event, _ in bench.messages] == ["fire"]
    assert bench.bodies[0]["group"]["name"] == "Gateway East"
    over = [ended(each, at) for each in gone]
    bench.look(at + minutes(1), *over[:400], keys=range(1, 401))
    bench.look(at + minutes(2), *over, keys=range(401, 501))
    assert [event for event, _ in bench.messages] == ["fire", "resolve"]


def test_few_silent_devices_of_a_large_group_have_separate_messages() -> None:
    bench = AlertBench([a_rule(kinds=["silent"])], devices=50)
    gone = [a_finding(key, kind="silent") for key in (1, 2, 3)]
    assert bench.look(NOW, *gone) == []  # it waits a minute for others
    assert bench.look(NOW + MINUTE_MS, *gone) == ["fire"] * 3


@cases(
    ("silent", "size", "messages"), [(3, 14, 1), (3, 15, 3), (2, 4, 2), (19, 100, 19), (20, 100, 1)]
)
def test_more_than_a_fifth_of_a_group_is_one_message(silent: int, size: int, messages: int) -> None:
    """Or 20 devices at once, whatever their group."""
    group = {"East": frozenset(range(1, size + 1))}
    bench = AlertBench([a_rule(kinds=["silent"])], devices=1_000, groups=group)
    gone = [a_finding(key, kind="silent", lasted=minutes(15)) for key in range(1, silent + 1)]
    bench.look(NOW, *gone, keys=range(1, size + 1))
    bench.look(NOW + MINUTE_MS, *gone, keys=range(1, size + 1))
    assert [event for event, _ in bench.messages] == ["fire"] * messages


def test_a_disabled_rule_resolves_its_sent_alerts() -> None:
    bench = AlertBench([a_rule()])
    bench.look(NOW, LEAK)
    bench.rules = []
    assert bench.look(NOW + 1, LEAK) == ["resolve"]
    assert bench.bodies[-1]["note"] == "The rule was switched off."


def test_a_retracted_finding_resolves_its_alert() -> None:
    bench = AlertBench([a_rule()])
    bench.look(NOW, LEAK)
    assert bench.look(NOW + 1) == ["resolve"]
    assert bench.bodies[-1]["note"] == "Its cause was withdrawn."


def test_a_dismissed_finding_resolves_its_alert() -> None:
    bench = AlertBench([a_rule()])
    bench.look(NOW, LEAK)
    assert bench.look(NOW + 1, replace(LEAK, dismissed_ms=NOW)) == ["resolve"]


def test_without_a_receiver_an_alert_is_listed_and_not_sent() -> None:
    bench = AlertBench([a_rule(receivers=[])])
    assert bench.look(NOW, LEAK) == []
    assert bench.look(NOW + HOUR_MS, ended(LEAK, NOW + HOUR_MS)) == []
    assert [(each.state, each.not_sent) for each in bench.alerts] == [("resolved", "no receiver")]
