"""Races: the floor, Weir's way and the other ways, interleaved in one run, compared as ratios.

Milliseconds measured on two days, or beside another program, say little; ratios of contenders
that took turns under the same conditions hold. The floor takes part twice, so each race shows how
much of a ratio is noise. No two contenders share a connection: none finds pages that another read.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.goals import Goal

Run = Callable[[Any], float]
"""Answers one argument and returns the seconds that took, measured where the work was done."""

QUIET = (0.95, 1.05)
WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Runner:
    """One way to answer. Alternatives that are only there to compare with carry no goals.
    ``events`` is how many things one argument holds, for those measured in things a second."""

    name: str
    run: Run
    goals: tuple[Goal, ...] = ()
    events: int = 0


@dataclass(frozen=True, slots=True)
class Race:
    """One question, its arguments, the cheapest conceivable answer (twice, by two connections) and
    those compared with it."""

    question: str
    arguments: Sequence[Any]
    floors: tuple[Run, Run]
    runners: tuple[Runner, ...]
    warm_up: int = WARM_UP


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one runner reached. Ratios are runner ÷ floor, of the medians and of the 99th
    percentiles; ``floor_again`` is the floor's second run ÷ its first, of the medians."""

    suite: str
    dialect: str
    question: str
    runner: str
    goals: tuple[Goal, ...]
    ratio_p50: float
    ratio_p99: float
    ours_ms: float
    floor_ms: float
    floor_again: float
    per_second: float | None
    rounds: int

    @property
    def noisy(self) -> bool:
        return not QUIET[0] <= self.floor_again <= QUIET[1]

    @property
    def met(self) -> bool | None:
        """Whether every goal is met; None for what has none."""
        if not self.goals:
            return None
        figures = {"": self.ratio_p50, "/s": self.per_second or 0.0, " µs": self.ours_ms * 1000}
        return all(goal.met(figures[goal.unit]) for goal in self.goals)


def run_race(suite: str, dialect: str, race: Race) -> list[Outcome]:
    """Every contender answers every argument, in an order drawn anew for each."""
    contenders = [*race.floors, *(runner.run for runner in race.runners)]
    order, lanes = random.Random(race.question), list(range(len(contenders)))
    for argument in race.arguments[: race.warm_up]:
        for run in contenders:
            run(argument)
    gc.collect()
    gc.freeze()  # what was built before the race is no part of what a collection costs in it
    times: list[list[float]] = [[] for _ in contenders]
    for argument in race.arguments:
        order.shuffle(lanes)
        for lane in lanes:
            times[lane].append(contenders[lane](argument))
    gc.unfreeze()
    first, second, *ours = times
    return [
        _outcome(suite, dialect, race, runner, own, first, second)
        for runner, own in zip(race.runners, ours, strict=True)
    ]


def _outcome(
    suite: str,
    dialect: str,
    race: Race,
    runner: Runner,
    lane: list[float],
    first: list[float],
    second: list[float],
) -> Outcome:
    floor = first + second
    return Outcome(
        suite=suite,
        dialect=dialect,
        question=race.question,
        runner=runner.name,
        goals=runner.goals,
        ratio_p50=quantile(lane, 0.5) / quantile(floor, 0.5),
        ratio_p99=quantile(lane, 0.99) / quantile(floor, 0.99),
        ours_ms=quantile(lane, 0.5) * 1000,
        floor_ms=quantile(floor, 0.5) * 1000,
        floor_again=quantile(second, 0.5) / quantile(first, 0.5),
        per_second=runner.events * len(lane) / sum(lane) if runner.events else None,
        rounds=len(lane),
    )


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between neighbours: `quantile([1, 2, 3], 0.5) == 2`."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)
