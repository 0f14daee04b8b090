"""A small world for tests of the service: two organizations, their devices, readings and
credentials, and clients for each of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import timez
from api.auth import issue_token, key_digest
from api.catalog import DAY_MS, HOUR_MS, KEY_HEADER, METRICS, MINUTE_MS, PATH_PREFIX
from api.server import create_service
from api.settings import Settings
from api.store.base import Device, Grant, Key, NewDevice, ReadingRow, Scope, Store
from tests import citus

SECRET = "a secret for tests that is long enough"
SETTINGS = Settings.from_env({"WEIR_SECRET_KEY": SECRET})

ACME, OTHER, CLOSED = "org-acme", "org-other", "org-closed"

# The purposes of the world's devices, by name.
METER = "00000000-0000-4000-8000-000000000001"  # readings around the edges of calendars
TWIN = "00000000-0000-4000-8000-000000000002"  # in group north, like the meter
LONE = "00000000-0000-4000-8000-000000000003"  # in no group
OLD = "00000000-0000-4000-8000-000000000004"  # inactive, in group north
QUIET = "00000000-0000-4000-8000-000000000005"  # in group north, never reported
GATEWAY = "00000000-0000-4000-8000-000000000006"
FOREIGN = (
    "00000000-0000-4000-8000-00000000000f"  # another organization's, with the same serial number
)

DEVICES: dict[str, list[NewDevice]] = {
    ACME: [
        NewDevice(
            "M-1",
            {
                "id": METER,
                "networkUniqueIdentifier": "net-m1",
                "label": "beta",
                "deviceTimeZone": "America/New_York",
                "installedOn": "2011-06-01T00:00:00Z",
                "model": "FM-2",
                "resellerId": "reseller-9",
                "costPerGallon": {"value": 0.004},
                "kFactor": {"value": 27.5},
                "reportingInterval": 780.0,
                "billingSubscriptions": ["sub-1", "sub-2"],
            },
            groups=("north",),
        ),
        NewDevice(
            "T-1",
            {"id": TWIN, "networkUniqueIdentifier": "net-t1", "label": "alpha"},
            groups=("north", "all floors"),
        ),
        NewDevice("L/1", {"id": LONE, "networkUniqueIdentifier": "M-1", "label": "Gamma"}),
        NewDevice(
            "O-1",
            {"id": OLD, "networkUniqueIdentifier": "net-o1", "label": "delta", "active": False},
            groups=("north",),
        ),
        NewDevice("Q 1", {"id": QUIET, "label": "epsilon"}, groups=("north",)),
        NewDevice("G-1", {"id": GATEWAY, "category": "Gateway", "label": "alpha"}),
    ],
    OTHER: [NewDevice("M-1", {"id": FOREIGN, "networkUniqueIdentifier": "net-f1"}, ("north",))],
    CLOSED: [],
}


def all_seeing_key(store: Store, organization_id: str, key_id: str = "key_test") -> str:
    """The secret of a new key with access to everything of an organization."""
    secret, grant = str(uuid4()), Grant(everything=True)
    store.create_key(Key(key_id, organization_id, "test", key_digest(secret), grant, 0))
    return secret


@dataclass(frozen=True)
class Credential:
    """The headers of a request. ``sees``: ids of the devices of Acme in its scope."""

    headers: Mapping[str, str]
    sees: frozenset[str]


@dataclass
class World:
    """``readings``: those of each device by id, as written, without repeats."""

    store: Store
    settings: Settings = SETTINGS
    readings: dict[str, list[ReadingRow]] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    credentials: dict[str, Credential] = field(default_factory=dict)

    @cached_property
    def client(self) -> FlaskClient:
        return create_service(self.store, self.settings).test_client()

    def get(self, path: str, query: Any = (), *, by: str = "all", **headers: str) -> TestResponse:
        """GET below the prefix with the credential of that name; header names with _ for -."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        pairs = query.items() if isinstance(query, Mapping) else query
        return self.client.get(
            f"{PATH_PREFIX}{path}?{urlencode(list(pairs), doseq=True)}",
            headers={**self.credentials[by].headers, **sent},
        )

    def json(self, path: str, query: Any = (), *, by: str = "all") -> Any:
        """The body of a 200."""
        answer = self.get(path, query, by=by)
        assert answer.status_code == 200, answer.text
        return answer.json

    def new_key(self, grant: Grant, organization: str = ACME, **details: Any) -> tuple[str, str]:
        """A new key: its secret, and its Key ID."""
        secret, key_id = str(uuid4()), f"key_{uuid4().hex[:12]}"
        self.store.create_key(
            Key(key_id, organization, "test", key_digest(secret), grant, 0, **details)
        )
        return secret, key_id


