"""`weir orgs`: the organizations."""

from __future__ import annotations

import math
from typing import Any
from uuid import uuid4

import click

from api.catalog import RAW
from api.commands.arguments import audited, author, by_option, everything
from api.commands.arguments import organization as existing
from api.commands.command import Group, when
from api.commands.store_access import opened, opened_web, settings
from api.errors import UserError
from api.ingest.file_lock import only_writer
from api.store.base import DeviceQuery, Span, Store
from api.timez import now_ms

group = Group("orgs", help="Organizations.")


@group.command()
@click.argument("name")
@click.option("--id", "organization_id", help="The organization's id. Default: a new UUID.")
@click.option(
    "--cost-per-gallon", type=float, help="Price per gallon for devices without their own."
)
def create(name: str, organization_id: str | None, cost_per_gallon: float | None) -> object:
    """Create an organization."""
    for called, text in (("the name", name), ("--id", organization_id)):
        if text is not None and (
            text != " ".join(text.split()) or not (text.isprintable() and text)
        ):
            raise UserError(f"{called} must be text without leading, trailing or double spaces")
    if cost_per_gallon is not None and not (
        math.isfinite(cost_per_gallon) and cost_per_gallon >= 0
    ):
        raise UserError("--cost-per-gallon must be a number, 0 or more")
    new_id = organization_id or str(uuid4())
    audit = audited(
        new_id, "organization", "create", new_id,
        after={"name": name, "costPerGallon": cost_per_gallon},
    )  # fmt: skip
    with opened() as store:
        organization = store.create_organization(
            name, organization_id=new_id, cost_per_gallon=cost_per_gallon, audit=audit
        )
    return {"id": organization.id}


@group.command("set")
@click.argument("organization_id", metavar="ID")
@click.option("--name", help="Its name.")
@click.option(
    "--price",
    help="Price of a gallon or m³, by its units, for devices without their own; empty for none.",
)
@click.option("--cost-per-gallon", help="The same price, of a gallon whatever its units.")
@click.option("--currency", help="Currency of prices that name none, such as EUR.")
@click.option("--zone", help="The time zone of new devices, such as Europe/Rome.")
@click.option("--units", help="What its readers see by default: us (gal) or metric (L, m³).")
def set_some(organization_id: str, **given: str | None) -> object:
    """Change an organization's name, price, currency, time zone or units."""
    from api.domain import organization as rules
    from api.domain.device_changes import Editor
    from api.params import checked
    from api.params.administration import OrganizationBody

    price, per_gallon = given.pop("price"), given.pop("cost_per_gallon")
    if price is not None and per_gallon is not None:
        raise UserError("choose --price or --cost-per-gallon, not both")
    option = "--price" if per_gallon is None else "--cost-per-gallon"
    fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with opened() as store:
        existing(store, organization_id)
        if per_gallon is not None:
            fields["price"] = _price(option, per_gallon, "us")
        if price is not None:
            units = given["units"] or rules.units_of(store, organization_id)
            fields["price"] = _price(option, price, units)
        if not fields:
            raise UserError("choose --name, --price, --currency, --zone or --units")
        with by_option({"price": option.strip("-")}):
            values = checked(OrganizationBody, fields).values
        scope = everything(organization_id)
        rules.change_organization(store, scope, values, None, Editor(author(), now_ms()))
        return rules.organization_object(store, scope)


def _price(option: str, text: str, units: str) -> float | None:
    """Returns the price of a gallon."""
    from api.metering.units import PER_GALLON, shown_unit

    try:
        return shown_unit(PER_GALLON, units).stored(float(text)) if text.strip() else None
    except ValueError:
        raise UserError(f"{option} must be a number") from None


@group.command("list")
def list_all() -> object:
    """List the organizations."""
    with opened(read_only=True) as store:
        return [
            {
                "id": organization.id,
                "name": organization.name,
                "active": organization.active,
                "created": when(organization.created_ms),
                "defaultCostPerGallon": organization.default_cost_per_gallon,
            }
            for organization in store.organizations()
        ]


@group.command()
@click.argument("organization_id", metavar="ID")
@click.option("--reason", required=True, help="Why, for the audit log.")
@click.option("--pretend", is_flag=True, help="Only report what would be deleted.")
def delete(organization_id: str, reason: str, pretend: bool) -> object:
    """Delete an organization with its devices, readings, keys and embeds, for good.

    Its audit log stays. Stop the server first: no writer may be running.
    """
    if pretend:
        with opened(read_only=True) as store:
            return _extent(store, organization_id)
    with only_writer(settings()), opened() as store, opened_web() as web:
        row = existing(store, organization_id)
        counts = _extent(store, organization_id)
        for embed in web.embeds(organization_id):
            audit = audited(organization_id, "embed", "revoke", embed.id, reason=reason)
            web.revoke_embed(embed.id, now_ms(), audit)
        audit = audited(
            organization_id, "organization", "delete", organization_id,
            before={"name": row.name, **counts}, reason=reason,
        )  # fmt: skip
        store.delete_organization(organization_id, audit)
    return counts


def _extent(store: Store, organization_id: str) -> dict[str, object]:
    existing(store, organization_id)
    devices = store.devices(everything(organization_id), DeviceQuery(active=None))
    readings = sum(store.count(device, RAW, Span()) for device in devices)
    return {"id": organization_id, "devices": len(devices), "readings": readings}
