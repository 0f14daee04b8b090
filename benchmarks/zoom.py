"""A chart's zoom in a real browser, stage by stage: from the pointer that is let go to the frame
after the last change of the picture, beside plain pages. ``python -m benchmarks.zoom``.

plotly-resampler is one of them where a Python that has it is named.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from benchmarks.fleet import Fleet
from benchmarks.loads import sign_in
from benchmarks.site.alternatives import alternative, watching
from benchmarks.site.eye import QUIET_MS, Eye, browser_version
from benchmarks.site.served import ROOT, Served, served
from benchmarks.telling import may_leave_files, of_a_site, tell
from tests.servers import free_port

LINE: Final = "line"  # the chart's, once it is there
CHART: Final = ".js-plotly-plot .main-svg"
WANTED: Final = {"fleet": "#fleet-wall > li", LINE: ".js-plotly-plot .scatterlayer .js-line"}
CHART_DEVICE: Final = 7  # reports every ten seconds
POINTS: Final = 2_000  # points of plotly-resampler: as many as a wide chart of Weir's
DEBOUNCE_MS: Final = 120.0  # of our chart
ZOOM: Final = (0.1, 0.9)  # each keeps four fifths


@dataclass(slots=True)
class Zooms:
    """Times in ms, one per zoom: in total, then its stages; how many callbacks were requested until
    then and in total. ``less`` is what a page waits on purpose; ``characters`` is the length of the
    response."""

    page: str
    less: float = 0.0
    took: list[float] = field(default_factory=list[float])
    until_asked: list[float] = field(default_factory=list[float])
    until_answered: list[float] = field(default_factory=list[float])
    until_painted: list[float] = field(default_factory=list[float])
    characters: list[int] = field(default_factory=list[int])
    requests: list[int] = field(default_factory=list[int])


def zooms(eye: Eye, page: str, path: str, times: int, less: float = 0.0) -> Zooms:
    """The drag of a pointer over four fifths of the plot, so many times, each deeper."""
    results = Zooms(page, less)
    eye.open(path)
    drawn = eye.mark(LINE)
    eye.tab.until(lambda: eye.history().now > drawn + QUIET_MS)
    for _ in range(times):
        since = eye.history().now
        _drag(eye)
        done = eye.tab.until(partial(_zoomed, eye, since), patience_s=30)
        _note(eye, results, done)
    return results


def _note(eye: Eye, results: Zooms, done: float) -> None:
    history = eye.history()
    start = history.released
    request_times = [at for at, _ in history.requests if at > start]
    responses = [(at, size) for at, size in history.answers if start < at <= done]
    first, (answer, characters) = request_times[0], responses[0]
    results.took.append(done - start)
    results.until_asked.append(first - start)
    results.until_answered.append(answer - first)
    results.until_painted.append(done - answer)
    results.characters.append(characters)
    results.requests.append(len(request_times))


def _zoomed(eye: Eye, since: float) -> float | None:
    history = eye.history()
    response_times = [at for at, _ in history.answers if at > history.released]
    if history.released < since or not response_times:
        return None
    return history.drawn_after(history.released)


def _drag(eye: Eye) -> None:
    x, y, width, height = eye.tab.run(
        "const r = document.querySelector('.js-plotly-plot .nsewdrag').getBoundingClientRect();"
        "return [r.x, r.y, r.width, r.height]"
    )
    eye.tab.drag(x + ZOOM[0] * width, x + ZOOM[1] * width, y + height / 2)


# --- The pages -----------------------------------------------------------------------------------


def ours(site: Served, times: int, spans: Sequence[str] = ("7d", "24h")) -> Iterator[Zooms]:
    """Of a device that reports every ten seconds, from each of the spans on."""
    for span in spans:
        with watching(CHART, WANTED) as driver:
            eye = Eye(driver, site.url)
            sign_in(eye, site.keys[0])
            path = f"/devices/{site.ids[CHART_DEVICE]}?range={span}"
            yield zooms(eye, f"Weir, from {span}", path, times, DEBOUNCE_MS)


def plain(fleet: Fleet, folder: Path, resampler: str, times: int) -> Iterator[Zooms]:
    readings = folder / "readings.npz"
    rows = fleet.readings(CHART_DEVICE, 0)
    np.savez(readings, times=[row[1] for row in rows], flows=[row[2] for row in rows])
    file = str(ROOT / "benchmarks" / "site" / "plain_zoom.py")
    for name, python in (("raw", sys.executable), ("resampler", resampler)):
        if python:
            port = free_port()
            command = [python, file, name, str(readings), str(port), str(POINTS)]
            with alternative(command, port) as url, watching(CHART, WANTED) as driver:
                page = "plotly-resampler" if name == "resampler" else "every reading sent"
                yield zooms(Eye(driver, url), page, "/", times)


# --- Report --------------------------------------------------------------------------------------

_HEAD = (
    "| page | median ms | slowest | without the wait | asked after | answered after | painted after"
    " | characters | callbacks |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
)


def as_markdown(details: dict[str, str], results: Sequence[Zooms]) -> str:
    lines = [*(f"- {name}: {value}" for name, value in details.items()), "", *_HEAD]
    for each in results:
        middle = median(each.took)
        stages = (each.until_asked, each.until_answered, each.until_painted)
        cells = (
            each.page,
            *(f"{ms:,.0f}" for ms in (middle, max(each.took), middle - each.less)),
            *(f"{median(stage):,.0f}" for stage in stages),
            f"{median(each.characters):,.0f}",
            f"{median(each.requests):.0f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    fleet = Fleet(CHART_DEVICE + 1, options.days)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="weir-zoom-") as scratch:
        folder = Path(scratch)
        with served(fleet, folder, keys=1) as site:
            results = list(ours(site, options.times))
        if not options.alone:
            results += plain(fleet, folder, options.resampler, options.times)
    size = f"a device that reports every 10 s, {options.days} days"
    setup = {"fleet": size, "browser": browser_version()}
    details = of_a_site("benchmarks.zoom", arguments, before, setup)
    rows = [asdict(each) for each in results]
    tell(options, as_markdown(details, results), {"conditions": details, "zooms": rows})
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = compares("zoom", __doc__)
    parser.add_argument("--alone", action="store_true", help="without the plain pages")
    return parser.parse_args(arguments)


def compares(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options of a run beside plain pages."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument(
        "--resampler", default="", metavar="PYTHON", help="a Python that has plotly-resampler"
    )
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--times", type=int, default=9)
    may_leave_files(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
