"""Devices as a CSV file: export, and a preview of what an import would change, row by row."""

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
from api.domain.device_fields import (
    FIELD_BY_NAME,
    FIELDS,
    EditableField,
    as_text,
    from_text,
    values_of,
)
from api.errors import BadRequest, Conflict, UserError
from api.metering.units import METRIC_UNITS, ShownUnit, shown_unit
from api.store.base import AuditEntry, Device, DeviceQuery, NewDevice, Scope, Store
from api.suggestions import nearest
from api.timez import parse_instant, stamp

SERIAL: Final = "serialNumber"
ID: Final = "id"
UPDATED: Final = "updated"
COLUMNS: Final = (SERIAL, *(each.name for each in FIELDS), ID, UPDATED)
MOST_ROWS: Final = 100_000
REASON: Final = "CSV file"
UNDO_REASON: Final = "Undo of a CSV file"
Line = Mapping[str, tuple[str, ShownUnit]]
"""The cells of a row by field, each with the unit that its heading names."""


@dataclass(frozen=True, slots=True)
class Row:
    """``line`` is the line of the file. ``problem`` says why it is refused, "" if it isn't.
    ``pairs`` are (before, after) by field. ``new`` is what the store takes, None where nothing
    changes."""

    line: int
    serial: str
    deed: str
    problem: str = ""
    pairs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict[str, tuple[Any, Any]])
    new: NewDevice | None = None
    audit: AuditEntry | None = None


def export(devices: Sequence[Device], units: str) -> str:
    """``units``: a name of `catalog.UNIT_SYSTEMS`; headings name the unit of their column."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([SERIAL, *(_heading(each, units) for each in FIELDS), ID, UPDATED])
    for device in devices:
        values = values_of(device)
        texts = [_cell(each, values[each.name], shown_unit(each.unit, units)) for each in FIELDS]
        updated = stamp(device.updated_ms, fraction=True)
        writer.writerow([_harmless(device.serial_number, "text"), *texts, device.id, updated])
    return text.getvalue()


def _heading(field: EditableField, units: str) -> str:
    return f"{field.name} ({shown_unit(field.unit, units).name})" if field.unit else field.name


def _cell(field: EditableField, value: Any, unit: ShownUnit) -> str:
    if field.unit and value is not None:
        value = unit.shown(value)
    return _harmless(as_text(value), field.kind)


def _harmless(text: str, kind: str) -> str:
    return f"'{text}" if kind in ("text", "list") and FORMULA.match(text) else text


def _own(text: str) -> str:
    """Removes the apostrophe that keeps a spreadsheet from reading a text as a formula."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text[1:]) else text


def plan(store: Store, scope: Scope, text: str, editor: Editor) -> list[Row]:
    """Returns what the file would do, in its order; changes nothing. Raises BadRequest where it
    isn't a file of devices."""
    lines = _lines(text)
    query = DeviceQuery(active=None, order_by="serialNumber")
    devices = store.devices(scope, query)
    by_id = {device.id: device for device in devices}
    by_serial = {device.serial_number: device for device in devices if not device.active}
    by_serial |= {device.serial_number: device for device in devices if device.active}
    seen: set[str] = set()
    rows: list[Row] = []
    for number, line in lines:
        serial = _own(_text(line, SERIAL))
        device = by_id.get(_text(line, ID).lower()) or by_serial.get(serial)
        try:
            if not serial:
                raise ValueError(f"{SERIAL} is required")
            one = device.id if device else serial  # an inactive device may have the same serial
            if one in seen:
                raise ValueError(f"{serial} is given twice")
            seen.add(one)
            rows.append(_row(scope, number, serial, device, line, editor))
        except ValueError as error:
            rows.append(Row(number, serial, "refused", str(error)))
    return rows


def _lines(text: str) -> list[tuple[int, Line]]:
    head = text.partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    reader = csv.DictReader(StringIO(text.removeprefix("\ufeff")), delimiter=delimiter)
    try:
        columns = [_column(heading.strip()) for heading in reader.fieldnames or ()]
        lines = [(reader.line_num, _cells(columns, line)) for line in reader]
    except csv.Error as error:
        raise BadRequest(f"The file is not CSV: {error}.") from None
    names = [name for name, _ in columns]
    if SERIAL not in names:
        raise BadRequest(f"The file has no column {SERIAL}.")
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        meant = nearest(unknown[0], COLUMNS)
        hint = f" Did you mean {meant}?" if meant else ""
        raise BadRequest(f"{unknown[0][:80]} is not a field of a device.{hint}")
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise BadRequest(f"The file has two columns {twice[0]}.")
    if len(lines) > MOST_ROWS:
        raise BadRequest(f"The file has {len(lines):,} rows; at most {MOST_ROWS:,} are allowed.")
    return lines


