"""The finest resolution that fits the budget, against a plain walk over the interface's rule."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from api import timez
from tests import truth
from tests.contract.test_datapoints import STAMP
from tests.tables import cases
from tests.world import LONE, METER, QUIET, TWIN, World, ms

LADDER = ("1hour", "10min", "5min", "1min", "raw")  # the interface's order


def rows_at(world: World, id: str, resolution: str, from_ms: int, to_ms: int) -> list[truth.Row]:
    readings, inside = world.readings.get(id, []), truth.bounds(from_ms, to_ms)
    return (
        truth.raw(readings, inside)
        if resolution == "raw"
        else truth.buckets(readings, resolution, inside)
    )


def plain_rule(world: World, id: str, from_ms: int, to_ms: int, budget: int) -> dict[str, Any]:
    """The rule as specified, without any shortcut."""
    chosen, truncated = LADDER[0], False
    for resolution in LADDER:
        if len(rows_at(world, id, resolution, from_ms, to_ms)) > budget:
            truncated = resolution == LADDER[0]
            break
        chosen = resolution
    rows = rows_at(world, id, chosen, from_ms, to_ms)
    return {
        "resolution": chosen,
        "count": len(rows),
        "truncated": truncated,
        "data": truth.shown(rows[:budget], STAMP[chosen]),
    }


def ask(world: World, id: str, from_ms: int, to_ms: int, budget: int | None, **more: str) -> Any:
    query = {"from": timez.stamp(from_ms, fraction=True), "to": timez.stamp(to_ms, fraction=True)}
    if budget is not None:
        query["maxDatapoints"] = str(budget)
    return world.json(f"/flow/adaptive/{id}", query | more)


def assert_rule(reply: Any, owed: dict[str, Any]) -> None:
    truth.assert_same(reply["data"], owed.pop("data"))
    assert {name: reply[name] for name in owed} == owed


DAY = ms("2026-03-08T00:00Z")
HOUR = 3_600_000


@cases("id", [METER, TWIN, LONE, QUIET])
@cases(
    ("from_ms", "to_ms"),
    [
        (DAY, DAY),
        (DAY + 7 * HOUR, DAY + 7 * HOUR + 59_999),
        (DAY + 7 * HOUR, DAY + 8 * HOUR - 1),
        (DAY + 1_234_567, DAY + 9 * HOUR + 7_654_321),
        (DAY, DAY + 24 * HOUR - 1),
        (DAY - 40 * 24 * HOUR, DAY + 300 * 24 * HOUR),
        (DAY - 300 * 24 * HOUR, DAY - 200 * 24 * HOUR),
    ],
)
@cases("budget", [1, 2, 11, 60, 143, 144, 145, 1000, 10_000])
def test_the_reply_follows_the_rule(
    world: World, id: str, from_ms: int, to_ms: int, budget: int
) -> None:
    reply = ask(world, id, from_ms, to_ms, budget)
    assert_rule(reply, plain_rule(world, id, from_ms, to_ms, budget))


@settings(deadline=None)
@given(data=st.data())
def test_the_budget_is_exceeded_only_by_a_truncated_reply(
    world: World, data: st.DataObject
) -> None:
    id = data.draw(st.sampled_from([METER, TWIN, LONE, QUIET]))
    start = data.draw(st.integers(DAY - 72 * HOUR, DAY + 72 * HOUR))
    end = start + data.draw(st.integers(0, 96 * HOUR))
    budget = data.draw(st.integers(1, 3000))
    reply = ask(world, id, start, end, budget)
    assert len(reply["data"]) <= budget
    assert reply["truncated"] or reply["count"] == len(reply["data"])
    assert not reply["truncated"] or (reply["count"] > budget and reply["resolution"] == "1hour")
    owed = plain_rule(world, id, start, end, budget)
    assert (reply["resolution"], reply["count"]) == (owed["resolution"], owed["count"])


def test_the_budget_defaults_to_a_thousand(world: World) -> None:
    ends = (DAY - 40 * 24 * HOUR, DAY + 300 * 24 * HOUR)
    assert ask(world, LONE, *ends, None) == ask(world, LONE, *ends, 1000)


@cases("budget", [1, 5, 5000])
def test_timestamps_are_local_in_the_zone(world: World, budget: int) -> None:
    zone = timez.zone("Asia/Kolkata")
    ends = (DAY + 6 * HOUR, DAY + 9 * HOUR)
    reply = ask(world, TWIN, *ends, budget, timezone=zone.key)
    rows = rows_at(world, TWIN, reply["resolution"], *ends)
    truth.assert_same(reply["data"], truth.shown(rows[:budget], STAMP[reply["resolution"]], zone))
    assert reply["timezone"] == "Asia/Kolkata"


def test_the_reply_has_every_field(world: World) -> None:
    reply = ask(world, QUIET, DAY, DAY + HOUR, 10)
    assert reply == {
        "resolution": "raw", "count": 0, "truncated": False, "timezone": None, "data": []
    }  # fmt: skip
