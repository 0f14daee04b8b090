"""`weir groups`: the groups of an organization's devices."""

from __future__ import annotations

import click

from api.commands.arguments import ORG, author, everything, organization
from api.commands.command import Group
from api.commands.store_access import opened
from api.domain import organization as rules
from api.domain.device_changes import Editor, named
from api.domain.device_fields import group_name
from api.errors import UserError
from api.store.base import Device, Scope, Store
from api.timez import now_ms

group = Group("groups", help="Groups of devices.")

_devices = click.argument("identifiers", metavar="DEVICE...", nargs=-1, required=True)


def _editor() -> Editor:
    return Editor(author(), now_ms())


def _scope(store: Store, organization_id: str) -> Scope:
    organization(store, organization_id)
    return everything(organization_id)


def _named(store: Store, scope: Scope, identifiers: tuple[str, ...]) -> list[Device]:
    devices = store.resolve(scope, identifiers)
    for identifier, device in zip(identifiers, devices, strict=True):
        if device is None:
            raise UserError(f"{identifier}: device not found in this organization")
    return named(store, scope, [device.id for device in devices if device is not None])


def _checked(name: str) -> str:
    try:
        return group_name(name)
    except ValueError as error:
        raise UserError(f"the name {error}") from None


@group.command("list")
@ORG
def list_all(organization_id: str) -> object:
    """List the groups, the number of devices in each, and the keys that are limited to it."""
    with opened(read_only=True) as store:
        return rules.groups(store, _scope(store, organization_id))


@group.command()
@click.argument("name")
@_devices
@ORG
def create(name: str, identifiers: tuple[str, ...], organization_id: str) -> object:
    """Create a group of these devices."""
    with opened() as store:
        scope = _scope(store, organization_id)
        devices = _named(store, scope, identifiers)
        rules.create_group(store, scope, _checked(name), devices, _editor())
    return {"name": name, "devices": len(devices)}


@group.command()
@click.argument("name")
@_devices
@ORG
def add(name: str, identifiers: tuple[str, ...], organization_id: str) -> object:
    """Add devices to a group; its other devices stay."""
    return _change(organization_id, name, identifiers, joins=True)


@group.command()
@click.argument("name")
@_devices
@ORG
def remove(name: str, identifiers: tuple[str, ...], organization_id: str) -> object:
    """Remove devices from a group. A group without devices no longer exists."""
    return _change(organization_id, name, identifiers, joins=False)


def _change(
    organization_id: str, name: str, identifiers: tuple[str, ...], *, joins: bool
) -> object:
    with opened() as store:
        scope = _scope(store, organization_id)
        if not rules.members(store, scope, name):
            raise UserError(f"no group {name}: see weir groups list")
        devices = _named(store, scope, identifiers)
        add, remove = (devices, []) if joins else ([], devices)
        changed = rules.change_members(store, scope, name, add, remove, _editor())
        return {
            "name": name,
            "devices": len(rules.members(store, scope, name)),
            "changed": changed,
        }


@group.command()
@click.argument("name")
@click.argument("new_name")
@ORG
def rename(name: str, new_name: str, organization_id: str) -> object:
    """Rename a group; keys, rules, settings and silences that name it follow."""
    with opened() as store:
        scope = _scope(store, organization_id)
        rules.rename_group(store, scope, name, _checked(new_name), _editor())
    return {"name": new_name}


@group.command()
@click.argument("name")
@ORG
def delete(name: str, organization_id: str) -> object:
    """Delete a group; its devices stay. Refused while a key or a rule is limited to it."""
    with opened() as store:
        rules.delete_group(store, _scope(store, organization_id), name, _editor())
    return {"name": name}
