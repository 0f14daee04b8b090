"""`weir devices`: the devices of an organization."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from api.catalog import COARSEST_STORED, RAW
from api.commands.arguments import (
    ORG,
    UNITS,
    audited,
    author,
    everything,
    instant,
    organization,
    units_of,
)
from api.commands.command import Group, note, warn, when
from api.commands.store_access import opened
from api.domain import device_changes
from api.domain.device_changes import Editor
from api.domain.device_fields import FIELD_BY_NAME, values_of
from api.errors import UserError
from api.store.base import Device, DeviceQuery, NewDevice, Span, Store
from api.suggestions import did_you_mean
from api.timez import now_ms, stamp

group = Group("devices", help="Devices.")


@group.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@ORG
@click.option("--pretend", is_flag=True, help="Only report what a CSV file would change.")
def import_file(file: Path, organization_id: str, pretend: bool) -> object:
    """Create or update devices from a JSON array, or from a CSV file in the form of `export`.

    Devices are matched by serial number. Refused rows of a CSV file are listed and left out.
    """
    from api.commands.device_file import read

    if file.suffix.lower() == ".csv":
        return _import_csv(file, organization_id, pretend=pretend)
    if pretend:
        raise UserError("--pretend is for CSV files")
    devices = read(file, organization_id)
    for warning in devices.warnings:
        warn(warning)
    with opened() as store:
        organization(store, organization_id)
        imported = store.import_devices(organization_id, devices.devices)
    return {"created": imported.created, "updated": imported.updated}


def _import_csv(file: Path, organization_id: str, *, pretend: bool) -> object:
    from api.domain import device_csv

    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} can't be read: {error}") from None
    editor = _editor()
    with opened(read_only=pretend) as store:
        organization(store, organization_id)
        rows = device_csv.plan(store, everything(organization_id), text, editor)
        for row in rows:
            if row.problem:
                warn(f"line {row.line} ({row.serial}) is refused: {row.problem}")
            elif pretend and row.pairs:
                fields = ", ".join(row.pairs)
                note(f"line {row.line}: would {row.deed} {row.serial}: {fields}")
        if not pretend:
            device_csv.carry_out(store, everything(organization_id), rows)
    counts = {
        name: sum(row.deed == deed for row in rows)
        for name, deed in (("created", "create"), ("updated", "change"), ("refused", "refused"))
    }
    return counts if pretend else {**counts, "at": stamp(editor.at_ms, fraction=True)}


@group.command("undo-import")
@ORG
@click.option("--at", help="When the file was imported, as `import` says. Default: the latest.")
def undo_import(organization_id: str, at: str | None) -> object:
    """Undo the import of a CSV file: changed devices get their values back, created ones go.

    Devices that were changed or used since stay as they are, and are listed.
    """
    from api.domain import device_csv_undo

    with opened() as store:
        organization(store, organization_id)
        scope = everything(organization_id)
        at_ms = device_csv_undo.latest(store, scope) if at is None else instant("--at", at)
        done = device_csv_undo.undo(store, scope, at_ms, _editor())
    for serial in done.stay:
        warn(f"{serial} stays: it was changed or used since")
    return {"at": stamp(at_ms, fraction=True), "restored": done.restored, "deleted": done.deleted,
            "stay": list(done.stay)}  # fmt: skip


@group.command()
@ORG
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write.")
def export(organization_id: str, out: Path) -> object:
    """Write all devices to a CSV file, which `import` reads."""
    from api.domain import device_csv
    from api.domain import organization as rules

    with opened(read_only=True) as store:
        organization(store, organization_id)
        units = rules.units_of(store, organization_id)
        query = DeviceQuery(active=None, order_by="serialNumber")
        devices = store.devices(everything(organization_id), query)
    try:
        out.write_text(device_csv.export(devices, units), "utf-8")
    except OSError as error:
        raise UserError(f"{out} can't be written: {error.strerror or error}") from None
    return {"file": str(out), "devices": len(devices)}


def _editor() -> Editor:
    return Editor(author(), now_ms())


@group.command("list")
@ORG
@click.option("--inactive", is_flag=True, help="Only the inactive ones.")
def list_all(organization_id: str, inactive: bool) -> object:
    """List an organization's devices, active and inactive."""
    with opened(read_only=True) as store:
        organization(store, organization_id)
        query = DeviceQuery(active=False if inactive else None, order_by="serialNumber")
        return [
            {
                "serialNumber": device.serial_number,
                "label": device.label,
                "active": device.active,
                "groups": (device.config or {}).get("groups", []),
                "lastHour": when(_last_hour(store, device)),
                "id": device.id,
            }
            for device in store.devices(everything(organization_id), query)
        ]


