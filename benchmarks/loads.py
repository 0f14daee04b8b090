"""How long a page takes to load in a browser with an empty cache, and with a warm one: ``python -m
benchmarks.loads``.

Uses a production server on loopback and a real Chromium on the same machine. Cold: what was
transferred, from which hosts, and when the page's main content was painted. Warm: the same address
again, several times.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.fleet import Fleet
from benchmarks.site.eye import Eye, Request, browser_version, looking
from benchmarks.site.served import Served, served
from benchmarks.telling import may_leave_files, of_a_site, tell

KB: Final = 1000
COLD_GOAL: Final = 1_100 * KB
WARM_GOAL_MS: Final = 500.0
PLOTLY: Final = "plotly-cartesian.min.js"


@dataclass(frozen=True, slots=True)
class Page:
    """``thing`` is the page's main content; ``selector`` matches once all of it is there."""

    name: str
    thing: str
    selector: str
    path: str = ""


_WALL: Final = "#fleet-wall > li:nth-child(50)"
FLEET: Final = Page("fleet", "50 tiles", f"{_WALL} .tile-label:not(:empty)", "/")
PAGES: Final = (
    Page("sign-in", "the form", "#key", "/sign-in"),
    FLEET,
    Page("devices", "rows", ".ag-center-cols-container .ag-row .ag-cell a", "/devices"),
    Page("device", "the chart", ".js-plotly-plot .scatterlayer .js-line"),
)


@dataclass
class Load:
    """Times are ms since the navigation began; bytes are as transferred, compressed, with
    headers."""

    page: str
    thing: str
    cold_ms: float
    cold_bytes: int
    ahead_bytes: int
    cold_requests: int
    hosts: list[str]
    warm_ms: list[float]
    warm_bytes: int
    parts: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    @property
    def met(self) -> bool | None:
        """Returns whether the goals are met; only the fleet page has goals."""
        if self.page != FLEET.name:
            return None
        small = self.cold_bytes < COLD_GOAL and len(self.hosts) == 1
        return small and median(self.warm_ms) < WARM_GOAL_MS


def measured(eye: Eye, page: Page, path: str, times: int) -> Load:
    eye.forget()
    eye.open(path)
    cold_ms = eye.mark(page.name)
    requests = eye.settled()
    warm_ms, warm_bytes = list[float](), 0
    for _ in range(times):
        eye.open(path)
        warm_ms.append(eye.mark(page.name))
        warm_bytes = sum(request.bytes for request in eye.settled())
    ahead = sum(r.bytes for r in requests if page.name != "device" and r.name == PLOTLY)
    return Load(
        page.name,
        page.thing,
        cold_ms,
        sum(request.bytes for request in requests) - ahead,
        ahead,
        len(requests),
        sorted({request.host for request in requests}),
        warm_ms,
        warm_bytes,
        list(_parts(requests)),
    )


def _parts(requests: Iterable[Request]) -> Iterator[tuple[str, int]]:
    """Yields the size of each response, largest first; responses of the same name together."""
    weights: dict[str, int] = {}
    for request in requests:
        weights[request.name] = weights.get(request.name, 0) + request.bytes
    yield from sorted(weights.items(), key=lambda item: -item[1])


def loads(site: Served, times: int) -> Iterator[Load]:
    wanted = {page.name: page.selector for page in PAGES}
    with looking(wanted) as driver:
        eye = Eye(driver, site.url)
        for page in PAGES:
            if page is FLEET:
                sign_in(eye, site.keys[0])
            yield measured(eye, page, page.path or f"/devices/{site.ids[0]}", times)


def sign_in(eye: Eye, key: str) -> None:
    eye.open("/sign-in")
    eye.tab.run("document.querySelector('#key').value = arguments[0];", key)
    eye.tab.click("button[type=submit].primary")
    eye.mark(FLEET.name)


# --- Report --------------------------------------------------------------------------------------

_HEAD = (
    "| page | cold | requests | ahead of need | cold, to | warm: median | slowest | bytes | goal |",
    "|---|---:|---:|---:|---|---:|---:|---:|---|",
)
_SHOWN_PARTS: Final = 12


def as_markdown(details: dict[str, str], results: Iterable[Load]) -> str:
    lines = [*(f"- {name}: {value}" for name, value in details.items()), "", *_HEAD]
    results = list(results)
    lines += [_line(load) for load in results]
    for load in results:
        heavy = load.parts[:_SHOWN_PARTS]
        sizes = ", ".join(f"`{name}` {bytes / KB:.1f}" for name, bytes in heavy)
        lines += ["", f"**{load.page}**, kB from {', '.join(load.hosts)}: {sizes}"]
    return "\n".join(lines) + "\n"


def _line(load: Load) -> str:
    cells = (
        load.page,
        f"{load.cold_bytes / KB:,.0f} kB",
        str(load.cold_requests),
        f"{load.ahead_bytes / KB:,.0f} kB",
        f"{load.thing}: {load.cold_ms:,.0f} ms",
        f"{median(load.warm_ms):,.0f} ms",
        f"{max(load.warm_ms):,.0f} ms",
        f"{load.warm_bytes / KB:,.0f} kB",
        {None: "–", True: "met", False: "**missed**"}[load.met],
    )
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="weir-loads-") as scratch:
        fleet = Fleet(options.devices, options.days)
        with served(fleet, Path(scratch), keys=1) as site:
            results = list(loads(site, options.times))
    size = f"{options.devices} devices × {options.days} days, and as they come in"
    setup = {"fleet": size, "browser": browser_version()}
    details = of_a_site("benchmarks.loads", arguments, before, setup)
    rows = [asdict(load) | {"met": load.met} for load in results]
    tell(options, as_markdown(details, results), {"conditions": details, "loads": rows})
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loads", description=__doc__)
    parser.add_argument("--devices", type=int, default=50)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--times", type=int, default=7, help="warm loads of each page")
    may_leave_files(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
