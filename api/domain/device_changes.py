"""Changes of devices: fields of one or many, a meter's exchange, deletion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from api.catalog import RAW
from api.domain.device_fields import FIELD_BY_NAME, EditableField, checked, values_of
from api.domain.identify import NO_SUCH_DEVICE
from api.errors import BadRequest, Conflict, Forbidden, NotFound, ParameterProblem, UserError
from api.store.base import AuditEntry, Device, NewDevice, Scope, Span, Store
from api.timez import stamp

WHOLE: Final = "This needs a credential for all of the organization's devices."
EXCHANGES: Final = "meterExchanges"


class Editor(NamedTuple):
    """Who changes something, and when."""

    by: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """``values`` by field name, checked; ``expected_ms``: the ``updated_ms`` that the editor
    saw, None to change the device whatever happened meanwhile."""

    device: Device
    values: Mapping[str, Any]
    expected_ms: int | None = None


def require_whole(scope: Scope) -> None:
    if not scope.grant.everything:
        raise Forbidden(WHOLE)


def checked_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """BadRequest names each field that is unknown or has a value that won't do."""
    values: dict[str, Any] = {}
    problems: list[ParameterProblem] = []
    for name, value in given.items():
        field = FIELD_BY_NAME.get(name)
        try:
            if field is None:
                raise ValueError("is not a field that can be changed")
            values[name] = checked(field, value)
        except ValueError as error:
            problems.append(ParameterProblem(name[:80], str(error)))
    if problems:
        detail = "Some fields are invalid; errors lists them."
        raise BadRequest(detail, errors=tuple(problems))
    return values


def change(
    store: Store, scope: Scope, changes: Sequence[DeviceChange], editor: Editor, reason: str = ""
) -> int:
    """Change all of the devices or none; how many differ now. Conflict where one has been changed
    by somebody else, or a name is taken."""
    if any(FIELD_BY_NAME[name].of_all for each in changes for name in each.values):
        require_whole(scope)
    differing = [each for each in changes if differences(each)]
    new = [new_device(each) for each in differing]
    audit = [audit_of(scope, each, editor, reason) for each in differing]
    _import(store, scope, new, audit)
    return len(differing)


def _import(
    store: Store, scope: Scope, new: Sequence[NewDevice], audit: Sequence[AuditEntry]
) -> None:
    try:
        store.import_devices(scope.organization_id, new, audit)
    except UserError as error:
        raise Conflict(_sentence(error)) from None


def create(
    store: Store, scope: Scope, serial: str, values: Mapping[str, Any], editor: Editor
) -> None:
    """Conflict if there is an active device with that serial number."""
    require_whole(scope)
    (existing,) = store.resolve(scope, [serial])
    if existing is not None and existing.serial_number == serial:
        raise Conflict(f"There is a device {serial} already.")
    after = {name: value for name, value in values.items() if value not in (None, ())}
    state = {"serialNumber": serial, **after}
    audit = AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "device", "create", serial, after=state
    )
    _import(store, scope, [created(serial, after)], [audit])


def created(serial: str, values: Mapping[str, Any]) -> NewDevice:
    fields, config, groups = _placed(values, {})
    return NewDevice(serial, {**fields, **({"config": config} if config else {})}, groups)


def differences(each: DeviceChange) -> dict[str, tuple[Any, Any]]:
    """(before, after) by field name."""
    before = values_of(each.device)
    pairs = {name: (before[name], _plain(value)) for name, value in each.values.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _plain(value: Any) -> Any:
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def new_device(each: DeviceChange) -> NewDevice:
    fields, config, groups = _placed(each.values, each.device.cost_per_gallon)
    device = each.device
    return NewDevice(
        device.serial_number, {"id": device.id, **fields}, groups, each.expected_ms, config
    )


def _placed(
    values: Mapping[str, Any], price: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...] | None]:
    """(fields of an import, changes of the configuration, groups)"""
    fields, config, groups = dict[str, Any](), dict[str, Any](), None
    for name, value in values.items():
        field = FIELD_BY_NAME[name]
        if field.place == "config":
            config[field.stored_as] = value
        elif field.place == "price":
            fields["costPerGallon"] = _priced(fields.get("costPerGallon", price), field, value)
        elif field.place == "groups":
            groups = tuple(value or ())
        else:
            fields[field.name] = "" if name == "model" and value is None else value
    return fields, config, groups


def _priced(price: Mapping[str, Any], field: EditableField, value: Any) -> dict[str, Any]:
    rest = {key: each for key, each in price.items() if key != field.stored_as}
    return rest if value is None else {**rest, field.stored_as: value}


