"""`weir writer`: the one process that writes readings from live sources."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from flask.cli import with_appcontext

from api.commands.command import Command, warn
from api.commands.exit_with_parent import end_with_parent
from api.commands.stop_signal import StopSignal
from api.commands.store_access import opened, settings
from api.errors import UserError
from api.telemetry import metrics, writer_status

if TYPE_CHECKING:
    from api.ingest.announcer import Hook
    from api.ingest.mqtt.consumer import Consumer
    from api.ingest.mqtt.listener import Listener
    from api.ingest.writer import Writer
    from api.settings import Settings
    from api.store.base import Store

DRAIN_S: Final = 5.0
STOP_S: Final = 12.0  # seconds for sources, for running work, and for waiting rows


@click.command(cls=Command)
@click.option("--demo", is_flag=True, help="Send the demo fleet's live readings.")
@click.option("--while-parent", type=int, hidden=True, help="Stop when this parent process ends.")
@with_appcontext
def writer(demo: bool, while_parent: int | None) -> None:
    """Write readings from web workers, the broker of WEIR_MQTT_URL, meters at WEIR_MQTT_LISTEN and
    the demo fleet, until stopped.

    An embedded store has one such process at a time.
    """
    run(settings(), demo=demo, while_parent=while_parent)


def run(config: Settings, *, demo: bool = False, while_parent: int | None = None) -> None:
    share(config)
    metrics.begin()
    from api.ingest.file_lock import only_writer
    from api.ingest.writer import Writer

    if config.api_url:
        raise UserError("there is no store to write to: unset WEIR_API_URL")
    config.prepare()
    with ExitStack() as stack:
        store = stack.enter_context(opened())
        stack.enter_context(only_writer(config))
        from api.ingest.live_suspicion import LiveSuspicions

        row_writer = Writer(store, [*_publishers(stack, config), LiveSuspicions(store)])
        stack.callback(row_writer.close, DRAIN_S)
        has_ipc = _start_ipc(stack, config, row_writer)
        if has_ipc:
            _start_projection(stack, store)
            _start_home_assistant(stack, config, store)
            _start_demo_keeper(stack, config, store, row_writer)
        _start_evaluator(stack, store, row_writer)
        _start_alerts(stack, config, store)
        broker = _start_sources(stack, config, store, row_writer, demo=demo)
        listener = _start_listener(stack, config, store, row_writer) if has_ipc else None
        _start_heart(stack, config, row_writer, broker, listener, beside=not has_ipc)
        # The terminal's interrupt goes to all processes at once; the parent decides when to end.
        if while_parent:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            stop = StopSignal(signal.SIGTERM)
            end_with_parent(while_parent, STOP_S)
        else:
            stop = StopSignal(signal.SIGTERM, signal.SIGINT)
        stop.wait()


def _publishers(stack: ExitStack, config: Settings) -> list[Hook]:
    if not config.mqtt_url:
        return []
    from api.ingest.mqtt import publisher

    out = publisher(config)
    if out is None:
        return []
    stack.callback(out.stop)
    out.start()
    return [out]


def _start_ipc(stack: ExitStack, config: Settings, row_writer: Writer) -> bool:
    """Starts the local interface. Several writers of a server's database may share a folder: one of
    them gets the socket. Returns whether it is this one."""
    from api.ingest.file_lock import Held, held
    from api.ingest.ipc import IpcServer

    path = config.writer_socket_path
    try:
        stack.enter_context(held(path.with_suffix(".lock"), f"{path.parent}/"))
    except Held as error:
        if config.database.startswith("sqlite:"):
            raise
        warn(f"{error}; readings sent over HTTP go there")
        return False
    server = IpcServer(row_writer, path)
    server.start()
    stack.callback(server.stop)
    return True


def _start_projection(stack: ExitStack, store: Store) -> None:
    from api.insight.status_projection import ProjectionThread

    thread = ProjectionThread(store)
    thread.start()
    stack.callback(thread.stop)


def _start_home_assistant(stack: ExitStack, config: Settings, store: Store) -> None:
    if not config.mqtt_home_assistant:
        return
    from api.ingest.mqtt.home_assistant import HomeAssistant

    thread = HomeAssistant(config, store)
    thread.start()
    stack.callback(thread.stop)


def _start_demo_keeper(
    stack: ExitStack, config: Settings, store: Store, row_writer: Writer
) -> None:
    from api.ingest.demo.keeper import DemoKeeper
    from api.store.open import open_web_store

    open_web = partial(open_web_store, config.database)
    keeper = DemoKeeper(store, open_web, row_writer, config.demo_key_path)
    keeper.start()
    stack.callback(keeper.stop)


def _start_evaluator(stack: ExitStack, store: Store, row_writer: Writer) -> None:
    """Starts an evaluator beside the writer; writing has priority."""
    from api.insight.finding_evaluator import EvaluatorThread

    thread = EvaluatorThread(
        store, lambda: row_writer.waiting_rows > 0 or row_writer.committing_s > 0
    )
    thread.start()
    stack.callback(thread.stop)


def _start_alerts(stack: ExitStack, config: Settings, store: Store) -> None:
    """Starts the evaluation and sending of alerts. With several writers, any of them may do
    either."""
    from api.commands.alert_transports import means
    from api.insight.alerts.evaluator import AlertThreads
    from api.insight.outbox import Outbox

    outbox = Outbox(store, means(config, store))
    stack.callback(outbox.close)
    thread = AlertThreads(store, outbox.send)
    thread.start()
    stack.callback(thread.stop)


def _start_sources(
    stack: ExitStack, config: Settings, store: Store, row_writer: Writer, *, demo: bool
) -> Consumer | None:
    """Starts the live sources. Returns the broker's consumer, if there is a broker."""
    if demo:
        from api.ingest.demo.source import DemoSource

        fleet = DemoSource(store, row_writer)
        fleet.start()
        stack.callback(fleet.stop)
    if not config.mqtt_url:
        return None
    from api.ingest.mqtt import source

    broker = source(config, row_writer)
    broker.start()
    stack.callback(broker.stop)
    return broker