def _last_hour(store: Store, device: Device) -> int | None:
    bounds = store.bounds(device, COARSEST_STORED, Span())
    return None if bounds is None else bounds[1]


@group.command()
@click.argument("serial", metavar="SERIAL")
@click.argument("pairs", metavar="FIELD=VALUE...", nargs=-1)
@ORG
@UNITS
def create(serial: str, pairs: tuple[str, ...], organization_id: str, units: str | None) -> object:
    """Create a device with this serial number. Fields are as in `set`."""
    with opened() as store:
        organization(store, organization_id)
        values = _typed(None, pairs, units_of(store, organization_id, units))
        device_changes.create(store, everything(organization_id), serial, values, _editor())
        device = _device(store, organization_id, serial)
    return {"id": device.id, "serialNumber": device.serial_number}


@group.command()
@click.argument("identifier", metavar="DEVICE")
@ORG
def deactivate(identifier: str, organization_id: str) -> object:
    """Deactivate a device: it leaves lists, sums and uptime. Its readings stay; `activate` undoes
    it."""
    return _set_active(identifier, organization_id, active=False)


@group.command()
@click.argument("identifier", metavar="DEVICE")
@ORG
def activate(identifier: str, organization_id: str) -> object:
    """Activate an inactive device. Name it by its id; see `weir devices list --inactive`."""
    return _set_active(identifier, organization_id, active=True)


def _set_active(identifier: str, organization_id: str, *, active: bool) -> object:
    with opened() as store:
        device = _device(store, organization_id, identifier)
        if device.active is not active:
            audit = audited(
                organization_id, "device", "activate" if active else "deactivate", device.id,
                before={"active": device.active}, after={"active": active},
            )  # fmt: skip
            store.set_device_active(device, active, audit)
    return {"id": device.id, "serialNumber": device.serial_number, "active": active}


@group.command()
@click.argument("identifier", metavar="DEVICE")
@ORG
@click.option("--reason", required=True, help="Why, for the audit log.")
@click.option("--pretend", is_flag=True, help="Only report what would be deleted.")
def delete(identifier: str, organization_id: str, reason: str, pretend: bool) -> object:
    """Delete a device, its readings and all other data about it, for good.

    A writer may be running. Readings that the device sends afterwards are refused.
    """
    if pretend:
        with opened(read_only=True) as store:
            return _extent(store, _device(store, organization_id, identifier))
    with opened() as store:
        device = _device(store, organization_id, identifier)
        counts = _extent(store, device)
        device_changes.delete(store, everything(organization_id), device, reason, _editor())
    return counts


def _device(store: Store, organization_id: str, identifier: str) -> Device:
    """Returns an active device, or an inactive one by its id or by a serial number that no other
    device has."""
    organization(store, organization_id)
    scope = everything(organization_id)
    (device,) = store.resolve(scope, [identifier])
    if device is None:
        query = DeviceQuery(active=None, serial_number=identifier, limit=2)
        same = store.devices(scope, query)
        device = same[0] if len(same) == 1 else None
    if device is None:
        raise UserError(f"{identifier}: device not found; see weir devices list")
    return device


def _extent(store: Store, device: Device) -> dict[str, object]:
    return {
        "id": device.id,
        "serialNumber": device.serial_number,
        "readings": store.count(device, RAW, Span()),
    }


