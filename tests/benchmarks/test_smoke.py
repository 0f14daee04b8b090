"""The benchmarks at their smallest: every exactness check passes, every race ends in a report.

No figure is judged here: the machine is shared and the fleet tiny.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

from benchmarks.__main__ import ONCE, OPTIONAL, SUITES, run_suite, suite
from benchmarks.clock import Outcome, Race, Runner, quantile, run_race
from benchmarks.fleet import Fleet
from benchmarks.goals import Goal
from benchmarks.ground import Ground, Wrong, ground_at
from benchmarks.report import as_json, as_markdown

FEW, FEWER = Fleet(devices=3, days=1), Fleet(devices=2, days=1)


@pytest.fixture(scope="module")
def sqlite_ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder, numbers = tmp_path_factory.mktemp("bench"), count()

    def fresh() -> str:
        return f"sqlite:///{folder / f'{next(numbers)}.sqlite'}"

    with (
        ground_at(fresh(), FEWER, fresh, folder) as small,
        ground_at(fresh(), FEW, fresh, folder, small=small) as ground,
    ):
        yield ground


@pytest.fixture(scope="module")
def postgres_ground(
    postgres_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ground]:
    made: list[str] = []

    def fresh() -> str:
        made.append(f"weir_smoke_{len(made)}")
        with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {made[-1]}".encode())
        return f"{postgres_server}/{made[-1]}"

    with ground_at(fresh(), FEW, fresh, tmp_path_factory.mktemp("bench")) as ground:
        yield ground


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_checks_exactness_and_reports(name: str, sqlite_ground: Ground) -> None:
    if name in OPTIONAL and not find_spec(OPTIONAL[name]):
        pytest.skip(f"{OPTIONAL[name]} is no requirement of Weir and not installed")
    outcomes = run_suite(name, sqlite_ground, rounds=1)
    assert outcomes
    assert all(outcome.ours_ms > 0 and outcome.floor_ms > 0 for outcome in outcomes)
    report = as_markdown({"fleet": "a small one"}, outcomes)
    assert all(f"| {o.question}: {o.runner} |" in report for o in outcomes)


@pytest.mark.parametrize("name", [n for n in SUITES if n not in ONCE])
def test_postgres_passes_the_same_checks(name: str, postgres_ground: Ground) -> None:
    with postgres_ground.new_ground() as ground:
        suite(name).check(ground)


def test_a_wrong_result_ends_the_run(
    sqlite_ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(sqlite_ground.store), "count", lambda *_, **__: 0)
    with pytest.raises(Wrong):
        run_suite("paging", sqlite_ground, rounds=1)


def test_a_store_is_reused_but_never_for_another_fleet(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.sqlite'}"
    with ground_at(url, FEWER, str, tmp_path) as first:
        devices = first.devices
    with ground_at(url, FEWER, str, tmp_path) as again:
        assert again.devices == devices
    with pytest.raises(SystemExit, match="another fleet"), ground_at(url, FEW, str, tmp_path):
        pass


# --- Ratios --------------------------------------------------------------------------------------


def _outcome(ours_s: list[float], floors_s: tuple[float, float], *goals: Goal) -> Outcome:
    """A race with these times, in seconds."""
    times = iter(ours_s)
    first, second = floors_s
    race = Race(
        "said",
        list(range(len(ours_s))),
        (lambda _: first, lambda _: second),
        (Runner("ours", lambda _: next(times), goals, events=10),),
        warm_up=0,
    )
    [outcome] = run_race("suite", "sqlite", race)
    return outcome


def test_ratios_are_of_medians_and_of_the_slowest() -> None:
    outcome = _outcome([1.0, 2.0, 9.0], (1.0, 1.0))
    assert outcome.ratio_p50 == 2.0
    assert outcome.ratio_p99 == pytest.approx(8.86)
    assert outcome.per_second == pytest.approx(30 / 12)


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal(2.0), True),
        (Goal(1.9), False),
        (Goal(2, "/s"), True),
        (Goal(3, "/s"), False),
        (Goal(2_000_000, " µs"), True),
        (Goal(1_999_999, " µs"), False),
    ],
)
def test_a_goal_is_met_from_its_own_side(goal: Goal, met: bool) -> None:
    assert _outcome([1.0, 2.0, 9.0], (1.0, 1.0), goal).met is met


@pytest.mark.parametrize(("again", "noisy"), [(0.94, True), (0.96, False), (1.06, True)])
def test_a_floor_that_varies_is_reported_as_noise(again: float, noisy: bool) -> None:
    outcome = _outcome([1.0], (1.0, again), Goal(10))
    assert outcome.noisy is noisy
    assert ("NOISY" in as_markdown({}, [outcome])) is noisy
    assert (b'"quiet": false' in as_json({}, [outcome])) is noisy


def test_quantiles_lie_between_neighbours() -> None:
    assert [quantile([3.0, 1.0, 2.0], share) for share in (0, 0.25, 0.5, 1)] == [1.0, 1.5, 2.0, 3.0]
