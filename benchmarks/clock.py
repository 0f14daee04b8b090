"""Races: the floor, Weir's way and other ways, interleaved in one run and compared as ratios.

Milliseconds measured on two days, or beside another program, say little. Ratios of contenders that
took turns under the same conditions hold. The floor takes part twice, so each race shows how much
of a ratio is noise. No two contenders share a connection, so that none finds pages that another one
read.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.goals import Goal

Run = Callable[[Any], float]
"""Handles one argument. Returns the seconds that took, measured where the work was done."""

QUIET = (0.95, 1.05)
WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Runner:
    """One way to respond. Alternatives that are only there for comparison have no goals. ``events``
    is the number of things in one argument, for those measured per second."""

    name: str
    run: Run
    goals: tuple[Goal, ...] = ()
    events: int = 0


@dataclass(frozen=True, slots=True)
class Race:
    """One query, its arguments, the fastest conceivable way (twice, over two connections), and the
    ways compared with it."""

    question: str
    arguments: Sequence[Any]
    floors: tuple[Run, Run]
    runners: tuple[Runner, ...]
    warm_up: int = WARM_UP


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one runner. Ratios are runner ÷ floor, of the medians and of the 99th
    percentiles. ``floor_again`` is the floor's second run ÷ its first, of the medians."""

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
        """Returns whether every goal is met; None without goals."""
        if not self.goals:
            return None
        figures = {"": self.ratio_p50, "/s": self.per_second or 0.0, " µs": self.ours_ms * 1000}
        return all(goal.met(figures[goal.unit]) for goal in self.goals)


def run_race(suite: str, dialect: str, race: Race) -> list[Outcome]:
    """Runs every contender with every argument, in a random order for each argument."""
    contenders = [*race.floors, *(runner.run for runner in race.runners)]
    order, lanes = random.Random(race.question), list(range(len(contenders)))
    for argument in race.arguments[: race.warm_up]:
        for run in contenders:
            run(argument)
    gc.collect()
    gc.freeze()  # objects from before the race mustn't add to the cost of its garbage collections
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
    """Interpolates linearly between neighbours: `quantile([1, 2, 3], 0.5) == 2`."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)
