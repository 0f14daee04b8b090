"""Parses and checks a file of devices. Pure except for `read`."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from api.catalog import CATEGORIES, UUID_FORM, FieldKind
from api.errors import UserError
from api.metering.register import check_settings
from api.store.base import NewDevice
from api.store.devices import FIELDS, PARENT
from api.timez import parse_instant, zone

SERIAL: Final = "serialNumber"
GROUPS: Final = "groups"
MAX_DEPTH: Final = 64  # levels of arrays and objects within a field
_LONG: Final = range(-(2**63), 2**63)
_HALF: Final = re.compile(r"[\ud800-\udfff]")

_Check = Callable[[Any], None]
"""Raises ValueError with a message for the user for an invalid value."""


@dataclass(frozen=True, slots=True)
class DeviceFile:
    devices: list[NewDevice]
    warnings: list[str]


def read(path: Path, organization_id: str) -> DeviceFile:
    """Raises UserError, naming entry and field, for a file that can't be imported."""
    try:
        entries = json.loads(path.read_text("utf-8-sig"), parse_constant=_no_constant)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON: {error}") from None
    try:
        return check(entries, organization_id)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def check(entries: object, organization_id: str) -> DeviceFile:
    """Returns the devices of a parsed file. Raises ValueError, naming entry and field."""
    if not isinstance(entries, list):
        raise ValueError("must be an array of devices")
    ignored: Counter[str] = Counter()
    devices: list[NewDevice] = []
    for number, entry in enumerate(cast("list[object]", entries), 1):
        device, unknown = _device(f"entry {number}", entry)
        ignored.update(unknown)
        devices.append(device)
    warnings = [f"{name} is not a field of a device: ignored ({n}×)" for name, n in ignored.items()]
    foreign = sum(
        d.fields.get("organizationId", organization_id) != organization_id for d in devices
    )
    if foreign:
        warnings.append(f"organizationId names another organization: ignored ({foreign}×)")
    return DeviceFile(devices, warnings)


def _device(place: str, entry: object) -> tuple[NewDevice, list[str]]:
    if not isinstance(entry, dict):
        raise ValueError(f"{place} must be an object")
    given = cast("dict[str, Any]", entry)
    serial = given.get(SERIAL)
    if serial is None:
        raise ValueError(f"{place} has no {SERIAL}")
    _checked(place, SERIAL, _identifier, serial)
    place = f"{place} ({serial})"
    groups = given.get(GROUPS)
    if groups is not None:
        _checked(place, GROUPS, _texts, groups)
    fields = {name: value for name, value in given.items() if name in FIELDS and name != SERIAL}
    if PARENT in given:
        fields[PARENT] = given[PARENT]
    for name, value in fields.items():
        if value is not None:
            _checked(place, name, _SPECIAL.get(name) or _BY_KIND[FIELDS[name].kind], value)
    unknown = [name for name in given if name not in FIELDS and name not in (GROUPS, PARENT)]
    return NewDevice(serial, fields, None if groups is None else tuple(groups)), unknown


def _checked(place: str, name: str, check: _Check, value: Any) -> None:
    try:
        _storable(value)
        check(value)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{place}: {name} {error}") from None


def _storable(value: object) -> None:
    """Checks that every database can store the value, at any depth."""
    for atom in _atoms(value):
        if isinstance(atom, str) and ("\0" in atom or _HALF.search(atom)):
            raise ValueError("contains NUL or half a surrogate pair, which is not valid text")
        if isinstance(atom, int) and atom not in _LONG:
            raise ValueError("has an integer that doesn't fit in 64 bits")
        if isinstance(atom, float) and not math.isfinite(atom):  # 1e999 parses as infinity
            raise ValueError("has a number that is too large")


def _atoms(value: object, depth: int = 0) -> Iterator[object]:
    """Yields all values that aren't arrays or objects, and the names in objects."""
    if depth > MAX_DEPTH:
        raise ValueError(f"is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        yield from cast("dict[str, object]", value)
        value = list(cast("dict[str, object]", value).values())
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _atoms(item, depth + 1)
    else:
        yield value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _of_type(*types: type, called: str) -> _Check:
    def check(value: Any) -> None:
        if type(value) not in types:
            raise ValueError(f"must be {called}")

    return check


_text = _of_type(str, called="text")
_flag = _of_type(bool, called="true or false")
_object = _of_type(dict, called="an object")


def _identifier(value: Any) -> None:
    _text(value)
    if not value or value != value.strip() or not value.isprintable():
        raise ValueError("must be text without leading or trailing spaces")


def _texts(value: Any) -> None:
    if not isinstance(value, list) or not all(
        isinstance(text, str) and text for text in cast("list[object]", value)
    ):
        raise ValueError("must be an array of strings")


def _instant(value: Any) -> None:
    _text(value)
    parse_instant(value)


def _uuid(value: Any) -> None:
    if not isinstance(value, str) or not UUID_FORM.fullmatch(value):
        raise ValueError("must be a UUID")


def _config(value: Any) -> None:
    _object(value)
    if value.get(PARENT) is not None:
        _identifier(value[PARENT])
    check_settings(value)


def _zone(value: Any) -> None:
    _text(value)
    zone(value)


def _category(value: Any) -> None:
    if value not in CATEGORIES:
        raise ValueError(f"must be {' or '.join(CATEGORIES)}")


def _interval(value: Any) -> None:
    _of_type(int, float, called="a number of seconds")(value)
    if not (math.isfinite(value) and value > 0):
        raise ValueError("must be a number of seconds above 0")


_SPECIAL: Final[Mapping[str, _Check]] = {
    "id": _uuid,
    "networkUniqueIdentifier": _identifier,
    "category": _category,
    "deviceTimeZone": _zone,
    "config": _config,
    PARENT: _identifier,
}
_BY_KIND: Final[Mapping[FieldKind, _Check]] = {
    "text": _text,
    "flag": _flag,
    "instant": _instant,
    "object": _object,
    "texts": _texts,
    "number": _interval,
}
