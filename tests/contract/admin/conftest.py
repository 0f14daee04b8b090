"""The administration's tests: a world of their own, and a client with an administrator's key."""

from __future__ import annotations

from typing import Any

import pytest

from api.catalog import KEY_HEADER
from api.roles import Role
from api.store.base import AuditQuery, Grant, Scope, Store
from tests.world import ACME, DEVICES, OTHER, TWIN, World

EVERYTHING = Scope(ACME, Grant(everything=True))


@pytest.fixture
def world(store: Store) -> World:
    """A world of its own, since these tests change it. A few readings of one device are enough."""
    world = World(store)
    for organization in (ACME, OTHER):
        store.create_organization(organization.title(), organization_id=organization)
        store.import_devices(organization, DEVICES[organization])
    (device,) = store.resolve(EVERYTHING, [TWIN])
    assert device is not None
    world.devices[TWIN] = device
    rows: list[Any] = [(device.key, minute * 60_000, *(1.0,) * 7) for minute in range(20)]
    world.readings[TWIN] = rows
    store.write(world.readings[TWIN])
    return world


class Admin:
    """A client with the key of an administrator, of all devices or with the given grant."""

    def __init__(self, world: World, grant: Grant | None = None) -> None:
        self._world = world
        grant = Grant(everything=True) if grant is None else grant
        self.secret, self.key_id = world.new_key(grant, role=Role.ADMINISTRATOR)

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        sent = {} if body is None else {"json": body}
        answer = self._world.client.open(
            f"/admin/v1{path}", method=method, headers={KEY_HEADER: self.secret}, **sent
        )
        assert answer.status_code == status, answer.text
        return answer.get_json()

    def device(self, id: str) -> dict[str, Any]:
        rows = [
            row
            for active in ("true", "false")
            for row in self.ask("GET", f"/devices?active={active}")["data"]
        ]
        return next(row for row in rows if row["id"] == id)


@pytest.fixture
def admin(world: World) -> Admin:
    return Admin(world)


def actions(world: World, kind: str) -> list[tuple[str, str]]:
    entries = world.store.audit(AuditQuery(ACME, kind=kind))
    return [(entry.action, entry.author) for entry in entries]
