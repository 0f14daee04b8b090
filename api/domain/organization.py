"""Changes of an organization and of its groups, and problems with its data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from api.catalog import UNIT_SYSTEMS
from api.domain.device_changes import DeviceChange, Editor, change, require_whole
from api.domain.device_fields import values_of
from api.errors import BadRequest, Conflict, NotFound
from api.metering.cost import DEFAULT_CURRENCY
from api.metering.units import words_in
from api.store.base import (
    AuditEntry,
    Device,
    DeviceQuery,
    Directory,
    Grant,
    Organization,
    OrganizationChange,
    RefusalSummary,
    Scope,
    Store,
)
from api.timez import stamp

CHANGED: Final = "Somebody else has changed these settings meanwhile."
NO_SUCH_GROUP: Final = "Group not found."


def organization_object(store: Store, scope: Scope) -> dict[str, Any]:
    organization = stored(store, scope)
    settings = store.organization_settings(scope.organization_id)
    return {
        "id": organization.id,
        "name": organization.name,
        "price": organization.default_cost_per_gallon,
        "currency": settings.get("currency", DEFAULT_CURRENCY),
        "zone": settings.get("zone", "UTC"),
        "units": settings.get("units", UNIT_SYSTEMS[0]),
        "holidays": list(store.holidays(scope.organization_id)),
        "updated": stamp(organization.updated_ms, fraction=True),
    }


def units_of(store: Directory, organization_id: str) -> str:
    """The units of readers who haven't chosen any: a name of `catalog.UNIT_SYSTEMS`."""
    return store.organization_settings(organization_id).get("units", UNIT_SYSTEMS[0])


def currency_of(store: Directory, organization_id: str) -> str:
    """The currency of prices that name none."""
    return store.organization_settings(organization_id).get("currency", DEFAULT_CURRENCY)


def zone_of(store: Directory, organization_id: str) -> str:
    """The time zone of new devices."""
    return store.organization_settings(organization_id).get("zone", "UTC")


def stored(store: Store, scope: Scope) -> Organization:
    organization = store.organization(scope.organization_id)
    if organization is None:
        raise NotFound("Organization not found.")
    return organization


def change_organization(
    store: Store,
    scope: Scope,
    values: Mapping[str, Any],
    expected_ms: int | None,
    editor: Editor,
) -> None:
    """Changes settings. ``values``: some of name, price, currency, zone, units and holidays,
    already checked."""
    require_whole(scope)
    before = organization_object(store, scope)
    after = {**before, **values}
    if expected_ms not in (None, stored(store, scope).updated_ms):  # the store checks again
        raise Conflict(CHANGED, reason="changed")
    differing = [name for name in values if before[name] != after[name]]
    if not differing:
        return
    settings = {
        "currency": None if after["currency"] == DEFAULT_CURRENCY else after["currency"],
        "zone": None if after["zone"] == "UTC" else after["zone"],
        "units": None if after["units"] == UNIT_SYSTEMS[0] else after["units"],
    }
    wanted = OrganizationChange(
        after["name"],
        after["price"],
        settings,
        after["holidays"] if "holidays" in differing else None,
        expected_ms,
    )
    was, now = (
        {"name": state["name"], **{n: state[n] for n in differing}} for state in (before, after)
    )
    audit = AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "organization", "change",
        scope.organization_id, was, now,
    )  # fmt: skip
    store.change_organization(scope.organization_id, wanted, [audit])


# --- Groups --------------------------------------------------------------------------------------


def groups(store: Store, scope: Scope) -> list[dict[str, Any]]:
    """Returns each group with its devices, and with the keys and rules that are limited to it."""
    members: dict[str, list[Device]] = {}
    for device in store.devices(scope, DeviceQuery(active=None)):
        for name in (device.config or {}).get("groups") or ():
            members.setdefault(name, []).append(device)
    every_key = store.keys()
    keys = [key for key in every_key if key.organization_id == scope.organization_id]
    return [
        {
            "name": name,
            "devices": len(devices),
            "inactive": sum(not device.active for device in devices),
            "keys": [
                key.name or key.key_id
                for key in keys
                if name in key.grant.groups and key.revoked_ms is None
            ],
        }
        for name, devices in sorted(members.items())
    ]


