"""The summary of 50 devices in one query, compared with its seeks, plain counting, and 150
queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import orjson

from api.catalog import COARSEST_STORED, DAY_MS, MAX_IDS, ONE_MINUTE
from api.store.base import Device, LatestQuery, Span, Store
from benchmarks import goals, plain
from benchmarks.clock import Race, Run, Runner
from benchmarks.floor import Statement
from benchmarks.goals import Goal
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed

Keys = Sequence[int]
Ask = Callable[[Keys, Span], list[Statement]]


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    sqlite = ground.dialect == "sqlite"
    day, week = DAY_MS, 7 * DAY_MS
    yield _race(ground, rounds, "24 h ÷ seeks and counter sums", day, _cheapest, False,
                (goals.LATEST_DAY,) if sqlite else ())  # fmt: skip
    yield _race(ground, rounds, "24 h with quality ÷ the same and its extremes", day,
                _cheapest_with_quality, True, (goals.LATEST_DAY,) if sqlite else ())  # fmt: skip
    yield _race(ground, rounds, "7 d ÷ plain counting", week, _counting, False,
                (goals.LATEST_WEEK,) if sqlite else ())  # fmt: skip
    yield _race(ground, rounds, "24 h with quality ÷ three queries a device", day,
                _one_by_one, True, () if sqlite else (goals.POSTGRES_LATEST,))  # fmt: skip


def _race(
    ground: Ground,
    rounds: int,
    name: str,
    length: int,
    floor: Ask,
    quality: bool,
    wanted: tuple[Goal, ...],
) -> Race:
    devices = ground.devices[:MAX_IDS]
    keys = [device.key for device in devices]
    spans = [span for _, span in ground.windows(name, length, rounds)]
    return Race(
        f"{len(devices)} × {name}",
        spans,
        ground.fetching(lambda span: floor(keys, span)),
        (Runner("one query", _ours(ground.reader(), devices, quality), wanted),),
    )


def _ours(store: Store, devices: Sequence[Device], quality: bool) -> Run:
    def answer(span: Span) -> bytes:
        results = store.latest(devices, _question(span, quality))
        return orjson.dumps([*map(tuple, results.values())])

    return timed(answer)


def _question(span: Span, quality: bool) -> LatestQuery:
    return LatestQuery(span, ONE_MINUTE, COARSEST_STORED if quality else None, last=True)


# --- The floors ----------------------------------------------------------------------------------


def _cheapest(keys: Keys, span: Span) -> list[Statement]:
    return [statement(key, span) for key in keys for statement in (plain.last, plain.counter_sum)]


def _cheapest_with_quality(keys: Keys, span: Span) -> list[Statement]:
    return [*_cheapest(keys, span), *(plain.quality(key, span) for key in keys)]


def _counting(keys: Keys, span: Span) -> list[Statement]:
    return [plain.counts(keys, span), *(plain.last(key, span) for key in keys)]


def _one_by_one(keys: Keys, span: Span) -> list[Statement]:
    return [
        statement(key, span)
        for key in keys
        for statement in (lambda k, s: plain.count(ONE_MINUTE, k, s), plain.last, plain.quality)
    ]


def check(ground: Ground) -> None:
    """Checks that one query for all equals plain queries for each, and single queries for each."""
    for _, span in ground.windows("check latest", DAY_MS, 5):
        question = _question(span, quality=True)
        together = ground.store.latest(ground.devices, question)
        for device in ground.devices:
            result = together[device.key]
            alone = ground.store.latest([device], question)[device.key]
            count = ground.other.rows(plain.count(ONE_MINUTE, device.key, span))[0][0]
            last = ground.other.rows(plain.last(device.key, span))
            ends = ground.other.rows(plain.quality(device.key, span))[0]
            expected = (count, *ends, last[0] if last else None)
            if not tuple(result) == tuple(alone) == expected:
                raise Wrong(
                    f"latest of {device.serial_number} in {span}: {result} is not {expected}"
                )
