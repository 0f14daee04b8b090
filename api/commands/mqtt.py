"""`flask mqtt`: readings from a broker into the store, and what was stored back to it."""

from __future__ import annotations

from dataclasses import replace

import click

from api import kinds
from api.commands import writer
from api.commands.frame import Group, settings
from api.errors import UserError

group = Group("mqtt", help="Readings by MQTT.")


def _shard(_: click.Context, __: click.Parameter, value: str | None) -> kinds.Shard | None:
    try:
        return kinds.shard(value or "")
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@group.command()
@click.option(
    "--shard",
    callback=_shard,
    metavar="K/N",
    help="Which of how many; WEIR_MQTT_SHARD unless given.",
)
def ingest(shard: kinds.Shard | None) -> None:
    """Take readings in from the broker of WEIR_MQTT_URL, and publish them once stored, until
    stopped: `flask writer` for whom a broker is what matters.

    Several of them on one Postgres divide the devices among themselves by --shard 1/3, 2/3, 3/3.
    """
    known = settings()
    if shard:
        known = replace(known, mqtt_shard=shard)
    if not known.mqtt_url:
        raise UserError("there is no broker: set WEIR_MQTT_URL")
    writer.run(known, demo=False, while_parent=False)
