"""DuckDB, where it is installed (`pip install duckdb`; Weir itself doesn't need it), given the same
readings, rollups of the same columns, both sorted by device and time, and the plain questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import orjson
import pandas as pd

from api.catalog import (
    AGGREGATES,
    DAY_MS,
    LADDER,
    MAX_IDS,
    METRICS,
    ONE_MINUTE,
    RAW,
    STORED,
    Resolution,
)
from api.store.base import Device, LatestQuestion, Span, Store
from benchmarks import goals
from benchmarks.clock import Race, Run, Runner
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed
from benchmarks.suites.adaptive import ask

_BUDGET = 1_000
_IN = "device_id = ? AND ts BETWEEN ? AND ?"
Window = tuple[Device, Span]


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    duck, devices = _filled(ground), ground.devices[:MAX_IDS]
    spans = [span for _, span in ground.windows("duckdb latest", DAY_MS, rounds)]
    yield Race(
        f"latest {len(devices)} × 24 h ÷ DuckDB",
        spans,
        _twice(duck, lambda cursor, span: _latest(cursor, devices, span)),
        (Runner("ours", _ours_latest(ground.reader(), devices), (goals.DUCKDB_LATEST,)),),
    )
    yield Race(
        "adaptive 1 d ÷ DuckDB",
        ground.windows("duckdb adaptive", DAY_MS, rounds),
        _twice(duck, _adaptive),
        (Runner("ours", _ours_adaptive(ground.reader()), (goals.DUCKDB_ADAPTIVE_DAY,)),),
    )


def _filled(ground: Ground) -> Any:
    """DuckDB with the ground's readings and rollups, filled where it isn't yet."""
    duckdb = import_module("duckdb")
    path = ground.scratch / "peer.duckdb"
    known = path.exists()
    duck = duckdb.connect(str(path))
    ground.opened.callback(duck.close)
    if not known:
        _fill(duck, ground)
    return duck


def _fill(duck: Any, ground: Ground) -> None:
    names = ("device_id", "ts", *(metric.name for metric in METRICS))
    columns = ", ".join(f"{metric.name} DOUBLE" for metric in METRICS)
    duck.execute(f"CREATE TABLE {RAW.table} (device_id INTEGER, ts BIGINT, {columns})")
    for index, device in enumerate(ground.devices):
        for rows in ground.fleet.batches(index, device.key):
            duck.register("frame", pd.DataFrame(np.array(rows, dtype=np.float64), columns=names))
            duck.execute(f"INSERT INTO {RAW.table} SELECT * FROM frame")
    for resolution in STORED:
        _roll_up(duck, resolution)


def _roll_up(duck: Any, resolution: Resolution) -> None:
    functions = {"avg": "AVG", "min": "MIN", "max": "MAX", "total": "SUM"}
    values = ", ".join(f"{functions[a.function]}({a.metric.name}) AS {a.name}" for a in AGGREGATES)
    bucket = f"ts // {resolution.fixed_ms} * {resolution.fixed_ms}"
    duck.execute(
        f"CREATE TABLE {resolution.table} AS"
        f" SELECT device_id, {bucket} AS ts, {values}"
        f" FROM {RAW.table} GROUP BY ALL ORDER BY device_id, ts"
    )


def _twice(duck: Any, answer: Callable[[Any, Any], object]) -> tuple[Run, Run]:
    def by(cursor: Any) -> Run:
        return timed(lambda argument: orjson.dumps(answer(cursor, argument)))

    return by(duck.cursor()), by(duck.cursor())


def _latest(cursor: Any, devices: list[Device], span: Span) -> list[Any]:
    marks = ", ".join("?" * len(devices))
    rows = f"WHERE device_id IN ({marks}) AND ts BETWEEN ? AND ? GROUP BY device_id"
    values = ", ".join(f"ARG_MAX({metric.name}, ts)" for metric in METRICS)
    asked = [*(device.key for device in devices), *span]
    counts = cursor.execute(f"SELECT device_id, COUNT(*) FROM {ONE_MINUTE.table} {rows}", asked)
    found = counts.fetchall()
    last = cursor.execute(f"SELECT device_id, MAX(ts), {values} FROM {RAW.table} {rows}", asked)
    return [found, last.fetchall()]


def _adaptive(cursor: Any, window: Window) -> list[Any]:
    device, span = window
    chosen, asked = LADDER[0], [device.key, *span]
    for resolution in LADDER:
        counted = cursor.execute(f"SELECT COUNT(*) FROM {resolution.table} WHERE {_IN}", asked)
        if counted.fetchall()[0][0] > _BUDGET:
            break
        chosen = resolution
    names = METRICS if chosen is RAW else AGGREGATES
    values = ", ".join(column.name for column in names)
    sql = f"SELECT ts, {values} FROM {chosen.table} WHERE {_IN} ORDER BY ts LIMIT {_BUDGET}"
    return cursor.execute(sql, asked).fetchall()


def _ours_latest(store: Store, devices: list[Device]) -> Run:
    def answer(span: Span) -> bytes:
        found = store.latest(devices, LatestQuestion(span, ONE_MINUTE, last=True))
        return orjson.dumps([*map(tuple, found.values())])

    return timed(answer)


def _ours_adaptive(store: Store) -> Run:
    return timed(lambda w: orjson.dumps(ask(store, w[0], w[1], _BUDGET).rows))


def check(ground: Ground) -> None:
    """The peer was asked the same: its rows are as many, at the same instants."""
    duck = _filled(ground)
    for device, span in ground.windows("check duckdb", DAY_MS, 5):
        ours = ask(ground.store, device, span, _BUDGET).rows
        if [row[0] for row in ours] != [row[0] for row in _adaptive(duck, (device, span))]:
            raise Wrong(f"DuckDB sees other rows of {device.serial_number}")
