"""Water that never stops: the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import HOUR_MS
from api.metering import continuous_flow as continuous
from api.metering.continuous_flow import Finding, Hour, Run
from api.metering.windows import Window
from tests.world import ms

NOON = ms("2026-11-20T12:00:00Z")


def hours(*gallons: float | None, end_ms: int = NOON) -> list[Hour]:
    """One after the other up to ``end_ms``; None is an hour that wasn't heard."""
    start = end_ms - len(gallons) * HOUR_MS
    heard = [(start + n * HOUR_MS, told) for n, told in enumerate(gallons)]
    return [Hour(at, told) for at, told in heard if told is not None]


@pytest.mark.parametrize(
    ("found", "lowest"),
    [
        (hours(*[2.0] * 24), 2.0),
        (hours(*[2.0] * 23), None),  # too short
        (hours(0.0, *[2.0] * 24), 2.0),
        (hours(*[2.0] * 23, 0.99), None),  # one hour below a gallon ends it
        (hours(*[2.0] * 23, 1.0), 1.0),  # a gallon is enough
        (hours(*[2.0] * 12, 0.0, *[2.0] * 23), None),
        (hours(*[1.5] * 30, *[3.0] * 24), 3.0),  # of the last 24 hours, not of all
        (hours(*[2.0] * 12, *[None] * 6, *[2.0] * 12), 2.0),  # a hole ends nothing
        (hours(*[2.0] * 12, *[None] * 7, *[2.0] * 12), None),  # nor does it tell anything
        (hours(*[2.0] * 24, -5.0), None),  # a counter was set back
        ([], None),
    ],
)
def test_a_day_of_hours_with_a_gallon_each(found: list[Hour], lowest: float | None) -> None:
    run = continuous.find(found).run
    assert (run.lowest if run else None) == lowest


@pytest.mark.parametrize(
    ("found", "paused_ms"),
    [
        (hours(5.0, 0.0, 5.0, 5.0), NOON - 2 * HOUR_MS),
        (hours(5.0, 5.0, 5.0, 0.0), NOON),
        (hours(*[5.0] * 23), None),  # nothing is known of a pause
        (hours(0.0, *[None] * 40, 5.0), None),  # nor of what was meanwhile
    ],
)
def test_when_it_paused_last(found: list[Hour], paused_ms: int | None) -> None:
    assert continuous.find(found) == Finding(None, paused_ms)


def test_a_building_where_somebody_is_always_awake_has_a_limit_of_its_own() -> None:
    found = hours(*[3.0] * 40, *[54.0] * 25)
    assert continuous.find(found, 15).run == Run(
        Window(NOON - 25 * HOUR_MS, NOON - 1), 54.0, 54.0 * 25
    )
    assert continuous.find(found[:-25], 15) == Finding(None, NOON - 25 * HOUR_MS)


def test_the_run_reaches_back_to_the_pause_before_it() -> None:
    found = continuous.find(hours(0.0, *[4.0] * 100)).run
    assert found == Run(Window(NOON - 100 * HOUR_MS, NOON - 1), 4.0, 400.0)


def test_what_never_paused_while_one_looked_may_be_older() -> None:
    run = continuous.find(hours(*[4.0] * 31 * 24)).run
    assert run
    assert run.longer
    young = continuous.find(hours(*[4.0] * 10 * 24)).run
    assert young
    assert not young.longer


@given(st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0, 2.5])), max_size=90))
def test_a_run_is_what_a_plain_walk_back_finds(told: list[float | None]) -> None:
    heard: list[tuple[int, float]] = []
    for n, gallons in enumerate(reversed(told)):  # n hours back
        if gallons is not None and gallons < 1:
            break
        if gallons is not None:
            heard.append((n, gallons))
    whole = len(heard) >= 24 and heard[23][0] - heard[0][0] + 1 <= 30
    run = continuous.find(hours(*told)).run
    if not whole:
        assert run is None
        return
    assert run is not None
    assert run.lowest == min(gallons for _, gallons in heard[:24])
    assert run.gallons == pytest.approx(sum(gallons for _, gallons in heard))
    assert run.window.from_ms == NOON - (heard[-1][0] + 1) * HOUR_MS
