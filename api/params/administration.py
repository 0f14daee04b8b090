"""The queries and bodies of the administration."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Final, cast

from pydantic import Field, PlainValidator

from api.catalog import INSIGHT_LIMIT, OFFSET, UNIT_SYSTEMS
from api.domain.device_fields import PRICE, currency_code, group_name, zone_name
from api.params.body_fields import flag, instant, optional
from api.params.body_parser import Body
from api.params.param_types import Flag, Offset, Text, within
from api.params.queries import Query
from api.roles import Role

LONGEST_NAME: Final = 200
MOST_DEVICES: Final = 20_000
MOST_HOLIDAYS: Final = 1_000
MOST_GRANTED: Final = 5_000


class DeviceListQuery(Query):
    q: Text = Field(
        None, description="Part of a label, serial number or network id, in upper or lower case."
    )
    group: Text = Field(None, description="Only of this group.")
    active: Flag = Field(True, description="false: the inactive ones.")
    limit: Annotated[int, within(INSIGHT_LIMIT)] = Field(
        INSIGHT_LIMIT.default or 0, description="Entries per page."
    )
    offset: Offset = Field(OFFSET.default or 0, description="Entries to skip.")


# --- Fields --------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise ValueError(f"must be a string of at most {LONGEST_NAME} characters")
    text = " ".join(value.split())
    if not text.isprintable() or "\0" in text:
        raise ValueError("has characters that can't be displayed")
    return text


def _name(value: Any) -> str:
    text = _text(value)
    if not text:
        raise ValueError("is required")
    return text


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) < 1e15:
        raise ValueError("must be a number")
    return float(value)


def _register(value: Any) -> float:
    if _number(value) < 0:
        raise ValueError("is negative, and a register counts up from 0")
    return float(value)


def _values(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be an object of fields")
    return cast("dict[str, Any]", value)


def _list(most: int, item: Callable[[Any], Any]) -> PlainValidator:
    def parse(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueError("must be an array")
        entries = cast("list[Any]", value)
        if len(entries) > most:
            raise ValueError(f"has {len(entries):,} entries; at most {most:,} are allowed")
        return tuple(dict.fromkeys(map(item, entries)))

    return PlainValidator(parse)


def _day(value: Any) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise ValueError("must be an array of dates, such as 2026-12-25") from None


def _holidays(value: Any) -> list[str]:
    days: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [None]
    if len(days) > MOST_HOLIDAYS:
        raise ValueError(f"may have at most {MOST_HOLIDAYS:,} days")
    return sorted({_day(each) for each in days})


def _units(value: Any) -> str:
    if value not in UNIT_SYSTEMS:
        raise ValueError(f"must be one of {', '.join(UNIT_SYSTEMS)}")
    return value


def _role(value: Any) -> Role:
    if value not in list(Role):
        raise ValueError(f"must be one of {', '.join(Role)}")
    return Role(value)


Name = Annotated[str, PlainValidator(_name)]
Words = Annotated[str, PlainValidator(_text)]
GroupName = Annotated[str, PlainValidator(group_name)]
Seen = Annotated[int | None, optional(instant)]
DeviceIds = Annotated[tuple[str, ...], _list(MOST_DEVICES, _name)]
Granted = Annotated[tuple[str, ...], _list(MOST_GRANTED, _name)]


# --- Bodies --------------------------------------------------------------------------------------


class OrganizationBody(Body):
    """``updated``: when it was read; without it, the change is made whatever happened since."""

    name: Annotated[str | None, optional(_name)] = None
    price: Annotated[float | None, optional(PRICE)] = None
    currency: Annotated[str | None, optional(currency_code)] = None
    zone: Annotated[str | None, optional(zone_name)] = None
    units: Annotated[str | None, optional(_units)] = None
    holidays: Annotated[list[str] | None, optional(_holidays)] = None
    updated: Seen = None

    @property
    def values(self) -> dict[str, Any]:
        """Returns the fields that were sent; null clears the price."""
        given = {name: getattr(self, name) for name in self.model_fields_set - {"updated"}}
        return {n: value for n, value in given.items() if value is not None or n == "price"}


class NewDeviceBody(Body):
    serial: Annotated[Name, Field(alias="serialNumber")]
    values: Annotated[dict[str, Any], PlainValidator(_values)] = Field(alias="set", default={})


class DevicesBody(Body):
    """``updated``: of each of the devices, in their order, as they were read."""

    devices: DeviceIds
    updated: Annotated[tuple[int, ...] | None, optional(
        lambda value: tuple(map(instant, cast(list[Any], value)))
        if isinstance(value, list) else (instant(value),))] = None  # fmt: skip
    values: Annotated[dict[str, Any], PlainValidator(_values)] = Field(alias="set")
    reason: Words = ""


class DeviceFileBody(Body):
    csv: Annotated[str, PlainValidator(lambda value: value if isinstance(value, str) else "")]
    preview: Annotated[bool, PlainValidator(flag)] = True


class UndoDeviceFileBody(Body):
    at_ms: Annotated[int, PlainValidator(instant)] = Field(alias="at")


class DeleteDeviceBody(Body):
    """``serialNumber``: typed by the user as a confirmation."""

    serial: Annotated[Name, Field(alias="serialNumber")]
    reason: Words = ""


class DemoBody(Body):
    """Asks for the demo fleet."""


class RemoveDemoBody(Body):
    """``confirm``: typed by the user who removes it."""

    confirm: Words = ""


class ExchangeBody(Body):
    at_ms: Annotated[int, PlainValidator(instant)] = Field(alias="at")
    last: Annotated[float | None, optional(_register)] = None
    first: Annotated[float, PlainValidator(_register)] = 0.0
    network_id: Annotated[str | None, optional(_name)] = Field(
        alias="networkUniqueIdentifier", default=None
    )
    updated: Seen = None


class UndoExchangeBody(Body):
    at_ms: Annotated[int, PlainValidator(instant)] = Field(alias="at")
    updated: Seen = None


class NewGroupBody(Body):
    name: GroupName
    devices: DeviceIds


class GroupBody(Body):
    name: Name
    new_name: Annotated[str | None, optional(group_name)] = Field(alias="newName", default=None)
    add: DeviceIds = ()
    remove: DeviceIds = ()


class GroupNameBody(Body):
    name: Name


class KeyBody(Body):
    """``version``: of the key when it was read. ``devices``: UUIDs."""

    name: Annotated[str | None, optional(_text)] = None
    role: Annotated[Role | None, optional(_role)] = None
    ingest: Annotated[bool, PlainValidator(flag)] = False
    all_devices: Annotated[bool | None, optional(flag)] = Field(alias="allDevices", default=None)
    groups: Granted = ()
    devices: Granted = ()
    expires_ms: Annotated[int | None, optional(instant)] = Field(alias="expires", default=None)
    version: Annotated[str | None, optional(_name)] = None


class VersionBody(Body):
    version: Annotated[str | None, optional(_name)] = None
