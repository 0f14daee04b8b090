"""`python -m benchmarks.comparison`: the processor time that a comparison adds to a chart.

The chart is requested, drawn and written as JSON by the page's own functions, in one process and
without a socket. The ways take turns, so that other work on the machine affects all of them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

import orjson

from api.catalog import DAY
from api.client import Client, Credential
from api.insight.status_projection import Projection
from api.store.open import open_store
from api.timez import DAY_MS
from benchmarks.fleet import END_MS, Fleet, serial
from benchmarks.goals import COMPARED_CHART
from benchmarks.ground import ground_at
from benchmarks.wire import KEY, service
from components import chart_query
from components.chart_query import Subject
from components.queries import find_device, usual_interval_s
from components.url_state import read_view

PLAIN: Final = "plain"
WAYS: Final[Mapping[str, Mapping[str, str]]] = {
    PLAIN: {},
    "previous day": {"compare": "day"},
    "previous week": {"compare": "week"},
    "another device": {"compare": f"device:{serial(1)}"},
    "usual": {"compare": "usual"},
    "usual band": {"usual": "1"},
}
RANGES: Final = ("24h", "7d", "30d")
WIDTH_PX: Final = 1_040
DEVICES: Final = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--days", type=int, default=100, help="of history")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as name:
        folder, numbers = Path(name), count()

        def fresh() -> str:
            return f"sqlite:///{folder / f'{next(numbers)}.sqlite'}"

        with (
            ground_at(fresh(), Fleet(DEVICES, options.days), fresh, folder) as ground,
            closing(open_store(ground.url, read_only=True)) as store,
        ):
            with closing(open_store(ground.url)) as writing:
                Projection(writing).all_due()  # as the writer does after each commit
            client = Client.in_process(service(store), Credential.key(KEY))
            charts(client, options.rounds)
            page(client, options.rounds)


def charts(client: Client, rounds: int) -> None:
    device = find_device(client, serial(0), END_MS)
    subject = Subject.of(device, usual_interval_s(client, device))

    def draw(range_: str, params: Mapping[str, str]) -> float:
        view = read_view({"range": range_, "width_px": WIDTH_PX, **params})
        start = time.thread_time()
        drawn = chart_query.draw(client, subject, view, END_MS)
        orjson.dumps(chart_query.change(drawn, view))
        return time.thread_time() - start

    for range_ in RANGES:
        taken: dict[str, list[float]] = {name: [] for name in WAYS}
        for _ in range(rounds + 1):  # the first one warms up
            for name, params in WAYS.items():
                taken[name].append(draw(range_, params))
        middle = {name: median(times[1:]) for name, times in taken.items()}
        for name, seconds in middle.items():
            ratio = seconds / middle[PLAIN]
            goal = "" if name == PLAIN else f" (goal {COMPARED_CHART})"
            missed = "" if COMPARED_CHART.met(ratio) else "  MISSED"
            print(f"{range_:>4} {name:15} {1e3 * seconds:6.1f} ms  {ratio:.2f}{goal}{missed}")


def page(client: Client, rounds: int) -> None:
    """Times the compare page's one request: twelve devices over a month by the day."""
    items = [f"device:{serial(index)}" for index in range(DEVICES)]
    taken: list[float] = []
    for _ in range(rounds + 1):
        start = time.thread_time()
        client.volumes(items, DAY, from_ms=END_MS - 30 * DAY_MS, to_ms=END_MS - 1)
        taken.append(time.thread_time() - start)
    print(f"volumes of {DEVICES} devices, 30 days: {1e3 * median(taken[1:]):.1f} ms")


if __name__ == "__main__":
    main()
