"""Fifty dashboards at once: ``python -m benchmarks.dashboards``.

Runs a production server on loopback with two worker processes and a store that keeps filling. Fifty
people, each with a key, look at a wall of fifty devices and at four charts; all of it is requested
again every 15 seconds. It is run three times: with the interface's requests, with those of the
dashboard's pages, and with everything else that these pages request. Bounded in number and time;
processes are ended by their ids.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benchmarks.fleet import Fleet
from benchmarks.site.crowd import HANDS, Crowd, Figures, Habit, figures, live
from benchmarks.site.people import as_pages, by_interface, refreshing
from benchmarks.site.served import Served, served
from benchmarks.telling import may_leave_files, of_a_site, tell

GOAL_P95_MS = 100.0
MOST_PEOPLE = 200
MOST_SECONDS = 300
ARRIVALS_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Part:
    """The result of one part of the run. ``judged``: the goal applies to its requests."""

    name: str
    seconds: float
    figures: list[Figures]
    judged: bool = True
    processor_s: float = 0.0  # processor seconds of the server's processes

    @property
    def met(self) -> bool | None:
        last = self.figures[-1]
        return (last.p95_ms < GOAL_P95_MS and not last.faults) if self.judged else None


def interface(site: Served, seconds: float) -> Iterator[Part]:
    with ExitStack() as opened:
        crowd = Crowd()
        habits = list(by_interface(site, crowd, opened))
        yield _lived("by the interface", habits, crowd, seconds, site)


def pages(site: Served, seconds: float, *, whole: bool = False) -> Iterator[Part]:
    with ExitStack() as opened:
        hands = opened.enter_context(ThreadPoolExecutor(HANDS))
        crowd = Crowd()
        desks = as_pages(site, crowd, hands, opened)
        used_s, start = site.processor_s(), time.perf_counter()
        with ThreadPoolExecutor(ARRIVALS_AT_ONCE) as door:
            if not all(door.map(lambda user: user.arrive(whole=whole), desks)):
                raise RuntimeError("a page didn't come")
        took = time.perf_counter() - start
        name = f"everybody arrives, {ARRIVALS_AT_ONCE} at a time"
        arrived = list(figures(crowd.samples, took))
        yield Part(name, took, arrived, judged=False, processor_s=site.processor_s() - used_s)
        crowd.samples.clear()
        name = "all that five pages ask" if whole else "as the pages ask"
        yield _lived(name, list(refreshing(desks, whole=whole)), crowd, seconds, site)


def _lived(name: str, habits: list[Habit], crowd: Crowd, seconds: float, site: Served) -> Part:
    used_s = site.processor_s()
    live(habits, seconds, seed=2026)
    used_s = site.processor_s() - used_s
    return Part(name, seconds, list(figures(crowd.samples, seconds)), processor_s=used_s)


PARTS: dict[str, Callable[[Served, float], Iterator[Part]]] = {
    "interface": interface,
    "pages": pages,
    "whole pages": partial(pages, whole=True),
}


# --- Report --------------------------------------------------------------------------------------

_HEAD = (
    "| asked | answers | a second | p50 ms | p95 | p99 | slowest | errors | goal |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---|",
)


def as_markdown(details: dict[str, str], parts: Iterable[Part]) -> str:
    lines = [f"- {name}: {value}" for name, value in details.items()]
    for part in parts:
        each_ms = 1000 * part.processor_s / (part.figures[-1].answers or 1)
        used = f"{part.processor_s:.1f} s of the server's processor, {each_ms:.1f} ms an answer"
        lines += ["", f"**{part.name}**, {part.seconds:.0f} s: {used}", "", *_HEAD]
        lines += [_line(each, part) for each in part.figures]
    return "\n".join(lines) + "\n"


def _line(each: Figures, part: Part) -> str:
    faults = ", ".join(f"{count} × {what}" for what, count in each.faults.items()) or "0"
    verdict = {None: "–", True: "met", False: "**missed**"}[part.met]
    cells = (
        each.kind,
        f"{each.answers:,}",
        f"{each.per_s:.1f}",
        f"{each.p50_ms:.1f}",
        f"{each.p95_ms:.1f}",
        f"{each.p99_ms:.1f}",
        f"{each.slowest_ms:.0f}",
        faults,
        verdict if each is part.figures[-1] else "",
    )
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    fleet = Fleet(options.devices, options.days)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="weir-dashboards-") as scratch:
        folder = Path(scratch)
        with served(fleet, folder, keys=options.people, workers=options.workers) as site:
            parts: list[Part] = []
            for name in options.part or PARTS:
                for part in PARTS[name](site, options.seconds):
                    parts.append(part)
                    print(as_markdown({}, [part]), file=sys.stderr, flush=True)
    setup = {
        "fleet": f"{options.devices} devices × {options.days} days, and as they come in",
        "people": f"{options.people}, {options.workers} worker processes",
    }
    details = of_a_site("benchmarks.dashboards", arguments, before, setup)
    rows = [asdict(part) | {"met": part.met} for part in parts]
    tell(options, as_markdown(details, parts), {"conditions": details, "parts": rows})
    return 0


def _bounded(least: int, most: int, text: str) -> int:
    number = int(text)
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"from {least} to {most}")
    return number


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dashboards", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; repeatable")
    parser.add_argument("--people", type=partial(_bounded, 1, MOST_PEOPLE), default=50)
    parser.add_argument("--seconds", type=partial(_bounded, 1, MOST_SECONDS), default=40)
    parser.add_argument("--devices", type=partial(_bounded, 50, 10_000), default=50)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--workers", type=int, default=2)
    may_leave_files(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