@group.command("set")
@click.argument("identifier", metavar="DEVICE")
@click.argument("pairs", metavar="FIELD=VALUE...", nargs=-1, required=True)
@ORG
@click.option("--reason", default="", help="Why, for the audit log.")
@UNITS
def set_some(
    identifier: str, pairs: tuple[str, ...], organization_id: str, reason: str, units: str | None
) -> object:
    """Set fields of a device; an empty value clears one. Prices and flows are in the organization's
    units. See docs/administration.md."""
    with opened() as store:
        scope = everything(organization_id)
        device = _in_context(store, organization_id, identifier)
        values = _typed(device, pairs, units_of(store, organization_id, units))
        each = device_changes.DeviceChange(device, values, device.updated_ms)
        names = list(device_changes.differences(each))
        device_changes.change(store, scope, [each], _editor(), reason)
    return {"id": device.id, "serialNumber": device.serial_number, "changed": names}


def _typed(device: Device | None, pairs: Sequence[str], units: str) -> dict[str, Any]:
    from api.domain.device_csv import typed_value
    from api.metering.units import shown_unit, words_in

    values, before = dict[str, Any](), values_of(device) if device else {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UserError(f"{pair}: must be FIELD=VALUE")
        if name not in FIELD_BY_NAME:
            raise UserError(f"unknown field {did_you_mean(name, FIELD_BY_NAME)}")
        field = FIELD_BY_NAME[name]
        try:
            values[name] = typed_value(field, text, shown_unit(field.unit, units), before.get(name))
        except ValueError as error:
            raise UserError(f"{name} {words_in(str(error), units)}") from None
    return values


@group.command()
@click.argument("identifier", metavar="DEVICE")
@ORG
@click.option("--at", required=True, help="When, ISO 8601.")
@click.option("--last", type=float, help="The old meter's last register. Default: unknown.")
@click.option(
    "--first", type=float, default=0.0, show_default=True, help="The new meter's first register."
)
@click.option("--undo", is_flag=True, help="Take the exchange at this time back.")
def exchange(
    identifier: str, organization_id: str, at: str, last: float | None, first: float, undo: bool
) -> object:
    """Record that a device's meter was exchanged, so that its register doesn't count as a fall."""
    new = device_changes.Exchange(instant("--at", at), last, first)
    with opened() as store:
        scope, device = (
            everything(organization_id),
            _in_context(store, organization_id, identifier),
        )
        each = device_changes.DeviceChange(device, {}, device.updated_ms)
        if undo:
            device_changes.undo_exchange(store, scope, each, new.at_ms, _editor())
        else:
            device_changes.exchange(store, scope, each, new, _editor())
    return {"id": device.id, "serialNumber": device.serial_number, **new.row}


def _in_context(store: Store, organization_id: str, identifier: str) -> Device:
    """Returns the device with its groups and its parent."""
    device = _device(store, organization_id, identifier)
    return device_changes.named(store, everything(organization_id), [device.id])[0]


@group.command()
@click.argument("device")
@click.argument("parent", required=False)
@click.option("--none", "none", is_flag=True, help="Take it from its main.")
@ORG
def parent(device: str, parent: str | None, none: bool, organization_id: str) -> object:
    """Put DEVICE downstream of the meter PARENT. Sums then count its water once, at the main.

    Name both by serial number, network identifier or UUID.
    """
    if none == (parent is not None):
        raise click.UsageError("name a PARENT, or --none")
    with opened() as store:
        organization(store, organization_id)
        wanted = [device] if parent is None else [device, parent]
        resolved = store.resolve(everything(organization_id), wanted)
        for identifier, each in zip(wanted, resolved, strict=True):
            if each is None:
                raise UserError(f"no device {identifier} in this organization")
        serials = [each.serial_number for each in resolved if each is not None]
        upstream = serials[1] if parent is not None else None
        store.import_devices(organization_id, [NewDevice(serials[0], {"parent": upstream})])
    return {"device": serials[0], "parent": upstream}
