"""Which principal sees which device: every principal × route × way to name a device."""

from __future__ import annotations

import re
from urllib.parse import quote

from tests.tables import cases
from tests.world import (
    DEVICES,
    FOREIGN,
    GATEWAY,
    LONE,
    METER,
    OLD,
    QUIET,
    TWIN,
    World,
)

PRINCIPALS = (
    "all", "group", "devices", "both", "nothing", "foreign", "token", "token for one", "nobody",
)  # fmt: skip
IDS = (METER, TWIN, LONE, OLD, QUIET, GATEWAY, FOREIGN)

FORMS = {  # form of a name → (its text, whether an inactive device has it)
    "uuid": (lambda serial, net, id: id, True),
    "upper-case uuid": (lambda serial, net, id: id.upper(), True),
    "serial number": (lambda serial, net, id: serial, False),
    "network identifier": (lambda serial, net, id: net, False),
}
ROUTES = {
    "datapoints": "/management/v1/flow/datapoints/{}?resolution=1hour&limit=1",
    "adaptive": "/management/v1/flow/adaptive/{}?from=2026-03-08&to=2026-03-09",
    "status": "/insight/v1/devices/{}",
}


def _names(world: World, id: str) -> tuple[str, str, str]:
    device = world.devices[id]
    return device.serial_number, device.network_unique_identifier, device.id


def _text(world: World, id: str, form: str) -> str:
    return FORMS[form][0](*_names(world, id))


def _status_owed(world: World, principal: str, id: str, form: str) -> int:
    """The expected status of a single-device request, from the test data alone."""
    if principal == "nobody":
        return 401
    if principal == "foreign":
        # Two organizations have a device M-1: each sees its own.
        own = id == FOREIGN or (id == METER and form == "serial number")
        return 200 if own or (id == LONE and form == "network identifier") else 404
    sees = world.credentials[principal].sees
    if form == "serial number" and id == FOREIGN:
        id = METER
    answers = id in sees and (id != OLD or FORMS[form][1])
    if form == "network identifier" and id == LONE:  # the meter's serial number counts first
        answers = METER in sees or LONE in sees
    if form == "serial number" and id == METER and METER not in sees:
        answers = LONE in sees
    return 200 if answers else 404


@cases("form", FORMS)
@cases("id", IDS)
@cases("route", ROUTES)
@cases("principal", PRINCIPALS)
def test_every_principal_route_and_name(
    world: World, principal: str, route: str, id: str, form: str
) -> None:
    path = ROUTES[route].format(quote(_text(world, id, form), safe=""))
    answer = world.client.get(path, headers=dict(world.credentials[principal].headers))
    assert answer.status_code == _status_owed(world, principal, id, form)


@cases("form", FORMS)
@cases("principal", PRINCIPALS[:-1])
def test_latest_leaves_out_devices_outside_the_scope(
    world: World, principal: str, form: str
) -> None:
    ids = [_text(world, id, form) for id in IDS]
    query = {"ids": ",".join([*ids, "no such device", "0" * 36]), "metrics": "lastSeen"}
    results = [
        entry["deviceId"] for entry in world.json("/flow/latest", query, by=principal)["data"]
    ]
    owed = [id for id in IDS if _status_owed(world, principal, id, form) == 200]
    if principal == "foreign":
        assert results == [FOREIGN] * bool(owed)
    elif form in ("uuid", "upper-case uuid"):
        assert results == owed
    else:
        assert set(results) <= world.credentials[principal].sees - {OLD}
        assert len(results) == len(set(results))


@cases("principal", PRINCIPALS[:-1])
@cases(
    ("active", "active_values"),
    [(None, {True}), ("true", {True}), ("false", {False}), ("null", {True, False})],
)
def test_the_device_list_leaves_out_devices_outside_the_scope(
    world: World, principal: str, active: str | None, active_values: set[bool]
) -> None:
    query = {} if active is None else {"active": active}
    listed = {device["id"] for device in world.json("/device", query, by=principal)}
    sees = {FOREIGN} if principal == "foreign" else world.credentials[principal].sees
    assert listed == {id for id in sees if world.devices[id].active in active_values}


@cases("principal", PRINCIPALS[:-1])
def test_only_the_own_organization_is_returned(world: World, principal: str) -> None:
    mine = world.json("/organizations/mine", by=principal)
    assert [org["id"] for org in mine] == ["org-other" if principal == "foreign" else "org-acme"]


@cases("route", ROUTES)
def test_the_404_has_no_reason(world: World, route: str) -> None:
    unseen = {
        "unknown": "no-such",
        "unknown uuid": "00000000-0000-4000-8000-00000000dead",
        "foreign": FOREIGN,
        "out of the grant": METER,
        "inactive by serial number": "O-1",
        "inactive by network identifier": "net-o1",
        "no text that a store could hold": "a%00b",
    }
    bodies = set[bytes]()
    for text in unseen.values():
        path = ROUTES[route].format(text)
        headers = dict(world.credentials["devices"].headers)
        answer = world.client.get(path, headers=headers)
        assert answer.status_code == 404
        bodies.add(re.sub(rb'"instance":"[0-9a-f]+"', b'"instance":""', answer.data))
    assert len(bodies) == 1


def test_a_device_of_two_names_is_found_by_its_serial_number_first(world: World) -> None:
    assert [d.serial_number for d in DEVICES["org-acme"] if "M-1" in (
        d.serial_number, d.fields.get("networkUniqueIdentifier")
    )] == ["M-1", "L/1"]  # fmt: skip
    query = {"ids": "M-1", "metrics": "lastSeen"}
    assert world.json("/flow/latest", query)["data"][0]["deviceId"] == METER
