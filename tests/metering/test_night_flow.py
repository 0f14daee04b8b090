"""Night flow: the lowest mean of 60 minutes, from volumes or from rates."""

from __future__ import annotations

from random import Random

import pytest

from api.metering.night_flow import lowest_mean, lowest_mean_rate
from api.metering.windows import Window
from api.timez import HOUR_MS, MINUTE_MS

NIGHT = Window(2 * HOUR_MS, 5 * HOUR_MS)
MINUTES = range(NIGHT.from_ms, NIGHT.to_ms, MINUTE_MS)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lost", [0, 20])
def test_volumes_and_rates_of_minutes_give_one_night_flow(seed: int, lost: int) -> None:
    dice = Random(seed)
    there = sorted(set(MINUTES) - set(dice.sample(MINUTES, lost)))
    rates = [(start, dice.uniform(0.1, 2)) for start in there]
    of_rates = lowest_mean_rate(rates, NIGHT, MINUTE_MS)
    assert of_rates == pytest.approx(lowest_mean(dict(rates), NIGHT, MINUTE_MS, MINUTE_MS))


@pytest.mark.parametrize(("minutes", "is_known"), [(48, True), (47, False)])
def test_an_hour_needs_eight_tenths_of_its_rates(minutes: int, is_known: bool) -> None:
    rates = [(NIGHT.from_ms + n * MINUTE_MS, 1.0) for n in range(minutes)]
    night = Window(NIGHT.from_ms, NIGHT.from_ms + HOUR_MS)
    assert (lowest_mean_rate(rates, night, MINUTE_MS) is not None) == is_known
