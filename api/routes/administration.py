"""``/admin/v1``: the organization, its devices and groups, and the quality of its data.

For administrators. What affects other people's access or all devices needs a credential for all
devices; an administrator of some devices may change those.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from api.catalog import ADMIN_BODY_BYTES, ADMIN_PREFIX, TOPIC_PREFIX
from api.domain import demo_fleet, device_csv, device_csv_undo, organization
from api.domain import device_changes as devices
from api.domain.device_changes import DeviceChange, Editor, require_whole
from api.domain.device_fields import FIELD_BY_NAME, FIELDS, checked, values_of
from api.errors import BadRequest, Conflict, ParameterProblem, invalid_fields
from api.openapi import Operation, ref
from api.openapi.administration import ADMIN_INFO
from api.params import Query
from api.params import administration as params
from api.roles import Role
from api.routes.administration_keys import KEY_ACTIONS, KEY_ROUTES
from api.routes.document import document_route
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import Device, DeviceQuery
from api.telemetry import writer_status
from api.timez import stamp


def _editor(call: ActionCall[Any]) -> Editor:
    return Editor(call.by, call.now_ms)


# --- The organization ----------------------------------------------------------------------------


def get_organization(call: Call[Query]) -> Reply:
    require_whole(call.scope)
    return Reply(organization.organization_object(call.store, call.scope))


def change_organization(call: ActionCall[params.OrganizationBody]) -> Reply:
    organization.change_organization(
        call.store, call.scope, call.body.values, call.body.updated, _editor(call)
    )
    return Reply(organization.organization_object(call.store, call.scope))


# --- Devices -------------------------------------------------------------------------------------


def device_object(device: Device) -> dict[str, Any]:
    return {
        "id": device.id,
        "serialNumber": device.serial_number,
        "updated": instant(device.updated_ms),
        "created": instant(device.created_ms),
        **values_of(device),
        "exchanges": devices.exchanges_of(device),
    }


def list_devices(call: Call[params.DeviceListQuery]) -> Reply:
    query = call.query
    chosen = DeviceQuery(
        active=query.active,
        text=query.q or None,
        group=query.group,
        limit=query.limit,
        offset=query.offset,
    )
    count, devices_ = call.store.device_page(call.scope, chosen)
    return Reply(
        {
            "count": count,
            "limit": query.limit,
            "offset": query.offset,
            "data": [device_object(device) for device in devices_],
        }
    )


def list_fields(call: Call[Query]) -> Reply:
    """Returns the same for every administrator."""
    rows = [
        {
            "name": field.name,
            "label": field.label,
            "section": field.section,
            "kind": field.kind,
            "unit": field.unit,
            "hint": field.hint,
            "choices": list(field.choices),
            "required": field.required,
            "inGrid": field.in_grid,
        }
        for field in FIELDS
    ]
    return Reply({"count": len(rows), "limit": len(rows), "offset": 0, "data": rows})


def create_device(call: ActionCall[params.NewDeviceBody]) -> Reply:
    body = call.body
    values = devices.checked_values(body.values)
    devices.create(call.store, call.scope, body.serial, values, _editor(call))
    (device,) = call.store.resolve(call.scope, [body.serial])
    assert device is not None  # created in this call
    return Reply(device_object(devices.named(call.store, call.scope, [device.id])[0]))


def change_devices(call: ActionCall[params.DevicesBody]) -> Reply:
    body = call.body
    values = devices.checked_values(body.values)
    chosen = devices.named(call.store, call.scope, body.devices)
    seen = (None,) * len(chosen) if body.updated is None else body.updated
    if len(seen) != len(chosen):
        raise invalid_fields(updated="must have an entry for each of devices")
    changes = [
        DeviceChange(device, values, expected)
        for device, expected in zip(chosen, seen, strict=True)
    ]
    _refuse_stale(changes)
    changed = devices.change(call.store, call.scope, changes, _editor(call), body.reason)
    after = devices.named(call.store, call.scope, body.devices)
    return Reply({"changed": changed, "data": [device_object(device) for device in after]})


def _refuse_stale(changes: list[DeviceChange]) -> None:
    """Refuses stale changes, even those that would change nothing. The store checks again when it
    writes."""
    for each in changes:
        if each.expected_ms not in (None, each.device.updated_ms):
            raise Conflict(
                f"Somebody else has changed device {each.device.serial_number} meanwhile.",
                reason="changed",
            )


def _one(call: ActionCall[Any]) -> Device:
    return devices.named(call.store, call.scope, [call.identifier])[0]


def get_extent(call: Call[Query]) -> Reply:
    device = devices.named(call.store, call.scope, [call.identifier])[0]
    return Reply(devices.extent(call.store, device))


def delete_device(call: ActionCall[params.DeleteDeviceBody]) -> Reply:
    device = _one(call)
    if call.body.serial != device.serial_number:
        problem = ParameterProblem("serialNumber", f"must be {device.serial_number}")
        raise BadRequest("The serial number doesn't match.", errors=(problem,))
    gone = devices.delete(call.store, call.scope, device, call.body.reason, _editor(call))
    return Reply({"id": device.id, "readings": gone})


def exchange_meter(call: ActionCall[params.ExchangeBody]) -> Reply:
    body, device = call.body, _one(call)
    values: dict[str, Any] = {}
    if body.network_id is not None:
        field = FIELD_BY_NAME["networkUniqueIdentifier"]
        values[field.name] = checked(field, body.network_id)
    change = DeviceChange(device, values, body.updated or device.updated_ms)
    new = devices.Exchange(body.at_ms, body.last, body.first)
    devices.exchange(call.store, call.scope, change, new, _editor(call))
    return Reply(device_object(_one(call)))


def undo_exchange(call: ActionCall[params.UndoExchangeBody]) -> Reply:
    device = _one(call)
    change = DeviceChange(device, {}, call.body.updated or device.updated_ms)
    devices.undo_exchange(call.store, call.scope, change, call.body.at_ms, _editor(call))
    return Reply(device_object(_one(call)))


def get_device_file(call: Call[Query]) -> Reply:
    query = DeviceQuery(active=None, order_by="serialNumber")
    units = organization.units_of(call.store, call.scope.organization_id)
    return Reply({"csv": device_csv.export(call.store.devices(call.scope, query), units)})


def import_device_file(call: ActionCall[params.DeviceFileBody]) -> Reply:
    require_whole(call.scope)
    editor = _editor(call)
    rows = device_csv.plan(call.store, call.scope, call.body.csv, editor)
    if not call.body.preview:
        device_csv.carry_out(call.store, call.scope, rows)
    deeds = [row.deed for row in rows]
    return Reply(
        {
            "preview": call.body.preview,
            "created": deeds.count("create"),
            "changed": deeds.count("change"),
            "unchanged": deeds.count("unchanged"),
            "refused": deeds.count("refused"),
            "rows": [_file_row(row) for row in rows if row.deed != "unchanged"],
            "at": None if call.body.preview else stamp(editor.at_ms, fraction=True),
        }
    )


def undo_device_file(call: ActionCall[params.UndoDeviceFileBody]) -> Reply:
    done = device_csv_undo.undo(call.store, call.scope, call.body.at_ms, _editor(call))
    return Reply({"restored": done.restored, "deleted": done.deleted, "stay": list(done.stay)})


def _file_row(row: device_csv.Row) -> dict[str, Any]:
    return {
        "line": row.line,
        "serialNumber": row.serial,
        "deed": row.deed,
        "problem": row.problem or None,
        "changes": [
            {"field": name, "before": before, "after": after}
            for name, (before, after) in row.pairs.items()
        ],
    }


# --- Groups --------------------------------------------------------------------------------------


def list_groups(call: Call[Query]) -> Reply:
    require_whole(call.scope)
    rows = organization.groups(call.store, call.scope)
    return Reply({"count": len(rows), "limit": len(rows), "offset": 0, "data": rows})


def create_group(call: ActionCall[params.NewGroupBody]) -> Reply:
    require_whole(call.scope)
    members = devices.named(call.store, call.scope, call.body.devices)
    organization.create_group(call.store, call.scope, call.body.name, members, _editor(call))
    return Reply({"name": call.body.name, "devices": len(members)})


def change_group(call: ActionCall[params.GroupBody]) -> Reply:
    require_whole(call.scope)
    body, name = call.body, call.body.name
    add, remove = (devices.named(call.store, call.scope, ids) for ids in (body.add, body.remove))
    changed = 0
    if add or remove:
        changed = organization.change_members(
            call.store, call.scope, name, add, remove, _editor(call)
        )
    if body.new_name not in (None, name):
        organization.rename_group(call.store, call.scope, name, body.new_name, _editor(call))
        name = body.new_name
    return Reply({"name": name, "devices": len(organization.members(call.store, call.scope, name)),
                  "changed": changed})  # fmt: skip


def delete_group(call: ActionCall[params.GroupNameBody]) -> Reply:
    organization.delete_group(call.store, call.scope, call.body.name, _editor(call))
    return Reply({"name": call.body.name})


# --- Quality -------------------------------------------------------------------------------------


def get_quality(call: Call[Query]) -> Reply:
    require_whole(call.scope)
    return Reply(organization.quality(call.store, call.scope))


def get_reception(call: Call[Query]) -> Reply:
    """Returns whether anything arrives, for someone who connects the first meter."""
    require_whole(call.scope)
    store, scope, settings = call.store, call.scope, call.settings
    status = None if settings is None else writer_status.read(Path(settings.instance))
    return Reply(
        {
            "topic": f"{TOPIC_PREFIX}/{scope.organization_id}/{{networkUniqueIdentifier}}/up",
            "devices": store.count_devices(scope, DeviceQuery(active=None)),
            "refused": sum(each.count for each in store.refusals(scope.organization_id)),
            "writer": status is not None and status.fresh,
            "broker": bool(settings and (settings.mqtt_url or settings.mqtt_listen)),
            "problem": (status.problem or status.feed or "") if status else "",
            "lastMessage": None
            if status is None or status.last_message_s is None
            else instant(round(status.last_message_s * 1000)),
        }
    )


# --- The demo fleet -------------------------------------------------------------------------------


def get_demo(call: Call[Query]) -> Reply:
    store, settings = call.store, call.settings
    status = None if settings is None else writer_status.read(Path(settings.instance))
    writer = status is not None and status.fresh
    return Reply({**demo_fleet.status(store, call.scope), "writer": writer})


def create_demo(call: ActionCall[params.DemoBody]) -> Reply:
    demo_fleet.begin(call.store, call.scope, _editor(call))
    return Reply(demo_fleet.status(call.store, call.scope))


def remove_demo(call: ActionCall[params.RemoveDemoBody]) -> Reply:
    demo_fleet.remove(call.store, call.scope, call.body.confirm, _editor(call))
    return Reply(demo_fleet.status(call.store, call.scope))


# --- The routes ----------------------------------------------------------------------------------


def _route(
    answer: Any, id: str, path: str, tag: str, summary: str, schema: str, **more: Any
) -> Route:
    query = more.pop("query", Query)
    operation = Operation(
        id=id, path=f"{ADMIN_PREFIX}{path}", tag=tag, summary=summary, answer=ref(schema),
        query=query, **more,
    )  # fmt: skip
    return Route(operation, answer, role=Role.ADMINISTRATOR)


def _action(
    answer: Any, id: str, verb: Any, path: str, tag: str, summary: str, schemas: tuple[str, str],
    body: Any, *, body_bytes: int = ADMIN_BODY_BYTES, **more: Any,
) -> Action:  # fmt: skip
    operation = Operation(
        id=id, path=f"{ADMIN_PREFIX}{path}", tag=tag, summary=summary, answer=ref(schemas[0]),
        query=Query, body=ref(schemas[1]), verb=verb, **more,
    )  # fmt: skip
    return Action(operation, answer, body, role=Role.ADMINISTRATOR, body_bytes=body_bytes)


_DEVICE: Final[dict[str, Any]] = {"named": "A device's UUID."}
_NAMED: Final = {"named_in_query": True}
_ROUTES: Final = (
    _route(get_organization, "getOrganization", "/organization", "organization",
           "The organization's name, price, zone and holidays", "AdminOrganization"),
    _route(list_devices, "listAdminDevices", "/devices", "devices",
           "Devices with every field that can be changed, by label", "AdminDevices",
           query=params.DeviceListQuery),
    _route(list_fields, "listDeviceFields", "/devices/fields", "devices",
           "The fields of a device that can be changed", "DeviceFields"),
    _route(get_extent, "getDeviceExtent", "/devices/{id}/extent", "devices",
           "What would be deleted with a device", "DeviceExtent", **_DEVICE),
    _route(get_device_file, "getDeviceFile", "/devices/file", "devices",
           "All devices as a CSV file", "DeviceFile"),
    _route(list_groups, "listAdminGroups", "/groups", "groups",
           "The groups, and which keys are limited to them", "AdminGroups"),
    _route(get_quality, "getQuality", "/quality", "quality",
           "Refused readings by reason, and devices without a clock", "Quality"),
    _route(get_reception, "getReception", "/reception", "quality",
           "Whether anything arrives", "Reception"),
    _route(get_demo, "getDemo", "/demo", "organization",
           "Whether there is a demo fleet, and how far it is", "DemoFleet"),
    *KEY_ROUTES,
)  # fmt: skip
ADMIN_ACTIONS: Final = (
    _action(change_organization, "changeOrganization", "patch", "/organization", "organization",
            "Changes the organization", ("AdminOrganization", "OrganizationBody"),
            params.OrganizationBody),
    _action(create_device, "createDevice", "", "/devices", "devices", "Creates a device",
            ("AdminDevice", "NewDeviceBody"), params.NewDeviceBody, status=201),
    _action(change_devices, "changeDevices", "patch", "/devices", "devices",
            "Sets some fields of one or many devices", ("ChangedDevices", "DevicesBody"),
            params.DevicesBody, **_NAMED),
    _action(import_device_file, "importDeviceFile", "", "/devices/file", "devices",
            "Creates and changes devices by a CSV file, or previews that",
            ("DeviceFileResult", "DeviceFileBody"), params.DeviceFileBody),
    _action(undo_device_file, "undoDeviceFile", "delete", "/devices/file", "devices",
            "Undoes the import of a CSV file", ("UndoneDeviceFile", "UndoDeviceFileBody"),
            params.UndoDeviceFileBody),
    _action(delete_device, "deleteDevice", "delete", "/devices/{id}", "devices",
            "Deletes a device with its readings, for good", ("DeletedDevice", "DeleteDeviceBody"),
            params.DeleteDeviceBody, **_DEVICE),
    _action(exchange_meter, "exchangeMeter", "", "/devices/{id}/exchanges", "devices",
            "Records the exchange of a device's meter", ("AdminDevice", "ExchangeBody"),
            params.ExchangeBody, status=201, **_DEVICE),
    _action(undo_exchange, "undoExchange", "delete", "/devices/{id}/exchanges", "devices",
            "Removes a recorded exchange", ("AdminDevice", "UndoExchangeBody"),
            params.UndoExchangeBody, **_DEVICE),
    _action(create_group, "createGroup", "", "/groups", "groups", "Creates a group of devices",
            ("ChangedGroup", "NewGroupBody"), params.NewGroupBody, status=201, **_NAMED),
    _action(change_group, "changeGroup", "patch", "/groups", "groups",
            "Renames a group, adds and removes devices", ("ChangedGroup", "GroupBody"),
            params.GroupBody, **_NAMED),
    _action(delete_group, "deleteGroup", "delete", "/groups", "groups",
            "Deletes a group; its devices stay", ("GroupNameBody", "GroupNameBody"),
            params.GroupNameBody, **_NAMED),
    _action(create_demo, "createDemo", "", "/demo", "organization",
            "Requests the demo fleet, in an empty store", ("DemoFleet", "DemoBody"),
            params.DemoBody),
    _action(remove_demo, "removeDemo", "delete", "/demo", "organization",
            "Requests the removal of the demo fleet", ("DemoFleet", "RemoveDemoBody"),
            params.RemoveDemoBody),
    *KEY_ACTIONS,
)  # fmt: skip
ADMIN_ROUTES: Final = (
    *_ROUTES,
    document_route((*_ROUTES, *ADMIN_ACTIONS), ADMIN_PREFIX, "getAdminJson", ADMIN_INFO),
)
