"""`flask mqtt`: readings from a broker into the store, and what was stored back to it."""

from __future__ import annotations

from api.commands import writer
from api.commands.frame import Group, settings
from api.errors import UserError

group = Group("mqtt", help="Readings by MQTT.")


@group.command()
def ingest() -> None:
    """Take readings in from the broker of WEIR_MQTT_URL, and publish them once stored, until
    stopped: `flask writer` for whom a broker is what matters."""
    known = settings()
    if not known.mqtt_url:
        raise UserError("there is no broker: set WEIR_MQTT_URL")
    writer.run(known, demo=False, while_parent=False)
