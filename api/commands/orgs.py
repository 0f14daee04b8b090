"""`flask orgs`: the organizations."""

from __future__ import annotations

import math

import click

from api.commands.command_base import Group, opened, when
from api.errors import UserError

group = Group("orgs", help="Organizations.")


@group.command()
@click.argument("name")
@click.option("--id", "organization_id", help="The organization's id. Default: a new UUID.")
@click.option(
    "--cost-per-gallon", type=float, help="Price per gallon of devices without their own."
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
    with opened() as store:
        organization = store.create_organization(
            name, organization_id=organization_id, cost_per_gallon=cost_per_gallon
        )
    return {"id": organization.id}


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
