"""Live sources through the writer, compared with plain writes of the same rows one after the other.

`python -m benchmarks.live`. A thousand devices report in turn, so that a batch affects as many
buckets as it has rows: the most expensive order in which readings can arrive.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from api.catalog import METRICS, MINUTE_MS
from api.ingest.submission import Submission
from api.ingest.writer import Writer
from api.store.base import NewDevice, ReadingRow, Store
from api.store.open import open_store

DEVICES: Final = 1_000
START_MS: Final = 1_772_971_200_000
ROWS_OF_SIZE: Final = {1_000: 100_000, 100: 50_000, 1: 5_000}
SOURCES: Final = (1, 8)
PATIENCE_S: Final = 60.0


def _rows(total: int) -> list[ReadingRow]:
    rng = random.Random(1)
    return [
        (
            number % DEVICES + 1,
            START_MS + number // DEVICES * MINUTE_MS + number % DEVICES * 17,
            *(round(rng.uniform(0, 90), 2) for _ in METRICS),
        )
        for number in range(total)
    ]  # pyright: ignore[reportReturnType]


def _fresh(folder: Path, name: str) -> Store:
    store = open_store(f"sqlite:///{folder / name}.sqlite")
    store.upgrade()
    store.create_organization("Acme", organization_id="acme")
    store.import_devices("acme", [NewDevice(f"M-{n}") for n in range(DEVICES)])
    return store


def _send(writer: Writer, rows: Sequence[ReadingRow], size: int, waits: bool) -> None:
    futures = []
    for start in range(0, len(rows), size):
        submission = Submission("acme", "bench", rows[start : start + size])
        futures.append(writer.submit(submission, wait_s=PATIENCE_S))
        if waits:
            futures.pop().result(PATIENCE_S)
    for future in futures:
        future.result(PATIENCE_S)


def _by_writer(store: Store, rows: list[ReadingRow], size: int, sources: int, waits: bool) -> None:
    share = len(rows) // sources
    writer = Writer(store)
    with ThreadPoolExecutor(sources) as pool:
        parts = [rows[n * share : (n + 1) * share] for n in range(sources)]
        list(pool.map(lambda part: _send(writer, part, size, waits), parts))
    writer.close()


def _plain(store: Store, rows: list[ReadingRow], size: int) -> None:
    for start in range(0, len(rows), size):
        store.write(rows[start : start + size])


def main() -> None:
    print("| Rows at a time | Sources | Each waits for its receipt | Rows a second |")
    print("|---|---|---|---|")
    with TemporaryDirectory(prefix="weir-live-") as name:
        for size, total in ROWS_OF_SIZE.items():
            rows = _rows(total)
            ways = [("plain writes", "–", partial(_plain, rows=rows, size=size))]
            for sources, waits in product(SOURCES, (True, False)):
                way = partial(_by_writer, rows=rows, size=size, sources=sources, waits=waits)
                ways.append((str(sources), "yes" if waits else "no", way))
            for number, (called, waiting, run) in enumerate(ways):
                store = _fresh(Path(name), f"{size}-{number}")
                started_s = perf_counter()
                run(store)
                rate = total / (perf_counter() - started_s)
                assert not store.verify().wrong
                store.close()
                print(f"| {size:,} | {called} | {waiting} | {rate:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
