"""Resolves the arguments of commands: an organization, devices, instants, and the user."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from api.catalog import UNIT_SYSTEMS
from api.errors import (
    BadRequest,
    UserError,
)
from api.store.base import AuditEntry, Device, Grant, Organization, Scope, Store
from api.timez import now_ms, parse_instant

if TYPE_CHECKING:
    from api.metering.units import ShownUnit

C = TypeVar("C", bound=Callable[..., object])

ORG: Final = click.option("--org", "organization_id", required=True, help="The organization's id.")


UNITS: Final = click.option(
    "--units", type=click.Choice(UNIT_SYSTEMS),
    help="The units of flows, volumes and prices. Default: the organization's.",
)  # fmt: skip


def options(*each: Callable[[Any], Any]) -> Callable[[C], C]:
    """One decorator for several options, listed in their order."""

    def decorate(command: C) -> C:
        for option in reversed(each):
            command = option(command)
        return command

    return decorate


def organization(store: Store, organization_id: str) -> Organization:
    row = store.organization(organization_id)
    if row is None:
        raise UserError(f"--org {organization_id}: no such organization; see weir orgs list")
    return row


def units_of(store: Store, organization_id: str, chosen: str | None) -> str:
    """Returns the chosen units, otherwise the organization's."""
    from api.domain import organization as rules

    return chosen or rules.units_of(store, organization_id)


def volume_field(units: str) -> tuple[str, ShownUnit]:
    """Returns the name of a result's volumes, and their unit."""
    from api.metering.units import shown_unit

    return "litres" if units == "metric" else "gallons", shown_unit("gal", units)


def everything(organization_id: str) -> Scope:
    """Returns the scope of the command line: the whole organization."""
    return Scope(organization_id, Grant(everything=True))


def device_ids(store: Store, organization_id: str, identifiers: Sequence[str]) -> list[str]:
    """Returns the UUIDs of devices named by any identifier. Raises UserError for an unknown one."""
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
    """Reports the service's message about a parameter under the option that was typed. ``options``:
    by the parameter's name, without dashes; by default the name itself. ``otherwise``: the start of
    a message about no parameter."""
    try:
        yield
    except BadRequest as error:
        named = (f"--{options.get(e.parameter, e.parameter)} {e.detail}" for e in error.errors)
        raise UserError("; ".join(named) or otherwise + error.detail) from None


def instant(option: str, text: str) -> int:
    """Returns the epoch ms of an option's date-time. Raises UserError naming the option."""
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UserError(f"{option} {error}") from None


def author() -> str:
    """Returns the user of the operating system, for the audit log."""
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
    """Returns the audit log entries of a command."""
    at_ms = now_ms()
    return [
        AuditEntry(at_ms, organization_id, author(), kind, action, subject, before, after, reason)
    ]
