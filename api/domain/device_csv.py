"""Devices as a CSV file, out and in: what a file would change, row by row, before it does."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final

from api.catalog import FORMULA
from api.domain.device_changes import (
    DeviceChange,
    Editor,
    audit_of,
    created,
    differences,
    new_device,
)
from api.domain.device_fields import FIELD_BY_NAME, FIELDS, as_text, from_text, values_of
from api.errors import BadRequest, Conflict, UserError
from api.store.base import AuditEntry, Device, DeviceQuery, NewDevice, Scope, Store
from api.timez import parse_instant, stamp

SERIAL: Final = "serialNumber"
ID: Final = "id"
UPDATED: Final = "updated"
COLUMNS: Final = (SERIAL, *(each.name for each in FIELDS), ID, UPDATED)
MOST_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Row:
    """``line``: of the file. ``problem``: why it is refused, "" where it isn't. ``pairs``: (before,
    after) by field. ``new``: what the store takes, None where nothing changes."""

    line: int
    serial: str
    deed: str
    problem: str = ""
    pairs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict[str, tuple[Any, Any]])
    new: NewDevice | None = None
    audit: AuditEntry | None = None


def export(devices: Sequence[Device]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for device in devices:
        values = values_of(device)
        texts = [_harmless(as_text(values[each.name]), each.kind) for each in FIELDS]
        updated = stamp(device.updated_ms, fraction=True)
        writer.writerow([_harmless(device.serial_number, "text"), *texts, device.id, updated])
    return text.getvalue()


def _harmless(text: str, kind: str) -> str:
    return f"'{text}" if kind in ("text", "list") and FORMULA.match(text) else text


def _own(text: str) -> str:
    """Without the apostrophe that keeps a spreadsheet from taking a formula from it."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text[1:]) else text


def plan(store: Store, scope: Scope, text: str, editor: Editor) -> list[Row]:
    """What the file would do, in its order; nothing is changed. BadRequest where it isn't a file of
    devices."""
    lines = _lines(text)
    query = DeviceQuery(active=None, order_by="serialNumber")
    devices = store.devices(scope, query)
    by_id = {device.id: device for device in devices}
    by_serial = {device.serial_number: device for device in devices if not device.active}
    by_serial |= {device.serial_number: device for device in devices if device.active}
    seen: set[str] = set()
    rows: list[Row] = []
    for number, line in lines:
        serial = _own(line.get(SERIAL, "").strip())
        device = by_id.get(line.get(ID, "").strip().lower()) or by_serial.get(serial)
        try:
            if not serial:
                raise ValueError(f"{SERIAL} is required")
            if serial in seen:
                raise ValueError(f"{serial} is given twice")
            seen.add(serial)
            rows.append(_row(scope, number, serial, device, line, editor))
        except ValueError as error:
            rows.append(Row(number, serial, "refused", str(error)))
    return rows


def _lines(text: str) -> list[tuple[int, dict[str, str]]]:
    head = text.partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    reader = csv.DictReader(StringIO(text.removeprefix("\ufeff")), delimiter=delimiter)
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        lines = [(reader.line_num, _cells(names, line)) for line in reader]
    except csv.Error as error:
        raise BadRequest(f"The file is not CSV: {error}.") from None
    if SERIAL not in names:
        raise BadRequest(f"The file has no column {SERIAL}.")
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise BadRequest(f"{unknown[0][:80]} is not a field of a device.")
    if len(lines) > MOST_ROWS:
        raise BadRequest(f"The file has {len(lines):,} rows; at most {MOST_ROWS:,} are allowed.")
    return lines


def _cells(names: Sequence[str], line: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value or "" for name, value in zip(names, line.values(), strict=False)}


def _row(
    scope: Scope,
    number: int,
    serial: str,
    device: Device | None,
    line: Mapping[str, str],
    editor: Editor,
) -> Row:
    values = _values(line, is_new=device is None)
    if device is None:
        if not serial.isprintable():
            raise ValueError(f"{SERIAL} has characters that can't be displayed")
        given = {name: value for name, value in values.items() if value not in (None, ())}
        audit = AuditEntry(
            editor.at_ms, scope.organization_id, editor.by, "device", "create", serial,
            after={"serialNumber": serial, **given}, reason="CSV file",
        )  # fmt: skip
        pairs = {name: (None, value) for name, value in given.items()}
        return Row(number, serial, "create", pairs=pairs, new=created(serial, given), audit=audit)
    if device.serial_number != serial:
        raise ValueError(f"id is the id of device {device.serial_number}")
    expected_ms = _expected(line.get(UPDATED, ""))
    if expected_ms is not None and expected_ms != device.updated_ms:
        raise ValueError("somebody else has changed the device since the file was made")
    change = DeviceChange(device, values, device.updated_ms)
    pairs = differences(change)
    if not pairs:
        return Row(number, serial, "unchanged")
    changed = DeviceChange(device, {name: values[name] for name in pairs}, device.updated_ms)
    audit = audit_of(scope, changed, editor, "CSV file")
    return Row(number, serial, "change", pairs=pairs, new=new_device(changed), audit=audit)


def _values(line: Mapping[str, str], *, is_new: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, text in line.items():
        if name not in FIELD_BY_NAME or (is_new and not text.strip()):
            continue
        try:
            values[name] = from_text(FIELD_BY_NAME[name], _own(text))
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    return values


def _expected(text: str) -> int | None:
    try:
        return parse_instant(text.strip()) if text.strip() else None
    except ValueError as error:
        raise ValueError(f"{UPDATED} {error}") from None


def carry_out(store: Store, scope: Scope, rows: Sequence[Row]) -> None:
    """Store what isn't refused, all of it or nothing."""
    new = [row.new for row in rows if row.new is not None]
    audit = [row.audit for row in rows if row.audit is not None]
    try:
        store.import_devices(scope.organization_id, new, audit)
    except UserError as error:
        raise Conflict(f"{error}.") from None