def members(store: Store, scope: Scope, name: str) -> list[Device]:
    named = Scope(scope.organization_id, Grant(groups=frozenset({name})))
    return store.devices(named, DeviceQuery(active=None))


def change_members(
    store: Store,
    scope: Scope,
    name: str,
    add: Collection[Device],
    remove: Collection[Device],
    editor: Editor,
) -> int:
    """Returns how many devices joined or left. Raises Conflict where somebody else has changed one
    since."""
    require_whole(scope)
    changes: list[DeviceChange] = []
    for device, joins in (*((d, True) for d in add), *((d, False) for d in remove)):
        before = values_of(device)["groups"]
        rest = [each for each in before if each != name]
        after = tuple([*rest, name] if joins else rest)
        if set(after) != set(before):
            changes.append(DeviceChange(device, {"groups": after}, device.updated_ms))
    return change(store, scope, changes, editor)


def create_group(
    store: Store, scope: Scope, name: str, devices: Collection[Device], editor: Editor
) -> None:
    """Creates a group. Raises Conflict if the name is taken. A group exists only by its devices, so
    it needs one."""
    require_whole(scope)
    if not devices:
        raise BadRequest("A group needs a device: choose at least one.")
    if members(store, scope, name):
        raise Conflict(f"There is a group {name} already.")
    change_members(store, scope, name, devices, (), editor)


def rename_group(store: Store, scope: Scope, name: str, new_name: str, editor: Editor) -> None:
    require_whole(scope)
    _require_group(store, scope, name)
    audit = _group_audit(scope, "rename", name, editor, {"name": name}, {"name": new_name})
    store.rename_group(scope.organization_id, name, new_name, [audit])


def delete_group(store: Store, scope: Scope, name: str, editor: Editor) -> None:
    require_whole(scope)
    _require_group(store, scope, name)
    serials = [device.serial_number for device in members(store, scope, name)]
    before = {"name": name, "devices": serials[:100]}
    audit = _group_audit(scope, "delete", name, editor, before, None)
    store.delete_group(scope.organization_id, name, [audit])


def _require_group(store: Store, scope: Scope, name: str) -> None:
    if not members(store, scope, name):
        raise NotFound(NO_SUCH_GROUP)


def _group_audit(
    scope: Scope,
    action: str,
    name: str,
    editor: Editor,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> AuditEntry:
    return AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "group", action, name, before, after
    )


# --- Quality -------------------------------------------------------------------------------------


def quality(store: Store, scope: Scope) -> dict[str, Any]:
    """Returns the refused readings by reason, and the devices that send readings without a time."""
    refusals = sorted(store.refusals(scope.organization_id), key=lambda each: -each.last_seen_ms)
    existing = store.resolve(scope, [each.device for each in refusals])
    units = units_of(store, scope.organization_id)
    return {
        "refused": sum(each.count for each in refusals),
        "refusals": [
            _refusal(each, exists=device is not None)
            for each, device in zip(refusals, existing, strict=True)
        ],
        "suspicious": [
            {
                "device": each.device,
                "reason": each.reason,
                "first": stamp(each.first_seen_ms),
                "last": stamp(each.last_seen_ms),
                "sample": words_in(each.sample, units),
            }
            for each in store.suspicions(scope.organization_id)
        ],
        "undated": [
            {
                "device": each.serial_number,
                "count": each.count,
                "first": stamp(each.first_ms),
                "last": stamp(each.last_ms),
            }
            for each in store.clockless(scope.organization_id)
        ],
    }


def _refusal(each: RefusalSummary, *, exists: bool) -> dict[str, Any]:
    return {
        "source": each.source,
        "reason": each.reason,
        "device": each.device,
        "count": each.count,
        "first": stamp(each.first_seen_ms),
        "last": stamp(each.last_seen_ms),
        "sample": each.sample,
        "exists": exists,
    }
