"""A device's cadence: how often it reports."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from api.metering.cadence import LEAST_MS, Cadence, configured, estimated, steady
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS
from tests.tables import cases


def times(*steps_s: float) -> list[int]:
    return list(accumulate((round(step * 1000) for step in steps_s), initial=1_700_000_000_000))


@cases(
    ("step_s", "cadence_s"),
    [
        (1, 10),  # never less than 10 s
        (10, 10),
        (11.9, 10),
        (12.1, 12.1),  # more than a fifth from every usual one
        (29, 30),
        (50, 60),
        (60.4, 60),
        (71.9, 60),
        (100, 100),
        (290, 300),
        (870, 900),
        (1_795, 1_800),
        (3_601, 3_600),
        (7_200, 7_200),
        (21_000, 21_600),
        (86_000, 86_400),
        (172_800, 172_800),
    ],
)
def test_the_median_step_gives_the_usual_cadence_near_it(step_s: float, cadence_s: float) -> None:
    assert estimated(times(*[step_s] * 40)) == Cadence(round(cadence_s * 1000))


def test_fewer_than_two_instants_give_no_cadence() -> None:
    assert estimated([]) is None
    assert estimated([5]) is None
    assert estimated([5, 5]) is None  # two readings of one instant have no step


def test_a_gap_changes_nothing() -> None:
    at = times(*[60] * 95)
    assert estimated([*at, at[-1] + DAY_MS]) == Cadence(MINUTE_MS)


def test_an_event_driven_meter_has_one_cadence_and_is_marked() -> None:
    """Bursts one minute apart, with pauses of a quarter of an hour or more between them."""
    dice = random.Random(4)
    steps = [60.0 if dice.random() < 0.7 else dice.uniform(900, 2700) for _ in range(600)]
    result = estimated(times(*steps))
    assert result == Cadence(MINUTE_MS, event_driven=True)
    assert result.expected_ms == HOUR_MS


def test_few_steps_do_not_make_a_meter_event_driven() -> None:
    assert estimated(times(60, 60, 3_600)) == Cadence(MINUTE_MS)


def test_a_configured_cadence_counts_from_ten_seconds() -> None:
    assert configured(900) == Cadence(15 * MINUTE_MS)
    assert configured(1) == Cadence(LEAST_MS)
    assert configured(None) is None
    assert configured(0) is None


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=80).map(sorted))
def test_it_is_never_less_than_ten_seconds_and_near_the_median(at: list[int]) -> None:
    result = estimated(at)
    steps = sorted(b - a for a, b in pairwise(at) if b > a)
    if not steps:
        assert result is None
        return
    middle = (steps[(len(steps) - 1) // 2] + steps[len(steps) // 2]) / 2
    assert result is not None
    assert result.ms >= LEAST_MS
    assert result.ms == LEAST_MS or abs(result.ms - middle) <= 0.2 * result.ms + 1


@cases(
    ("minutes", "usual_minutes"),
    [(1, 1), (5, 5), (5.4, 5), (7, 10), (20, 20), (65, 60), (90, 120), (120, 120), (300, 360),
     (1440, 1440), (2880, 2880)],
)  # fmt: skip
def test_a_steady_cadence_is_rounded_up(minutes: float, usual_minutes: float) -> None:
    assert steady(Cadence(round(minutes * MINUTE_MS))).ms == usual_minutes * MINUTE_MS
