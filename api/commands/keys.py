"""`weir keys` and `weir tokens`: credentials."""

from __future__ import annotations

from dataclasses import replace

import click

from api.commands.arguments import ORG, audited, author, device_ids, instant, organization
from api.commands.command import Group, when
from api.commands.store_access import opened, settings
from api.errors import UserError
from api.roles import Role
from api.store.base import Grant, Key, Store
from api.timez import now_ms

group = Group("keys", help="Service API keys.")
tokens = Group("tokens", help="Bearer tokens.")

_ROLES = click.Choice([role.value for role in Role])
_devices = click.option(
    "--device",
    "identifiers",
    multiple=True,
    help="Only this device, by any identifier; repeatable.",
)


def new_key(
    store: Store,
    organization_id: str,
    name: str,
    grant: Grant,
    expires_ms: int | None = None,
    *,
    ingest: bool = False,
    role: Role = Role.OPERATOR,
) -> dict[str, str]:
    """Creates a key. Returns its id, and its secret, which can't be shown again."""
    from api.auth import key_management

    made, secret = key_management.new_key(
        store, organization_id, name, grant, expires_ms, by=author(), ingest=ingest, role=role
    )
    return {"keyId": made.key_id, "key": secret}


@group.command()
@ORG
@click.option("--name", default="", help="What the key is for.")
@_devices
@click.option(
    "--group", "groups", multiple=True, help="Only the devices of this group; repeatable."
)
@click.option("--expires", help="When it expires, ISO 8601.")
@click.option("--ingest", is_flag=True, help="A key that can only send readings.")
@click.option(
    "--role",
    type=_ROLES,
    help="What it may do: read (viewer), also work with findings, notes and embeds (operator, the"
    " default), or everything (administrator).",
)
def create(
    organization_id: str,
    name: str,
    identifiers: tuple[str, ...],
    groups: tuple[str, ...],
    expires: str | None,
    ingest: bool,
    role: str | None,
) -> object:
    """Create a key, for all of the organization's devices unless some are named."""
    if ingest and role is not None:
        raise UserError("--role: a key that only sends readings has no role")
    expires_ms = None if expires is None else _expires_ms(expires)
    with opened() as store:
        organization(store, organization_id)
        grant = Grant(
            everything=not identifiers and not groups,
            groups=frozenset(groups),
            devices=frozenset(device_ids(store, organization_id, identifiers)),
        )
        chosen = Role(role or Role.OPERATOR)
        return new_key(store, organization_id, name, grant, expires_ms, ingest=ingest, role=chosen)


def _expires_ms(text: str) -> int:
    expires_ms = instant("--expires", text)
    if expires_ms <= now_ms():
        raise UserError("--expires is in the past")
    return expires_ms


@group.command("list")
@click.option("--org", "organization_id", help="Only this organization's.")
def list_all(organization_id: str | None) -> object:
    """List the keys, without their secrets. The last use is exact to a few minutes."""
    from api.auth.key_management import described

    with opened(read_only=True) as store:
        if organization_id is not None:
            organization(store, organization_id)
        keys, uses = store.keys(), store.key_uses()
    own = [key for key in keys if organization_id in (None, key.organization_id)]
    return [{**described(key), "lastUsed": when(uses.get(key.key_id))} for key in own]


@group.command("set-role")
@click.argument("key_id")
@click.argument("role", type=_ROLES)
def set_role(key_id: str, role: str) -> object:
    """Change a key's role; it takes effect everywhere within ten seconds."""
    with opened() as store:
        key = _stored_key(store, key_id)
        audit = audited(
            key.organization_id, "key", "change role", key_id,
            before={"role": key.role.value}, after={"role": role},
        )  # fmt: skip
        store.set_key_role(key_id, Role(role), audit)
    return {"keyId": key_id, "role": role}


@group.command()
@click.argument("key_id")
@click.option("--name", help="What the key is for.")
@click.option("--expires", help="When it expires, ISO 8601; empty for never.")
@click.option("--all-devices", is_flag=True, help="All of the organization's devices.")
@_devices
@click.option("--group", "groups", multiple=True, help="Only this group; repeatable.")
def change(
    key_id: str,
    name: str | None,
    expires: str | None,
    all_devices: bool,
    identifiers: tuple[str, ...],
    groups: tuple[str, ...],
) -> object:
    """Change a key's name, expiry or devices; it takes effect everywhere within ten seconds."""
    from api.auth import key_management

    if all_devices and (identifiers or groups):
        raise UserError("--all-devices, or --device and --group")
    with opened() as store:
        before = _stored_key(store, key_id)
        after = before if name is None else replace(before, name=name)
        if expires is not None:
            after = replace(after, expires_ms=_expires_ms(expires) if expires else None)
        if all_devices or identifiers or groups:
            ids = device_ids(store, before.organization_id, identifiers)
            after = replace(after, grant=Grant(all_devices, frozenset(groups), frozenset(ids)))
        if after != before:
            key_management.change_key(store, before, after, by=author())
        return key_management.described(after)


@group.command()
@click.argument("key_id")
def revoke(key_id: str) -> object:
    """Revoke a key for good; it takes effect everywhere within ten seconds."""
    from api.auth.key_management import described

    with opened() as store:
        key, at_ms = _stored_key(store, key_id), now_ms()
        audit = audited(
            key.organization_id, "key", "revoke", key_id,
            before=described(key), after=described(replace(key, revoked_ms=at_ms)),
        )  # fmt: skip
        store.revoke_key(key_id, at_ms, audit)
        return {"keyId": key_id, "revoked": when(_stored_key(store, key_id).revoked_ms)}


def _stored_key(store: Store, key_id: str) -> Key:
    key = store.named_key(key_id)
    if key is None:
        raise UserError(f"no key {key_id}: see weir keys list")
    return key


@tokens.command("create")
@ORG
@_devices
@click.option(
    "--ttl",
    type=click.IntRange(1, 366 * 86_400),
    default=3600,
    show_default=True,
    help="How long it is valid, in seconds.",
)
@click.option("--may-embed", is_flag=True, help="Also allow creating and revoking embeds.")
@click.option(
    "--role",
    type=_ROLES,
    default=Role.VIEWER.value,
    show_default=True,
    help="The role, as for a key.",
)
def create_token(
    organization_id: str, identifiers: tuple[str, ...], ttl: int, may_embed: bool, role: str
) -> object:
    """Sign a bearer token, for all of the organization's devices unless some are named."""
    from api.auth import issue_token

    with opened(read_only=True) as store:
        organization(store, organization_id)
        devices = device_ids(store, organization_id, identifiers) if identifiers else None
    token = issue_token(
        settings(), organization_id, devices, ttl, may_embed=may_embed, role=Role(role)
    )
    return {"token": token}
