"""`weir insight settings` and `weir insight holidays`: the settings of findings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.catalog import UNIT_SYSTEMS
from api.commands.arguments import (
    ORG,
    UNITS,
    audited,
    author,
    everything,
    options,
    organization,
    units_of,
)
from api.commands.command import Group
from api.commands.store_access import opened
from api.errors import UserError
from api.metering.units import shown_unit, words_in
from api.store.base import DeviceQuery, FindingSetting, Grant, Scope, Store
from api.suggestions import did_you_mean
from api.timez import now_ms

if TYPE_CHECKING:
    from api.insight.finding_settings import Target
    from api.insight.findings import Kind

settings = Group("settings", help="The limits that findings are evaluated by.")
holidays = Group("holidays", help="Days that count as Sundays.")

_of_whom = options(
    click.option("--kind", "kind_name", required=True, help="The kind of finding."),
    click.option("--device", help="Only for this device (any identifier)."),
    click.option("--group", "group_name", help="Only for the devices of this group."),
    click.option("--org", "organization_id", help="The organization."),
)


@settings.command("set")
@click.argument("pairs", metavar="KEY=VALUE...", nargs=-1, required=True)
@_of_whom
@UNITS
def set_some(
    pairs: tuple[str, ...], kind_name: str, units: str | None, **chosen: str | None
) -> object:
    """Set limits of a kind, for a device, a group or the organization.

    The narrower one takes precedence. Existing findings are evaluated again.
    """
    from api.insight.finding_settings import change
    from api.insight.findings import parse

    kind, values = _kind(kind_name), dict[str, float | None]()
    unit_of = {setting.name: setting.unit for setting in kind.all_settings}
    with opened() as store:
        organization_id, target = _target(store, **chosen)
        shown = units_of(store, organization_id, units)
        for pair in pairs:
            name, equals, text = pair.partition("=")
            if not equals:
                raise UserError(f"{pair}: must be KEY=VALUE")
            unit = shown_unit(unit_of.get(name, ""), shown)
            try:
                values[name] = parse(kind, name, unit.stored_text(text))
            except ValueError as error:
                raise UserError(f"{pair}: {words_in(str(error), shown)}") from None
        change(store, organization_id, target, kind, values, by=author(), at_ms=now_ms())
        return [
            _row(organization_id, each, shown)
            for each in _own(store, organization_id, target, kind)
            if each.name in values
        ]


@settings.command()
@click.argument("names", metavar="KEY...", nargs=-1, required=True)
@_of_whom
def unset(names: tuple[str, ...], kind_name: str, **chosen: str | None) -> object:
    """Clear settings: the wider one, or the default, applies again."""
    from api.insight.finding_settings import change

    kind = _kind(kind_name)
    with opened() as store:
        organization_id, target = _target(store, **chosen)
        there = {each.name for each in _own(store, organization_id, target, kind)}
        for name in names:
            if name not in there:
                raise UserError(f"{name}: not set for {kind.name}")
        gone = dict.fromkeys(names)
        change(store, organization_id, target, kind, gone, by=author(), at_ms=now_ms())
    return {"unset": len(names)}


@settings.command()
@_of_whom
@UNITS
def show(kind_name: str, units: str | None, **chosen: str | None) -> object:
    """Show the settings of a kind in effect for a device, a group or the organization.

    Each is shown with its origin: default, organization, group, config (the device's) or device.
    """
    from api.insight.finding_settings import effective

    kind = _kind(kind_name)
    with opened(read_only=True) as store:
        organization_id, target = _target(store, **chosen)
        shown = units_of(store, organization_id, units)
        return [
            {
                "kind": kind.name,
                "key": each.setting.name,
                **_in_units("value", each.value, each.setting.unit, shown),
                "from": f"{each.origin} {each.of}".strip(),
                "meaning": each.setting.label,
            }
            for each in effective(store, everything(organization_id), target)
            if each.kind is kind
        ]


@settings.command("list")
@click.option("--org", "organization_id", help="Only this organization's.")
@click.option("--defaults", is_flag=True, help="Show the defaults.")
@UNITS
def list_all(organization_id: str | None, defaults: bool, units: str | None) -> object:
    """List the settings that were changed, or with --defaults all that exist."""
    if defaults:
        from api.insight.findings import KINDS

        shown = units or UNIT_SYSTEMS[0]
        return [
            {
                "kind": kind.name,
                "key": setting.name,
                **_in_units("default", setting.default, setting.unit, shown),
                "meaning": setting.label,
            }
            for kind in KINDS
            for setting in kind.all_settings
        ]
    with opened(read_only=True) as store:
        if organization_id is not None:
            organization(store, organization_id)
        ids = [organization_id] if organization_id else [each.id for each in store.organizations()]
        return [
            _row(id, each, units_of(store, id, units))
            for id in ids
            for each in store.finding_settings(id)
        ]


def _in_units(name: str, value: float, unit: str, units: str) -> dict[str, Any]:
    shown = shown_unit(unit, units)
    return {name: shown.shown(value), "unit": shown.name}


def _own(store: Store, organization_id: str, target: Target, kind: Kind) -> list[FindingSetting]:
    """Returns the settings made for exactly this target."""
    wanted = (target.level, target.name, kind.name)
    return [each for each in store.finding_settings(organization_id) if each[:3] == wanted]


def _row(organization_id: str, setting: FindingSetting, units: str) -> dict[str, Any]:
    from api.insight.findings import KIND_BY_NAME

    kind = KIND_BY_NAME.get(setting.kind)
    unit_of = {each.name: each.unit for each in kind.all_settings} if kind else {}
    return {
        "organizationId": organization_id,
        "level": setting.level,
        "target": setting.target or None,
        "kind": setting.kind,
        "key": setting.name,
        **_in_units("value", setting.value, unit_of.get(setting.name, ""), units),
    }


def _kind(name: str) -> Kind:
    from api.insight.findings import KIND_BY_NAME

    if name not in KIND_BY_NAME:
        raise UserError(f"--kind: unknown kind {did_you_mean(name, KIND_BY_NAME)}")
    return KIND_BY_NAME[name]


def _target(
    store: Store, *, organization_id: str | None, device: str | None, group_name: str | None
) -> tuple[str, Target]:
    """Returns (organization, target). Without --org, a device or group is searched in all
    organizations."""
    from api.insight.finding_settings import Target

    if device is not None and group_name is not None:
        raise UserError("--device or --group, not both")
    if organization_id is not None:
        ids: Sequence[str] = [organization(store, organization_id).id]
    else:
        ids = [each.id for each in store.organizations()]
    if device is not None:
        matches = [(id, store.resolve(everything(id), [device])[0]) for id in ids]
        named = [(id, Target(device=each)) for id, each in matches if each is not None]
        option = f"--device {device}"
    elif group_name is not None:
        named = [(id, Target(group=group_name)) for id in ids if _has_group(store, id, group_name)]
        option = f"--group {group_name}"
    elif organization_id is not None:
        return organization_id, Target()
    else:
        raise UserError("choose one: --device, --group or --org")
    if not named:
        raise UserError(f"{option}: not found")
    if len(named) > 1:
        raise UserError(f"{option}: several organizations have one; choose one with --org")
    return named[0]


def _has_group(store: Store, organization_id: str, name: str) -> bool:
    scope = Scope(organization_id, Grant(groups=frozenset({name})))
    return store.count_devices(scope, DeviceQuery(active=None)) > 0


# --- Holidays ------------------------------------------------------------------------------------


@holidays.command("set")
@click.argument("file", type=click.Path(path_type=Path))
@ORG
def set_days(file: Path, organization_id: str) -> object:
    """Replace the holidays by those of a file, one date a line (2026-12-25).

    Empty lines and text after a # are ignored. An empty file leaves no holidays.
    """
    days = _days(file)
    with opened() as store:
        organization(store, organization_id)
        audit = audited(
            organization_id, "settings", "set holidays", "holidays",
            before={"days": store.holidays(organization_id)}, after={"days": days},
        )  # fmt: skip
        store.set_holidays(organization_id, days, audit)
    return {"days": len(days)}


@holidays.command("list")
@ORG
def list_days(organization_id: str) -> object:
    """List an organization's holidays."""
    with opened(read_only=True) as store:
        organization(store, organization_id)
        return [{"day": day} for day in store.holidays(organization_id)]


def _days(file: Path) -> list[str]:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} can't be read: {error}") from None
    days: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        day = line.partition("#")[0].strip()
        if not day:
            continue
        try:
            days.add(date.fromisoformat(day).isoformat())
        except ValueError:
            raise UserError(f"{file}: line {number}: {day[:40]!r} is not a date") from None
    return sorted(days)
