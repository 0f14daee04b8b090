"""What the arguments of commands name: an organization, devices, instants, and who types them."""

from __future__ import annotations

import getpass
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from api.errors import (
    BadRequest,
    UserError,
)
from api.store.base import AuditEntry, Device, Grant, Organization, Scope, Store
from api.timez import now_ms, parse_instant


def organization(store: Store, organization_id: str) -> Organization:
    row = store.organization(organization_id)
    if row is None:
        raise UserError(f"--org {organization_id}: no such organization; see flask orgs list")
    return row


def everything(organization_id: str) -> Scope:
    """The eyes of whoever may use the command line."""
    return Scope(organization_id, Grant(everything=True))


def device_ids(store: Store, organization_id: str, identifiers: Sequence[str]) -> list[str]:
    """The UUIDs of devices named by any identifier; UserError for one that isn't there."""
    devices = store.resolve(everything(organization_id), identifiers)
    for identifier, device in zip(identifiers, devices, strict=True):
        if device is None:
            raise UserError(f"--device {identifier}: not found in this organization")
    return [device.id for device in devices if device is not None]


def one_device(store: Store, organization_id: str, identifier: str) -> Device:
    (device,) = store.resolve(everything(organization_id), [identifier])
    if device is None:
        raise UserError(f"--device {identifier}: not found in this organization")
    return device


@contextmanager
def by_option(options: Mapping[str, str], otherwise: str = "") -> Generator[None]:
    """The service's message about a parameter, about the option that was typed: ``options`` by the
    parameter's name, without dashes; by default the name itself. ``otherwise`` begins the message
    of no parameter."""
    try:
        yield
    except BadRequest as error:
        named = (f"--{options.get(e.parameter, e.parameter)} {e.detail}" for e in error.errors)
        raise UserError("; ".join(named) or otherwise + error.detail) from None


def instant(option: str, text: str) -> int:
    """Epoch ms of an option's date-time. UserError names the option."""
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UserError(f"{option} {error}") from None


def author() -> str:
    """Who types: the user of the operating system, for the audit log."""
    try:
        return f"command:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run as a user without a name
        return f"command:{os.getuid()}"


def audited(
    organization_id: str,
    kind: str,
    action: str,
    subject: str,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
) -> list[AuditEntry]:
    """What the audit log says of a command."""
    at_ms = now_ms()
    return [
        AuditEntry(at_ms, organization_id, author(), kind, action, subject, before, after, reason)
    ]
