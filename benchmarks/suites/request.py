"""The service's own part of a request (credential, parameters, rules and JSON), with a store that
responds at once and is empty; compared with one view of a bare Flask application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import orjson
from flask import Flask, Response

from api.catalog import DAY_MS, MAX_IDS, PATH_PREFIX
from api.store.base import Device, Grant, Key, LatestResult, Organization, Store
from api.timez import stamp
from benchmarks import goals, wire
from benchmarks.clock import Race, Run, Runner
from benchmarks.goals import Goal
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed

_REPEATED = 10  # requests are short, so there are more arguments


class Empty:
    """What the service needs of a store, for devices without readings."""

    def __init__(self, devices: Sequence[Device]) -> None:
        self._devices = {device.id: device for device in devices}
        self._organization = Organization(devices[0].organization_id, "Benchmark", True, 0, 0)

    def key(self, digest: bytes) -> Key:
        everything = Grant(everything=True)
        return Key("key_benchmark", self._organization.id, "", digest, everything, created_ms=0)

    def organization(self, _: str) -> Organization:
        return self._organization

    def resolve(self, _: object, identifiers: Sequence[str]) -> list[Device | None]:
        return [self._devices.get(identifier) for identifier in identifiers]

    def has_raw(self, *_: object) -> bool:
        return True

    def count(self, *_: object, **__: object) -> int:
        return 0

    def rows(self, *_: object, **__: object) -> list[Any]:
        return []

    def latest(self, devices: Sequence[Device], _: object) -> dict[int, LatestResult]:
        return {device.key: LatestResult() for device in devices}


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    app = wire.service(cast(Store, Empty(ground.devices)))
    for name, environ, wanted in _requests(ground):
        yield Race(
            name,
            [environ] * rounds * _REPEATED,
            (_by(_bare()), _by(_bare())),
            (Runner("service", _by(app), wanted),),
        )


def _requests(ground: Ground) -> Iterator[tuple[str, wire.Environ, tuple[Goal, ...]]]:
    flow, some = f"{PATH_PREFIX}/flow", ground.devices[0].id
    start = ground.bounds[0]
    span = {"from": stamp(start), "to": stamp(start + DAY_MS)}
    zoned = {**span, "timezone": "America/New_York"}
    everyone = ",".join(device.id for device in ground.devices[:MAX_IDS])
    metrics = "uptime,lastSeen,lastDatapoint,quality"
    wanted = (goals.REQUEST,)
    yield "adaptive", wire.request(f"{flow}/adaptive/{some}", zoned), wanted
    yield (
        "datapoints",
        wire.request(
            f"{flow}/datapoints/{some}",
            {**zoned, "resolution": "1hour", "filter": "flowRate:gt:0.5", "limit": "500"},
        ),
        wanted,
    )
    yield (
        "latest of one",
        wire.request(f"{flow}/latest", {**span, "ids": some, "metrics": metrics}),
        wanted,
    )
    yield (
        "latest of 50",
        wire.request(f"{flow}/latest", {**span, "ids": everyone, "metrics": metrics}),
        (),
    )
    yield "version", wire.request(f"{PATH_PREFIX}/version"), wanted


def _bare() -> Flask:
    app = Flask("bare", static_folder=None)
    app.add_url_rule("/<path:_>", "any", lambda _: Response(b"{}", mimetype="application/json"))
    return app


def _by(app: Flask) -> Run:
    return timed(lambda environ: wire.body(app, environ))


def check(ground: Ground) -> None:
    """Checks that every timed request succeeds, with the result of an empty store."""
    app = wire.service(cast(Store, Empty(ground.devices)))
    for name, environ, _ in _requests(ground):
        answer = orjson.loads(wire.body(app, environ))
        entries = len(answer.get("data", ()))
        devices = {"latest of one": 1, "latest of 50": min(MAX_IDS, len(ground.devices))}
        if entries != devices.get(name, 0):
            raise Wrong(f"{name} of an empty store has {entries} entries")
