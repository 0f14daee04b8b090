"""Compares the wall and the zoom with plain alternatives, in a real browser: ``python -m
benchmarks.beside --resampler PYTHON``.

The wall is compared with fifty `dcc.Graph`. The chart's zoom is compared with a page of
plotly-resampler, where a Python with that package is given, and with one that sends all readings of
the range. Every page has the same readings and is timed in the same way: from a response, or from
the release of the pointer, to the frame after the last change of the picture.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from benchmarks.fleet import END_MS, Fleet
from benchmarks.loads import sign_in
from benchmarks.site.alternatives import alternative, watching
from benchmarks.site.eye import Eye, browser_version
from benchmarks.site.served import served
from benchmarks.telling import of_a_site, tell
from benchmarks.zoom import WANTED, Zooms, compares, ours, plain
from tests.servers import free_port

WALL: Final = "#fleet-wall"
GRAPHS: Final = "#graphs"
BUCKET_MS: Final = 300_000
BUCKETS: Final = 288  # one day of readings
LARGE: Final = 4_000  # characters: a response with the wall's data is at least this long


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in ms. ``less`` is what a page waits on purpose; it is subtracted."""

    what: str
    page: str
    times: list[float]
    characters: int
    less: float = 0.0


# --- The wall ------------------------------------------------------------------------------------


def wall_timings(
    eye: Eye, page: str, path: str, times: int, refresh_script: str
) -> Iterator[Timing]:
    """``refresh_script`` makes the page refresh its wall; its argument is a number."""
    first, opened = list[float](), list[float]()
    characters = 0
    for _ in range(3):
        eye.open(path)
        done, data, characters = _drawn(eye, 0.0)
        first.append(done - data)
        opened.append(done)
    yield Timing("first paint of 50, from the data", page, first, characters)
    yield Timing("first paint of 50, from the address", page, opened, characters)
    again = list[float]()
    for number in range(1, times + 1):
        since = eye.history().now
        eye.tab.run(refresh_script, number)
        done, data, characters = _drawn(eye, since)
        again.append(done - data)
    yield Timing("refresh of 50, from the data", page, again, characters)


def _drawn(eye: Eye, since: float) -> tuple[float, float, int]:
    """Returns when it was painted, when its data had arrived, and the number of characters of
    that."""

    def drawn() -> tuple[float, float, int] | None:
        """Looks up to the next response of that kind: a wall may request more at once."""
        history = eye.history()
        large = [(at, size) for at, size in history.answers if at > since and size > LARGE]
        if not large or history.drawn_after(large[0][0]) is None:
            return None
        ends = [*(at for at, _ in large[1:]), history.now]
        for (data, size), end in zip(large, ends, strict=True):
            painted = [at for began, at in history.paints if data < began < end]
            if painted:
                return max(painted), data, size
        return None

    return eye.tab.until(drawn, patience_s=30)


_OURS: Final = """
const asked = {window: "24h", held: [], request_id: arguments[0]};
window.dash_clientside.set_props("fleet-question", {data: asked});
"""
_OTHER_WINDOW: Final = _OURS.replace('"24h"', 'arguments[0] % 2 ? "7d" : "24h"')
_THEIRS: Final = "window.dash_clientside.set_props('asked', {data: arguments[0]});"


# --- The pages -----------------------------------------------------------------------------------


def zoom_timing(each: Zooms) -> Timing:
    characters = int(median(each.characters))
    return Timing("zoom, from the pointer let go", each.page, each.took, characters, each.less)


def write_lines(fleet: Fleet, path: Path) -> None:
    """Writes each device's mean flow by five minutes of the last day."""
    times = END_MS + BUCKET_MS * np.arange(-BUCKETS, 0)
    day = Fleet(fleet.devices, 1, fleet.seed)
    np.savez(path, times=times, flows=[_means(day, index) for index in range(fleet.devices)])


def _means(day: Fleet, index: int) -> Any:
    rows = day.readings(index, 0)
    buckets = np.array([row[1] for row in rows]) // BUCKET_MS - END_MS // BUCKET_MS + BUCKETS
    counts = np.bincount(buckets, minlength=BUCKETS)
    sums = np.bincount(buckets, weights=[row[2] or 0.0 for row in rows], minlength=BUCKETS)
    return np.round(sums / np.maximum(counts, 1), 3)


def timings(fleet: Fleet, folder: Path, resampler: str, times: int) -> Iterator[Timing]:
    with served(fleet, folder, keys=1) as site:
        with watching(WALL, WANTED) as driver:
            eye = Eye(driver, site.url)
            sign_in(eye, site.keys[0])
            yield from wall_timings(eye, "Weir", "/", times, _OURS)
            *_, last = wall_timings(eye, "Weir", "/", times, _OTHER_WINDOW)
            yield Timing("another window, from the data", "Weir", last.times, last.characters)
        yield from map(zoom_timing, ours(site, times, ("7d",)))
    lines, port = folder / "lines.npz", free_port()
    write_lines(fleet, lines)
    command = [sys.executable, "-m", "benchmarks.site.plain_wall", str(lines), str(port)]
    with alternative(command, port) as url, watching(GRAPHS, WANTED) as driver:
        yield from wall_timings(Eye(driver, url), "50 × dcc.Graph", "/", times, _THEIRS)
    yield from map(zoom_timing, plain(fleet, folder, resampler, times))


# --- Report --------------------------------------------------------------------------------------

_HEAD = (
    "| what | page | median ms | slowest | without the wait | characters |",
    "|---|---|---:|---:|---:|---:|",
)


def as_markdown(details: dict[str, str], results: list[Timing]) -> str:
    lines = [*(f"- {name}: {value}" for name, value in details.items()), "", *_HEAD]
    for each in sorted(results, key=lambda timing: timing.what):
        middle = median(each.times)
        cells = (
            each.what,
            each.page,
            f"{middle:,.0f}",
            f"{max(each.times):,.0f}",
            f"{middle - each.less:,.0f}",
            f"{each.characters:,}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    options = compares("beside", __doc__).parse_args(arguments)
    fleet = Fleet(50, options.days)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="weir-beside-") as scratch:
        results = list(timings(fleet, Path(scratch), options.resampler, options.times))
    setup = {"fleet": f"50 devices × {options.days} days", "browser": browser_version()}
    details = of_a_site("benchmarks.beside", arguments, before, setup)
    rows = [asdict(each) for each in results]
    tell(options, as_markdown(details, results), {"conditions": details, "timings": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
