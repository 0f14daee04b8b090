"""DuckDB, if installed (`pip install duckdb`; Weir itself doesn't need it), with the same readings,
rollups of the same columns, both sorted by device and time, and the plain queries."""

from __future__ import annotations

from collections.abc import Iterator
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
from api.store.base import Device, LatestQuery, Span, Store
from benchmarks import goals
from benchmarks.clock import Race, Run, Runner
from benchmarks.floor import Statement
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed
from benchmarks.suites.adaptive import ask

_BUDGET = 1_000
_IN = "device_id = ? AND ts BETWEEN ? AND ?"
Window = tuple[Device, Span]


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    url, devices = _filled(ground), ground.devices[:MAX_IDS]
    first, second = ground.floor(url), ground.floor(url)
    yield Race(
        f"latest {len(devices)} × 24 h ÷ DuckDB",
        [span for _, span in ground.windows("duckdb latest", DAY_MS, rounds)],
        (
            lambda span: first.fetch(_latest(devices, span)),
            lambda span: second.fetch(_latest(devices, span)),
        ),
        (Runner("ours", _ours_latest(ground.reader(), devices), (goals.DUCKDB_LATEST,)),),
    )
    yield Race(
        "adaptive 1 d ÷ DuckDB",
        ground.windows("duckdb adaptive", DAY_MS, rounds),
        (
            lambda w: first.ladder(_rungs(*w), _BUDGET),
            lambda w: second.ladder(_rungs(*w), _BUDGET),
        ),
        (Runner("ours", _ours_adaptive(ground.reader()), (goals.DUCKDB_ADAPTIVE_DAY,)),),
    )


# --- Filling -------------------------------------------------------------------------------------


def _filled(ground: Ground) -> str:
    """Returns the URL of a DuckDB file with the ground's readings and rollups, filled if
    necessary."""
    path = ground.scratch / "peer.duckdb"
    if not path.exists():
        with import_module("duckdb").connect(str(path)) as duck:
            _fill(duck, ground)
    return f"duckdb:///{path}"


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
        f"CREATE TABLE {resolution.table} AS SELECT device_id, {bucket} AS ts, {values}"
        f" FROM {RAW.table} GROUP BY ALL ORDER BY device_id, ts"
    )


# --- Queries -------------------------------------------------------------------------------------


def _latest(devices: list[Device], span: Span) -> list[Statement]:
    """Counts the minutes with readings, and reads the last reading: two scans for all devices."""
    marks = ", ".join("?" * len(devices))
    rows = f"WHERE device_id IN ({marks}) AND ts BETWEEN ? AND ? GROUP BY device_id"
    values = ", ".join(f"ARG_MAX({metric.name}, ts)" for metric in METRICS)
    params = (*(device.key for device in devices), *span)
    return [
        (f"SELECT device_id, COUNT(*) FROM {ONE_MINUTE.table} {rows}", params),
        (f"SELECT device_id, MAX(ts), {values} FROM {RAW.table} {rows}", params),
    ]


def _rungs(device: Device, span: Span) -> list[tuple[Statement, Statement]]:
    params, rungs = (device.key, *span), list[tuple[Statement, Statement]]()
    for resolution in LADDER:
        values = ", ".join(column.name for column in (METRICS if resolution is RAW else AGGREGATES))
        rows = f"SELECT ts, {values} FROM {resolution.table} WHERE {_IN} ORDER BY ts"
        count = f"SELECT COUNT(*) FROM {resolution.table} WHERE {_IN}"
        rungs.append(((count, params), (f"{rows} LIMIT {_BUDGET}", params)))
    return rungs


def _ours_latest(store: Store, devices: list[Device]) -> Run:
    def answer(span: Span) -> bytes:
        results = store.latest(devices, LatestQuery(span, ONE_MINUTE, last=True))
        return orjson.dumps([*map(tuple, results.values())])

    return timed(answer)


def _ours_adaptive(store: Store) -> Run:
    return timed(lambda w: orjson.dumps(ask(store, w[0], w[1], _BUDGET).rows))


def check(ground: Ground) -> None:
    """Checks that the peer holds the same: as many rows at every resolution, at the same
    instants."""
    peer = ground.floor(_filled(ground))
    for device, span in ground.windows("check duckdb", DAY_MS, 5):
        for resolution, (_, rows) in zip(LADDER, _rungs(device, span), strict=True):
            ours = ground.store.rows(device, resolution, span, limit=_BUDGET)
            if [row[0] for row in ours] != [row[0] for row in peer.rows(rows)]:
                raise Wrong(f"DuckDB sees other {resolution.name} rows of {device.serial_number}")