def audit_of(scope: Scope, each: DeviceChange, editor: Editor, reason: str = "") -> AuditEntry:
    pairs, name = differences(each), {"name": each.device.label}
    action = "change"
    if set(pairs) == {"active"}:
        action = "activate" if pairs["active"][1] else "deactivate"
    return AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "device", action, each.device.id,
        {**name, **{field: before for field, (before, _) in pairs.items()}},
        {**name, **{field: after for field, (_, after) in pairs.items()}},
        reason,
    )  # fmt: skip


# --- Exchange ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exchange:
    """A meter took another's place at ``at_ms``. ``last``: the old one's last register, None if
    unknown; ``first``: the new one's first."""

    at_ms: int
    last: float | None
    first: float

    @property
    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"at": stamp(self.at_ms), "first": self.first}
        return row if self.last is None else {**row, "last": self.last}


def exchanges_of(device: Device) -> list[dict[str, Any]]:
    rows = (device.config or {}).get(EXCHANGES)
    listed = cast("list[object]", rows) if isinstance(rows, list) else []
    return [cast("dict[str, Any]", row) for row in listed if isinstance(row, dict)]


def exchange(
    store: Store,
    scope: Scope,
    each: DeviceChange,
    new: Exchange,
    editor: Editor,
) -> None:
    """Note the exchange, with other fields that change with it (a new network id). Conflict if one
    at that time is noted already."""
    rows = exchanges_of(each.device)
    if any(row.get("at") == new.row["at"] for row in rows):
        raise Conflict("An exchange at this time is noted already.")
    noted = sorted([*rows, new.row], key=lambda row: str(row.get("at")))
    _set_exchanges(store, scope, each, noted, "exchange", editor)


def undo_exchange(store: Store, scope: Scope, each: DeviceChange, at: str, editor: Editor) -> None:
    """NotFound where none is noted at that time."""
    rows = exchanges_of(each.device)
    rest = [row for row in rows if row.get("at") != at]
    if len(rest) == len(rows):
        raise NotFound("No exchange is noted at this time.")
    _set_exchanges(store, scope, each, rest, "undo exchange", editor)


def _set_exchanges(
    store: Store,
    scope: Scope,
    each: DeviceChange,
    rows: list[dict[str, Any]],
    action: str,
    editor: Editor,
) -> None:
    device, new = each.device, new_device(each)
    new.config[EXCHANGES] = rows or None
    before, after = ({"name": device.label, "exchanges": [_shown(r) for r in part]}
                     for part in (exchanges_of(device), rows))  # fmt: skip
    audit = AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "device", action, device.id, before, after
    )
    _import(store, scope, [new], [audit])


def _shown(row: Mapping[str, Any]) -> str:
    last = row.get("last")
    return f"{row.get('at')}: {'?' if last is None else last} → {row.get('first')}"


# --- Deletion ------------------------------------------------------------------------------------


def extent(store: Store, device: Device) -> dict[str, Any]:
    """What would be deleted with it."""
    bounds = store.bounds(device, RAW, Span())
    return {
        "id": device.id,
        "serialNumber": device.serial_number,
        "label": device.label,
        "readings": store.count(device, RAW, Span()),
        "first": None if bounds is None else stamp(bounds[0]),
        "last": None if bounds is None else stamp(bounds[1]),
    }


def delete(store: Store, scope: Scope, device: Device, reason: str, editor: Editor) -> int:
    """With its readings, for good; how many these were."""
    before = {"name": device.label, **extent(store, device)}
    audit = AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "device", "delete", device.id, before,
        reason=reason,
    )  # fmt: skip
    return store.delete_device(device, [audit])


def named(store: Store, scope: Scope, device_ids: Iterable[str]) -> list[Device]:
    """The devices of these UUIDs, active or not. NotFound if one isn't the scope's."""
    wanted = list(device_ids)
    devices = store.resolve(scope, wanted)
    if any(device is None for device in devices):
        raise NotFound(NO_SUCH_DEVICE)
    return [device for device in in_context(store, scope, devices) if device is not None]


def in_context(store: Store, scope: Scope, devices: Sequence[Device | None]) -> list[Device | None]:
    """`resolve` leaves out groups and parents: the same devices with them."""
    keys = {device.key for device in devices if device is not None}
    full = {each.key: each for each in store.devices_in_context(scope, sorted(keys))}
    return [None if device is None else full[device.key] for device in devices]


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
