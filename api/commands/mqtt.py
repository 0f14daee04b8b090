"""`flask mqtt`: readings from a broker into the store, and what was stored back to it."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from threading import Event

from api.commands.frame import Group, opened, settings
from api.errors import UserError

group = Group("mqtt", help="Readings by MQTT.")


@group.command()
def ingest() -> None:
    """Take readings in from the broker of WEIR_MQTT_URL, and publish them once stored, until
    stopped."""
    from api.ingest.hold import only_writer
    from api.ingest.mqtt import publisher, source
    from api.ingest.writer import Writer

    known = settings()
    if not known.mqtt_url:
        raise UserError("there is no broker: set WEIR_MQTT_URL")
    stop = Event()
    with ExitStack() as begun:
        store = begun.enter_context(opened())
        begun.enter_context(only_writer(known))
        out = publisher(known)
        if out is not None:
            begun.callback(out.stop)
            out.start()
        writer = Writer(store, () if out is None else (out,))
        begun.callback(writer.close)
        consumer = source(known, writer)
        begun.callback(consumer.stop)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: stop.set())
        consumer.start()
        stop.wait()
