"""`python -m benchmarks`: builds the fleet, checks that every response is exact, races, reports."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import ModuleType

import psycopg

from benchmarks.clock import Outcome, run_race
from benchmarks.fleet import Fleet
from benchmarks.ground import Ground, ground_at
from benchmarks.report import as_json, as_markdown, conditions
from benchmarks.stopwatch import cpu_seconds
from benchmarks.telling import may_leave_files, tell
from tests import servers

SUITES = (
    "adaptive",
    "latest",
    "calendar",
    "paging",
    "threads",
    "growth",
    "request",
    "ingest",
    "peers",
)
ONCE = {"request", "peers"}  # not compared between dialects
WAITING = {"threads", "ingest", "peers"}  # with other threads or the disk
OPTIONAL = {"peers": "duckdb"}  # with the package it needs
_SMALL_DEVICES = 2
_POSTGRES_DAYS = 3


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    fleet = Fleet(options.devices, options.days, options.seed)
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as scratch, ExitStack() as opened:
        grounds = [opened.enter_context(_sqlite(fleet, options.keep, Path(scratch)))]
        if options.postgres:
            few = Fleet(fleet.devices, min(options.postgres_days, fleet.days), fleet.seed)
            server = opened.enter_context(_server(options.postgres, Path(scratch)))
            grounds.append(opened.enter_context(_postgres(few, server, Path(scratch))))
        for each in grounds:
            for name in _chosen(options.suite, first=each is grounds[0]):
                outcomes += run_suite(name, each, options.rounds, cpu=options.cpu)
        fleets = {each.dialect: _size(each.fleet) for each in grounds}
    conditions_of_run = conditions("python -m benchmarks " + " ".join(arguments), fleets)
    tell(options, as_markdown(conditions_of_run, outcomes), as_json(conditions_of_run, outcomes))
    return 0


def _chosen(names: list[str] | None, *, first: bool) -> Iterator[str]:
    for name in names or SUITES:
        package = OPTIONAL.get(name)
        if package and not find_spec(package):
            print(f"{name}: left out, {package} is not installed", file=sys.stderr)
        elif first or name not in ONCE:
            yield name


def suite(name: str) -> ModuleType:
    return import_module(f"benchmarks.suites.{name}")


def run_suite(name: str, ground: Ground, rounds: int, *, cpu: bool = False) -> list[Outcome]:
    """Checks exactness first: a wrong result ends the run, however fast it was. ``cpu`` counts the
    processor's seconds where only one thread works."""
    start = time.monotonic()
    alone = ground.dialect == "sqlite" and name not in WAITING
    with cpu_seconds(cpu and alone), ground.new_ground() as on:
        suite(name).check(on)
        races = suite(name).races(on, rounds)
        outcomes = [outcome for race in races for outcome in run_race(name, on.dialect, race)]
    print(f"{on.dialect} {name}: {time.monotonic() - start:.1f} s", file=sys.stderr)
    return outcomes


def _size(fleet: Fleet) -> str:
    return f"{fleet.devices} devices × {fleet.days} days, seed {fleet.seed}"


# --- Grounds -------------------------------------------------------------------------------------


@contextmanager
def _sqlite(fleet: Fleet, keep: Path | None, scratch: Path) -> Iterator[Ground]:
    folder = keep or scratch
    folder.mkdir(parents=True, exist_ok=True)
    numbers = count(1)

    def fresh() -> str:
        return f"sqlite:///{scratch / f'fresh-{next(numbers)}.sqlite'}"

    few = Fleet(min(_SMALL_DEVICES, fleet.devices), fleet.days, fleet.seed)
    start = time.monotonic()
    with (
        ground_at(f"sqlite:///{folder / 'small.sqlite'}", few, fresh, scratch) as small,
        ground_at(
            f"sqlite:///{folder / 'fleet.sqlite'}", fleet, fresh, scratch, small=small
        ) as whole,
    ):
        print(f"sqlite ready after {time.monotonic() - start:.1f} s", file=sys.stderr)
        yield whole


@contextmanager
def _server(wanted: str, scratch: Path) -> Iterator[str]:
    """Yields the URL of a server in which databases may be created; ``auto`` starts one."""
    if wanted != "auto":
        yield wanted.rstrip("/")
        return
    with servers.postgres(scratch / "postgres") as url:
        yield url


@contextmanager
def _postgres(fleet: Fleet, server: str, scratch: Path) -> Iterator[Ground]:
    made: list[str] = []

    def fresh() -> str:
        name = f"weir_bench_{time.time_ns()}"
        _command(server, f"CREATE DATABASE {name}")
        made.append(name)
        return f"{server}/{name}"

    try:
        start = time.monotonic()
        with ground_at(fresh(), fleet, fresh, scratch) as whole:
            print(f"postgres ready after {time.monotonic() - start:.1f} s", file=sys.stderr)
            yield whole
    finally:
        for name in made:
            _command(server, f"DROP DATABASE {name} WITH (FORCE)")


def _command(server: str, sql: str) -> None:
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(sql.encode())


# --- Options -------------------------------------------------------------------------------------


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--suite", action="append", choices=SUITES, help="only this; repeatable")
    parser.add_argument("--devices", type=int, default=50)
    parser.add_argument("--days", type=int, default=21)
    parser.add_argument("--full", action="store_const", const=365, dest="days", help="one year")
    parser.add_argument("--rounds", type=int, default=60, help="random arguments a question")
    parser.add_argument(
        "--cpu", action="store_true", help="the processor's seconds: for a machine in use"
    )
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--postgres", metavar="URL|auto", help="also on this server")
    parser.add_argument("--postgres-days", type=int, default=_POSTGRES_DAYS)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the store, or use it again")
    may_leave_files(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