def _column(heading: str) -> tuple[str, ShownUnit]:
    """Returns the field and the unit of a heading such as ``price (per m³)``; without a unit, that
    of the interface."""
    name, opening, named = heading.partition(" (")
    field = FIELD_BY_NAME.get(name)
    if field is None or not field.unit:
        return heading, ShownUnit("")
    units = (ShownUnit(field.unit), METRIC_UNITS[field.unit])
    if not opening:
        return name, units[0]
    unit = next((each for each in units if f"{each.name})" == named), None)
    return (heading, ShownUnit("")) if unit is None else (name, unit)


def _cells(columns: Sequence[tuple[str, ShownUnit]], line: Mapping[str, str | None]) -> Line:
    values = zip(columns, line.values(), strict=False)
    return {name: (value or "", unit) for (name, unit), value in values}


def _text(line: Line, name: str) -> str:
    return line[name][0].strip() if name in line else ""


def _row(
    scope: Scope,
    number: int,
    serial: str,
    device: Device | None,
    line: Line,
    editor: Editor,
) -> Row:
    values = _values(line, values_of(device) if device else {})
    if device is None:
        if not serial.isprintable():
            raise ValueError(f"{SERIAL} has characters that can't be displayed")
        given = {name: value for name, value in values.items() if value not in (None, ())}
        audit = AuditEntry(
            editor.at_ms, scope.organization_id, editor.by, "device", "create", serial,
            after={"serialNumber": serial, **given}, reason=REASON,
        )  # fmt: skip
        pairs = {name: (None, value) for name, value in given.items()}
        return Row(number, serial, "create", pairs=pairs, new=created(serial, given), audit=audit)
    if device.serial_number != serial:
        raise ValueError(f"id is the id of device {device.serial_number}")
    expected_ms = _expected(_text(line, UPDATED))
    if expected_ms is not None and expected_ms != device.updated_ms:
        raise ValueError("the device was changed after the file was made")
    change = DeviceChange(device, values, device.updated_ms)
    pairs = differences(change)
    if not pairs:
        return Row(number, serial, "unchanged")
    changed = DeviceChange(device, {name: values[name] for name in pairs}, device.updated_ms)
    audit = audit_of(scope, changed, editor, REASON)
    return Row(number, serial, "change", pairs=pairs, new=new_device(changed), audit=audit)


def _values(line: Line, before: Mapping[str, Any]) -> dict[str, Any]:
    """``before``: the device's values, {} of a new device."""
    values: dict[str, Any] = {}
    for name, (text, unit) in line.items():
        field = FIELD_BY_NAME.get(name)
        if field is None or (not before and not text.strip()):
            continue
        if before and text.strip() == _cell(field, before[name], unit).strip():
            continue  # as it was written, even if the text is shorter than the value
        try:
            values[name] = typed_value(field, _own(text), unit, before.get(name))
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    return values


def typed_value(field: EditableField, text: str, unit: ShownUnit, before: Any) -> Any:
    """Returns the value ``before`` if the text is what it is shown as in that unit, so that a file
    that comes back unchanged changes nothing. Raises ValueError."""
    if unit.factor == 1 or not text.strip():
        return from_text(field, text)
    try:
        typed = float(text)
    except ValueError:
        return from_text(field, text)
    if before is not None and typed == unit.shown(before):
        return before
    return field.check(unit.stored(typed))


def _expected(text: str) -> int | None:
    try:
        return parse_instant(text) if text else None
    except ValueError as error:
        raise ValueError(f"{UPDATED} {error}") from None


def carry_out(store: Store, scope: Scope, rows: Sequence[Row]) -> None:
    """Stores the rows that aren't refused: all of them or none."""
    new = [row.new for row in rows if row.new is not None]
    audit = [row.audit for row in rows if row.audit is not None]
    try:
        store.import_devices(scope.organization_id, new, audit)
    except UserError as error:
        raise Conflict(f"{error}.") from None
