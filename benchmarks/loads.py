"""How a page comes up in a browser that was never here, and in one that was:
``python -m benchmarks.loads``.

A production server on loopback and a real Chromium on the same machine. Cold: an empty cache; what
came over the network, from which hosts, and when the page's own thing was painted. Warm: the same
address again, several times.
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
    """``thing`` is what people came for; ``selector`` matches once all of it is there."""

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
    """Times are ms since the navigation began; bytes as they came, compressed, with headers."""

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
        """The goals are the fleet page's."""
        if self.page != FLEET.name:
            return None
        small = self.cold_bytes < COLD_GOAL and len(self.hosts) == 1
        return small and median(self.warm_ms) < WARM_GOAL_MS


def measured(eye: Eye, page: Page, path: str, times: int) -> Load:
    eye.forget()
    eye.open(path)
    cold_ms = eye.mark(page.name)
    came = eye.settled()
    warm_ms, warm_bytes = list[float](), 0
    for _ in range(times):
        eye.open(path)
        warm_ms.append(eye.mark(page.name))
        warm_bytes = sum(request.bytes for request in eye.settled())
    ahead = sum(r.bytes for r in came if page.name != "device" and r.name == PLOTLY)
    return Load(
        page.name,
        page.thing,
        cold_ms,
        sum(request.bytes for request in came) - ahead,
        ahead,
        len(came),
        sorted({request.host for request in came}),
        warm_ms,
        warm_bytes,
        list(_parts(came)),
    )


def _parts(came: Iterable[Request]) -> Iterator[tuple[str, int]]:
    """What weighs how much, heaviest first; answers of the same name together."""
    weights: dict[str, int] = {}
    for request in came:
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


def as_markdown(said: dict[str, str], found: Iterable[Load]) -> str:
    lines = [*(f"- {name}: {value}" for name, value in said.items()), "", *_HEAD]
    found = list(found)
    lines += [_line(load) for load in found]
    for load in found:
        heavy = load.parts[:_SHOWN_PARTS]
        told = ", ".join(f"`{name}` {bytes / KB:.1f}" for name, bytes in heavy)
        lines += ["", f"**{load.page}**, kB from {', '.join(load.hosts)}: {told}"]
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
            found = list(loads(site, options.times))
    size = f"{options.devices} devices × {options.days} days, and as they come in"
    told = {"fleet": size, "browser": browser_version()}
    said = of_a_site("benchmarks.loads", arguments, before, told)
    rows = [asdict(load) | {"met": load.met} for load in found]
    tell(options, as_markdown(said, found), {"conditions": said, "loads": rows})
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
