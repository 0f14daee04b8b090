"""`weir registers`: the registers of meters, their settings and exchanges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from api.commands.arguments import (
    ORG,
    UNITS,
    audited,
    instant,
    one_device,
    organization,
    units_of,
    volume_field,
)
from api.commands.command import Group, when
from api.commands.store_access import opened
from api.domain.device_changes import Exchange
from api.errors import UserError
from api.metering.register import REGISTER_SETTINGS, check_settings, exchanged

if TYPE_CHECKING:
    from api.store.base import Device, Store

group = Group("registers", help="Registers: what meters count up.")

_device = click.argument("device", metavar="DEVICE")
_CLEAR: Final = ("", "default")


@group.command("list")
@_device
@ORG
@click.option("--from", "from_", metavar="ISO", help="From this time on.")
@click.option("--to", metavar="ISO", help="Up to this time, inclusive.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True)
@UNITS
def list_all(
    device: str,
    organization_id: str,
    from_: str | None,
    to: str | None,
    limit: int,
    units: str | None,
) -> object:
    """List a device's latest registers, with the volume of each step."""
    from api.store.base import Span

    span = Span(
        None if from_ is None else instant("--from", from_),
        None if to is None else instant("--to", to),
    )
    with opened(read_only=True) as store:
        meter = _meter(store, organization_id, device)
        volume, unit = volume_field(units_of(store, organization_id, units))
        entries = store.registers(meter, span, limit=limit, newest_first=True)
    return [
        {
            "recordedAt": when(each.ts),
            "register": each.register,
            "unit": each.unit,
            volume: None if each.gallons is None else unit.shown(each.gallons),
            "flags": list(each.flags),
        }
        for each in reversed(entries)
    ]


@group.command("set")
@_device
@click.argument("values", metavar="NAME=VALUE…", nargs=-1, required=True)
@ORG
def set_values(device: str, values: tuple[str, ...], organization_id: str) -> object:
    """Set registerUnit, registerDigits, … of a device; NAME= clears one.

    Its readings are derived again.
    """
    changes = dict(map(_setting, values))
    with opened() as store:
        return _configure(store, _meter(store, organization_id, device), "set register", changes)


@group.command()
@_device
@ORG
@click.option("--at", required=True, metavar="ISO", help="When the meter was exchanged.")
@click.option("--last", type=float, help="The old meter's last register, as it is sent.")
@click.option("--first", type=float, default=0.0, show_default=True, help="The new meter's first.")
@click.option("--remove", is_flag=True, help="Remove the exchange at that time.")
def exchange(
    device: str, organization_id: str, at: str, last: float | None, first: float, remove: bool
) -> object:
    """Record that a device's meter was exchanged. Its readings are derived again."""
    at_ms = instant("--at", at)
    with opened() as store:
        meter = _meter(store, organization_id, device)
        entry = None if remove else Exchange(at_ms, last, first).row
        try:
            rows = exchanged((meter.config or {}).get("meterExchanges"), at_ms, entry)
        except ValueError as error:
            raise UserError(f"--at {at} {error}") from None
        return _configure(store, meter, "exchange meter", {"meterExchanges": rows or None})


@group.command()
@_device
@ORG
def rederive(device: str, organization_id: str) -> object:
    """Derive a device's readings from its registers again. 0 changed means that they were right."""
    with opened() as store:
        meter = _meter(store, organization_id, device)
        return {"device": meter.serial_number, "changed": store.derive_again(meter)}


def _meter(store: Store, organization_id: str, identifier: str) -> Device:
    organization(store, organization_id)
    return one_device(store, organization_id, identifier)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or name not in REGISTER_SETTINGS:
        raise UserError(f"{text} must be NAME=VALUE with one of {', '.join(REGISTER_SETTINGS)}")
    if value in _CLEAR:
        return name, None
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _configure(
    store: Store, meter: Device, action: str, changes: Mapping[str, Any]
) -> dict[str, Any]:
    from api.store.base import NewDevice
    from api.store.devices import own_config

    before = own_config(meter)
    config = {**before, **changes}
    config = {name: each for name, each in config.items() if each is not None}
    try:
        check_settings(config)
    except ValueError as error:
        raise UserError(str(error)) from None
    after = {name: config.get(name) for name in changes}
    audit = audited(
        meter.organization_id, "device", action, meter.id,
        before={name: before.get(name) for name in changes}, after=after,
    )  # fmt: skip
    fields = {"id": meter.id, "config": config}
    store.import_devices(meter.organization_id, [NewDevice(meter.serial_number, fields)], audit)
    return {"device": meter.serial_number, **after}