@contextmanager
def opened(url: str) -> Iterator[World]:
    """The world in a new store at that URL, closed at the end."""
    store = citus.made(url)
    try:
        yield build(store)
    finally:
        store.close()


def build(store: Store) -> World:
    """The world in an empty, upgraded store."""
    world = World(store)
    for organization, devices in DEVICES.items():
        store.create_organization(organization.title(), organization_id=organization)
        store.import_devices(organization, devices)
    scopes = [Scope(o, Grant(everything=True)) for o in (ACME, OTHER)]
    for scope, ids in zip(
        scopes, ((METER, TWIN, LONE, OLD, QUIET, GATEWAY), (FOREIGN,)), strict=True
    ):
        result = zip(ids, store.resolve(scope, ids), strict=True)
        world.devices |= {id: device for id, device in result if device is not None}
    world.readings = _readings(world.devices)
    for rows in world.readings.values():
        store.write(rows)
    _credentials(world)
    return world


# --- Readings ------------------------------------------------------------------------------------


def ms(text: str) -> int:
    """An ISO 8601 instant as epoch milliseconds."""
    return timez.from_datetime(datetime.fromisoformat(text))


# Windows around oddities of calendars.
APIA = (ms("2011-12-28T00:00Z"), 5)  # it has no 30 December
SEASONS = (
    (ms("2026-03-06T00:00Z"), 5),  # New York: 23 hours on the 8th
    (ms("2026-04-03T00:00Z"), 4),  # Lord Howe: half an hour back
    (ms("2026-09-04T00:00Z"), 5),  # Santiago: the 6th starts at 01:00
    (ms("2026-10-30T00:00Z"), 4),  # New York: 25 hours on the 1st
)


def _readings(devices: Mapping[str, Device]) -> dict[str, list[ReadingRow]]:
    random_ = random.Random(20260308)
    meter: list[ReadingRow] = []
    for start, days in SEASONS:
        meter += _reading_rows(random_, devices[METER].key, start, days * DAY_MS, 13 * MINUTE_MS)
    noon = ms("2026-03-08T12:00Z")
    rest = {
        id: _reading_rows(random_, devices[id].key, noon - 6 * HOUR_MS, 12 * HOUR_MS, step)
        for id, step in ((TWIN, MINUTE_MS), (LONE, 10_000), (FOREIGN, 90_000))
    }
    rest[TWIN] += [(devices[TWIN].key, noon, *(1.0,) * 7), (devices[TWIN].key, noon, *(2.0,) * 7)]
    old = _reading_rows(random_, devices[OLD].key, APIA[0], APIA[1] * DAY_MS, 7 * MINUTE_MS)
    return {METER: meter, OLD: old, **rest}


def _reading_rows(
    random_: random.Random, key: int, start_ms: int, length_ms: int, step_ms: int
) -> list[ReadingRow]:
    """A jittered cadence with gaps, nulls, and sometimes a negative correction."""
    rows: list[ReadingRow] = []
    for at_ms in range(start_ms, start_ms + length_ms, step_ms):
        if random_.random() < 0.1:
            continue
        values = [round(random_.uniform(0, 100), 3) for _ in METRICS]
        values = [None if random_.random() < 0.05 else value for value in values]
        values[2] = round(random_.uniform(-1, 9), 3)
        instant = at_ms + random_.randrange(step_ms // 2)
        rows.append((key, instant, *values))  # pyright: ignore[reportArgumentType]
    return rows


# --- Credentials ---------------------------------------------------------------------------------

EVERYTHING = frozenset({METER, TWIN, LONE, OLD, QUIET, GATEWAY})
NORTH = frozenset({METER, TWIN, OLD, QUIET})


def _credentials(world: World) -> None:
    grants = {
        "all": (Grant(everything=True), EVERYTHING),
        "group": (Grant(groups=frozenset({"north"})), NORTH),
        "devices": (Grant(devices=frozenset({LONE, OLD})), frozenset({LONE, OLD})),
        "both": (Grant(groups=frozenset({"all floors"}), devices=frozenset({LONE})),
                 frozenset({TWIN, LONE})),
        "nothing": (Grant(), frozenset[str]()),
    }  # fmt: skip
    for name, (grant, sees) in grants.items():
        world.credentials[name] = Credential({KEY_HEADER: world.new_key(grant)[0]}, sees)
    foreign = world.new_key(Grant(everything=True), OTHER)[0]
    world.credentials["foreign"] = Credential({KEY_HEADER: foreign}, frozenset())
    world.credentials["token"] = Credential(
        _bearer(issue_token(world.settings, ACME, None, 3600)), EVERYTHING
    )
    world.credentials["token for one"] = Credential(
        _bearer(issue_token(world.settings, ACME, [TWIN], 3600)), frozenset({TWIN})
    )
    world.credentials["nobody"] = Credential({}, frozenset())


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
