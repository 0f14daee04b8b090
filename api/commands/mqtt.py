"""`weir mqtt`: receives readings from a broker or from meters, and publishes stored ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from api import setting_types
from api.commands import writer
from api.commands.command import Group, when
from api.commands.store_access import settings
from api.errors import UserError

if TYPE_CHECKING:
    from api.settings import Settings

group = Group("mqtt", help="Readings over MQTT.")


def _shard(_: click.Context, __: click.Parameter, value: str | None) -> setting_types.Shard | None:
    try:
        return setting_types.shard(value or "")
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_part = click.option(
    "--shard",
    callback=_shard,
    metavar="K/N",
    help="This ingester's shard, such as 1/3. Default: WEIR_MQTT_SHARD.",
)


@group.command()
@_part
def ingest(shard: setting_types.Shard | None) -> None:
    """Receive readings from the broker of WEIR_MQTT_URL, and publish stored ones, until stopped.

    Use `weir writer` unless several ingesters are needed. Several of them on one Postgres divide
    the devices by --shard 1/3, 2/3, 3/3.
    """
    writer.run(_config(shard))


@group.command()
@_part
def forget(shard: setting_types.Shard | None) -> None:
    """Delete the broker session of an ingester that won't return, with its waiting messages."""
    config = _config(shard)
    from api.ingest.mqtt.broker import end_session
    from api.ingest.mqtt.sharding import session_name

    name = session_name(config)
    end_session(config, name)
    click.echo(f"The broker session {name} is deleted.")


@group.command()
def clients() -> object:
    """List the meters connected to WEIR_MQTT_LISTEN of this host, or with a session there."""
    from api.ingest.mqtt.listener.sessions import read_sessions

    return [
        {
            "keyId": session.key_id,
            "clientId": session.client_id,
            "connected": session.connected,
            "since": when(session.seen_ms),
            "address": session.address,
        }
        for session in read_sessions(Path(settings().instance))
    ]


def _config(shard: setting_types.Shard | None) -> Settings:
    config = settings()
    if shard:
        config = config.model_copy(update={"mqtt_shard": shard})
        config.check_together()
    if not config.mqtt_url:
        raise UserError("there is no broker: set WEIR_MQTT_URL")
    return config
