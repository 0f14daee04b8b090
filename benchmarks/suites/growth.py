"""The whole fleet's store, compared with one of a few devices over the same days."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from api.catalog import DAY_MS, ONE_MINUTE, RAW
from api.store.base import Device, LatestQuery, Span, Store
from benchmarks import goals
from benchmarks.clock import Race, Run, Runner
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed
from benchmarks.suites.adaptive import ask

Window = tuple[Device, Span]

_BUDGET = 1_000
_LEAST_ROWS = 1_000_000  # a smaller store would fit into the page cache


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    small = ground.small
    if small is None:
        return
    times = f"{_rows(ground):,} rows ÷ {_rows(small):,}"
    wanted = (goals.GROWTH,) if _rows(small) >= _LEAST_ROWS else ()
    for label, length in (("1 d", DAY_MS), ("7 d", 7 * DAY_MS)):
        yield Race(
            f"adaptive {label}: {times}",
            ground.windows(f"growth {label}", length, rounds),
            (_adaptive(small.reader(), small), _adaptive(small.reader(), small)),
            (Runner("ours", _adaptive(ground.reader(), ground), wanted),),
        )
    yield Race(
        f"latest of one device: {times}",
        ground.windows("growth latest", DAY_MS, rounds),
        (_latest(small.reader(), small), _latest(small.reader(), small)),
        (Runner("ours", _latest(ground.reader(), ground), wanted),),
    )


def _rows(ground: Ground) -> int:
    return sum(ground.store.count(device, RAW, Span()) for device in ground.devices)


def _standing_in(ground: Ground, device: Device) -> Device:
    """Returns the device itself, or one of the small fleet in its place."""
    return ground.devices[device.key % len(ground.devices)]


def _adaptive(store: Store, ground: Ground) -> Run:
    def answer(window: Window) -> bytes:
        device = _standing_in(ground, window[0])
        return orjson.dumps(ask(store, device, window[1], _BUDGET).rows)

    return timed(answer)


def _latest(store: Store, ground: Ground) -> Run:
    def answer(window: Window) -> object:
        question = LatestQuery(window[1], ONE_MINUTE, last=True)
        return store.latest([_standing_in(ground, window[0])], question)

    return timed(answer)


def check(ground: Ground) -> None:
    """Checks that a device's results don't depend on the number of devices in the store."""
    if ground.small is None:
        return
    for ours, theirs in zip(ground.devices, ground.small.devices, strict=False):
        for _, span in ground.windows("check growth", DAY_MS, 3):
            here = ask(ground.store, ours, span, _BUDGET)
            if here != ask(ground.small.store, theirs, span, _BUDGET):
                raise Wrong(f"{ours.serial_number} answers otherwise among others")
