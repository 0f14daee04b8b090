"""The device list and the organization: their fields, order, filters and pages."""

from __future__ import annotations

import re
from typing import Any

from api.catalog import BACKEND_VERSION
from tests.tables import cases
from tests.world import GATEWAY, LONE, METER, OLD, QUIET, TWIN, World

INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")

DEVICE_FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": str, "category": str, "serialNumber": str, "created": str, "updated": str,
    "label": str, "installedOn": str, "installed": bool, "costPerGallon": dict,
    "alertsActive": bool, "kFactor": dict, "deviceTimeZone": str, "model": str,
    "networkUniqueIdentifier": str,
}  # fmt: skip
OPTIONAL_FIELDS: dict[str, type | tuple[type, ...]] = {
    "organizationId": str, "resellerId": str, "config": (dict, type(None)),
    "distributorId": str, "billingSubscriptions": list,
}  # fmt: skip


def devices(world: World, **query: Any) -> list[dict[str, Any]]:
    return world.json("/device", query)


def ids(world: World, **query: Any) -> list[str]:
    return [device["id"] for device in devices(world, **query)]


def test_every_device_has_its_fields_and_no_others(world: World) -> None:
    for device in devices(world, active="null"):
        assert DEVICE_FIELDS.keys() <= device.keys() <= (DEVICE_FIELDS | OPTIONAL_FIELDS).keys()
        for name, value in device.items():
            assert isinstance(value, (DEVICE_FIELDS | OPTIONAL_FIELDS)[name]), name
        for name in ("created", "updated", "installedOn"):
            assert INSTANT.fullmatch(device[name])
        assert device["category"] in ("EndDevice", "Gateway")


def test_a_device_has_its_imported_fields(world: World) -> None:
    (meter,) = devices(world, serialNumber="M-1")
    del meter["created"], meter["updated"]
    assert meter == {
        "id": METER,
        "category": "EndDevice",
        "serialNumber": "M-1",
        "label": "beta",
        "installedOn": "2011-06-01T00:00:00.000Z",
        "installed": True,
        "costPerGallon": {"value": 0.004},
        "alertsActive": False,
        "kFactor": {"value": 27.5},
        "deviceTimeZone": "America/New_York",
        "model": "FM-2",
        "organizationId": "org-acme",
        "resellerId": "reseller-9",
        "config": {"reportingInterval": 780, "groups": ["north"]},
        "networkUniqueIdentifier": "net-m1",
        "billingSubscriptions": ["sub-1", "sub-2"],
    }


def test_config_may_be_null(world: World) -> None:
    assert devices(world, serialNumber="L/1")[0]["config"] is None


@cases(
    ("by", "texts"),
    [
        ("all", ["all floors", "north"]),
        ("group", ["north"]),  # those of a device's groups that the key was granted
        ("both", ["all floors"]),
        ("devices", None),
    ],
)
def test_config_names_only_granted_groups(world: World, by: str, texts: list[str] | None) -> None:
    fields = {d["id"]: d["config"] or {} for d in world.json("/device", by=by)}
    assert fields.get(TWIN, {}).get("groups") == texts


def test_other_configuration_stays_beside_the_groups(world: World) -> None:
    assert devices(world, serialNumber="M-1")[0]["config"]["reportingInterval"] == 780


@cases(
    ("query", "owed"),
    [
        ({}, {METER, TWIN, LONE, QUIET, GATEWAY}),
        ({"active": "true"}, {METER, TWIN, LONE, QUIET, GATEWAY}),
        ({"active": "false"}, {OLD}),
        ({"active": "null"}, {METER, TWIN, LONE, QUIET, GATEWAY, OLD}),
        ({"serialNumber": "M-1"}, {METER}),
        ({"serialNumber": "m-1"}, set()),
        ({"serialNumber": "M"}, set()),
        ({"serialNumber": "M-%"}, set()),
        ({"serialNumber": "O-1"}, set()),
        ({"serialNumber": "O-1", "active": "null"}, {OLD}),
        ({"serialNumber": "L/1"}, {LONE}),
        ({"serialNumber": "Q 1"}, {QUIET}),
        ({"serialNumber": "M-1\0"}, set()),
        ({"networkUniqueIdentifier": "net-m1"}, {METER}),
        ({"networkUniqueIdentifier": "M-1"}, {LONE}),
        ({"networkUniqueIdentifier": "\0"}, set()),
        ({"serialNumber": "M-1", "networkUniqueIdentifier": "net-t1"}, set()),
    ],
)
def test_filters_match_exactly(world: World, query: dict[str, str], owed: set[str]) -> None:
    assert set(ids(world, **query)) == owed
    paged = world.json("/device", {**query, "pagination": "true"})
    assert ({device["id"] for device in paged["data"]}, paged["total"]) == (owed, len(owed))


SCALARS = (
    "id", "category", "serialNumber", "created", "updated", "label", "installedOn", "installed",
    "alertsActive", "deviceTimeZone", "model", "organizationId", "resellerId", "distributorId",
    "networkUniqueIdentifier",
)  # fmt: skip


@cases("order", ["asc", "desc", "ASC", "DESC", "dEsC", None])
@cases("by", [*SCALARS, None])
def test_order_is_by_the_field_then_by_id_with_nulls_last(
    world: World, by: str | None, order: str | None
) -> None:
    query = {"orderBy": by, "order": order, "active": "null"}
    listed = devices(world, **{name: value for name, value in query.items() if value})
    descending = bool(order) and order.lower() == "desc"
    field = by or "label"
    present = sorted((d for d in listed if d.get(field) is not None), key=lambda d: d["id"])
    present.sort(key=lambda d: d[field], reverse=descending)
    nulls = sorted((d for d in listed if d.get(field) is None), key=lambda d: d["id"])
    assert [d["id"] for d in listed] == [d["id"] for d in [*present, *nulls]]


@cases("pagination", ["true", "false", None])
@cases(("limit", "offset"), [(None, None), (2, None), (2, 2), (None, 3), (9, 4), (1, 99)])
def test_pages(world: World, limit: int | None, offset: int | None, pagination: str | None) -> None:
    whole = devices(world)
    query = {"limit": limit, "offset": offset, "pagination": pagination}
    page = world.json(
        "/device", {name: value for name, value in query.items() if value is not None}
    )
    if pagination == "true":
        assert page["total"] == len(whole)
        assert set(page) == {"data", "total"}
        page = page["data"]
    start = offset or 0
    assert page == whole[start : None if limit is None else start + limit]


def test_the_organization(world: World) -> None:
    (mine,) = world.json("/organizations/mine")
    assert INSTANT.fullmatch(mine.pop("created"))
    assert INSTANT.fullmatch(mine.pop("updated"))
    assert mine == {"id": "org-acme", "name": "Org-Acme", "active": True}


def test_the_version_needs_no_credential(world: World) -> None:
    assert world.json("/version", by="nobody") == {"version": BACKEND_VERSION}