def _start_listener(
    stack: ExitStack, config: Settings, store: Store, row_writer: Writer
) -> Listener | None:
    """Starts the listener. Of the writers that share a folder, only the one with the socket
    listens."""
    if config.mqtt_listen is None:
        return None
    from api.ingest.mqtt.listener import Listener

    listener = Listener(config, store, row_writer)
    listener.start()
    stack.callback(listener.stop)
    return listener


def share(config: Settings) -> None:
    """Makes this process and its children count together with the other processes of the host."""
    try:
        metrics.share(Path(config.instance) / "metrics")
    except OSError as error:
        warn(f"metrics are kept per process: {error}")


def _start_heart(
    stack: ExitStack,
    config: Settings,
    row_writer: Writer,
    broker: Consumer | None,
    listener: Listener | None,
    *,
    beside: bool,
) -> None:
    """Reports the state of the writer, or of an ingester ``beside`` it, to the other processes of
    this host."""

    def measure() -> writer_status.WriterStatus:
        metrics.queued(row_writer.waiting_rows)
        return writer_status.of_this_process(
            waiting_rows=row_writer.waiting_rows,
            last_commit_s=_seconds(row_writer.last_commit_ms),
            problem=row_writer.stall_reason,
            committing_s=round(row_writer.committing_s, 1),
            feed=None if broker is None else broker.problem,
            last_message_s=None if broker is None else _seconds(broker.last_message_ms),
            listener=None if listener is None else listener.problem,
            clients=0 if listener is None else listener.clients,
            listener_message_s=None if listener is None else _seconds(listener.last_message_ms),
        )

    file = writer_status.FILE
    if beside:
        from api.ingest.mqtt.sharding import session_name

        file = writer_status.file_of(session_name(config))
    heart = writer_status.Heart(Path(config.instance), measure, file)
    heart.start()
    stack.callback(heart.stop)


def _seconds(at_ms: int | None) -> float | None:
    return None if at_ms is None else at_ms / 1000
