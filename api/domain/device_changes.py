"""Changes of devices: fields of one or many devices, a meter's exchange, deletion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from api.catalog import RAW
from api.domain.device_fields import FIELD_BY_NAME, EditableField, checked, values_of
from api.domain.identify import NO_SUCH_DEVICE
from api.errors import BadRequest, Conflict, Forbidden, NotFound, ParameterProblem, UserError
from api.metering.register import exchanged
from api.store.base import AuditEntry, Device, DeviceQuery, NewDevice, Scope, Span, Store
from api.timez import LAST_INSTANT_MS, stamp

WHOLE: Final = "This needs a credential for all of the organization's devices."
EXCHANGES: Final = "meterExchanges"


class Editor(NamedTuple):
    """Who makes a change, and when."""

    by: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """``values`` are by field name, checked. ``expected_ms`` is the ``updated_ms`` that the editor
    saw; None changes the device whatever happened since."""

    device: Device
    values: Mapping[str, Any]
    expected_ms: int | None = None


def require_whole(scope: Scope) -> None:
    if not scope.grant.everything:
        raise Forbidden(WHOLE)


def checked_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Checks values. Raises BadRequest naming each field that is unknown or has an invalid
    value."""
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
    """Changes all of the devices or none. Returns how many now differ. Raises Conflict where
    somebody else has changed one since, or a name is taken."""
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
    """Creates a device. Raises Conflict if an active device has that serial number."""
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
    """Returns (before, after) by field name, for fields that differ."""
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
    """Returns (fields of an import, changes of the configuration, groups)."""
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
    """A meter replaced another at ``at_ms``. ``last`` is the old meter's last register, None if
    unknown; ``first`` is the new meter's first."""

    at_ms: int
    last: float | None
    first: float

    @property
    def row(self) -> dict[str, Any]:
        at = stamp(self.at_ms, fraction=self.at_ms % 1_000 != 0)
        row: dict[str, Any] = {"at": at, "first": self.first}
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
    """Records the exchange, with other fields that change with it (such as a new network id).
    Raises Conflict if an exchange at that time is already recorded."""
    rows = exchanges_of(each.device)
    try:
        noted = exchanged(rows, new.at_ms, new.row)
    except ValueError as error:
        raise BadRequest(f"An exchange {error}.") from None
    if len(noted) == len(rows):
        raise Conflict("An exchange at this time is noted already.")
    _set_exchanges(store, scope, each, noted, "exchange", editor)


def undo_exchange(
    store: Store, scope: Scope, each: DeviceChange, at_ms: int, editor: Editor
) -> None:
    """Removes a recorded exchange. Raises NotFound where there is none at that time."""
    try:
        rest = exchanged(exchanges_of(each.device), at_ms, None)
    except ValueError:
        raise NotFound("No exchange is noted at this time.") from None
    _set_exchanges(store, scope, each, rest, "undo exchange", editor)


def _set_exchanges(
    store: Store,
    scope: Scope,
    each: DeviceChange,
    rows: Sequence[Mapping[str, Any]],
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
    """Returns what would be deleted with the device."""
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
    """Deletes the device and its readings for good. Returns the number of readings."""
    before = {"name": device.label, **extent(store, device)}
    audit = AuditEntry(
        editor.at_ms, scope.organization_id, editor.by, "device", "delete", device.id, before,
        reason=reason,
    )  # fmt: skip
    return store.delete_device(device, [audit])


def stored(store: Store, device: Device) -> int:
    """Returns how many readings and registers the device has; derived readings don't count."""
    return store.count_registers(device, Span()) + store.count_beside_registers(device, Span())


def unused(store: Store, scope: Scope, devices: Sequence[Device]) -> list[Device]:
    """Returns the devices without notes, maintenance, corrections and finding settings, and that no
    rule, budget, tariff, report or other device names."""
    if not devices:
        return []
    keys, organization_id = [device.key for device in devices], scope.organization_id
    annotated = {
        *store.notes_of(keys, 0, LAST_INSTANT_MS), *store.maintenance_of(keys),
        *store.corrections_of(keys),
    }  # fmt: skip
    texts = [f"{row.name} {row.definition}" for row in store.billing_rows(None, organization_id)]
    texts += [row.definition for row in store.alert_rules(organization_id)]
    texts += [each.target for each in store.finding_settings(organization_id)]
    every, names = store.devices(scope, DeviceQuery(active=None)), "\n".join(texts)
    parents = {(each.config or {}).get("parent") for each in every}
    return [
        device
        for device in devices
        if device.key not in annotated
        and device.id not in names
        and device.serial_number not in parents
    ]


def named(store: Store, scope: Scope, device_ids: Iterable[str]) -> list[Device]:
    """Returns the devices of these UUIDs, active or not. Raises NotFound if one is out of scope."""
    wanted = list(device_ids)
    devices = store.resolve(scope, wanted)
    for device, name in zip(devices, wanted, strict=True):
        if device is None:
            raise NotFound(f"{name}: {NO_SUCH_DEVICE}")
    return [device for device in in_context(store, scope, devices) if device is not None]


def in_context(store: Store, scope: Scope, devices: Sequence[Device | None]) -> list[Device | None]:
    """Returns the same devices with their groups and parents, which `resolve` leaves out."""
    keys = {device.key for device in devices if device is not None}
    full = {each.key: each for each in store.devices_in_context(scope, sorted(keys))}
    return [None if device is None else full[device.key] for device in devices]


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
