"""`flask writer`: the one process that writes what live sources bring."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

import click
from flask.cli import with_appcontext

from api.commands.command_base import Command, opened, settings, warn
from api.commands.parent_process import end_with_parent
from api.errors import UserError
from api.settings import Settings
from api.telemetry import metrics, writer_status

if TYPE_CHECKING:
    from api.ingest.announcer import Hook
    from api.ingest.mqtt.consumer import Consumer
    from api.ingest.writer import Writer
    from api.store.base import Store

DRAIN_S: Final = 5.0
STOP_S: Final = 12.0  # sources, what is under way, what waits


@click.command(cls=Command)
@click.option("--demo", is_flag=True, help="Send the demo fleet's live readings.")
@click.option("--while-parent", type=int, hidden=True, help="Stop when this parent process ends.")
@with_appcontext
def writer(demo: bool, while_parent: int | None) -> None:
    """Write what web workers, the broker of WEIR_MQTT_URL and the demo fleet bring, until stopped.

    An embedded store has one such process at a time.
    """
    run(settings(), demo=demo, while_parent=while_parent)


def run(known: Settings, *, demo: bool = False, while_parent: int | None = None) -> None:
    share(known)
    metrics.begin()
    from api.ingest.file_lock import only_writer
    from api.ingest.writer import Writer

    if known.api_url:
        raise UserError("there is no store to write to: unset WEIR_API_URL")
    known.prepare()
    stop = Event()
    with ExitStack() as begun:
        store = begun.enter_context(opened())
        begun.enter_context(only_writer(known))
        taking = Writer(store, _publishers(begun, known))
        begun.callback(taking.close, DRAIN_S)
        has_door = _open_door(begun, known, taking)
        if has_door:
            _keep_statuses(begun, store)
        _find(begun, store, taking)
        broker = _start_sources(begun, known, store, taking, demo=demo)
        _start_heart(begun, known, taking, broker, beside=not has_door)
        signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
        # The terminal's interrupt goes to all processes at once; the parent says when it is time.
        if while_parent:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            end_with_parent(while_parent, STOP_S)
        else:
            signal.signal(signal.SIGINT, lambda number, frame: stop.set())
        stop.wait()


def _publishers(begun: ExitStack, known: Settings) -> list[Hook]:
    if not known.mqtt_url:
        return []
    from api.ingest.mqtt import publisher

    out = publisher(known)
    if out is None:
        return []
    begun.callback(out.stop)
    out.start()
    return [out]


def _open_door(begun: ExitStack, known: Settings, taking: Writer) -> bool:
    """Several writers of a server's database may share a folder: one of them has the door.
    Whether this is that one."""
    from api.ingest.file_lock import Held, held
    from api.ingest.ipc import IpcServer

    path = known.writer_socket_path
    try:
        begun.enter_context(held(path.with_suffix(".lock"), f"{path.parent}/"))
    except Held as error:
        if known.database.startswith("sqlite:"):
            raise
        warn(f"{error}; readings sent over HTTP go there")
        return False
    door = IpcServer(taking, path)
    door.start()
    begun.callback(door.stop)
    return True


def _keep_statuses(begun: ExitStack, store: Store) -> None:
    from api.insight.projection import ProjectionThread

    thread = ProjectionThread(store)
    thread.start()
    begun.callback(thread.stop)


def _find(begun: ExitStack, store: Store, taking: Writer) -> None:
    """Evaluate beside the writer; what waits to be written comes first."""
    from api.insight.evaluator import EvaluatorThread

    thread = EvaluatorThread(store, lambda: taking.waiting_rows > 0 or taking.committing_s > 0)
    thread.start()
    begun.callback(thread.stop)


def _start_sources(
    begun: ExitStack, known: Settings, store: Store, taking: Writer, *, demo: bool
) -> Consumer | None:
    """The broker's, where there is one."""
    if demo:
        from api.ingest.demo.source import DemoSource

        fleet = DemoSource(store, taking)
        fleet.start()
        begun.callback(fleet.stop)
    if not known.mqtt_url:
        return None
    from api.ingest.mqtt import source

    broker = source(known, taking)
    broker.start()
    begun.callback(broker.stop)
    return broker


def share(known: Settings) -> None:
    """Have this process, and those that it starts, count together with the others of the host."""
    try:
        metrics.share(Path(known.instance) / "metrics")
    except OSError as error:
        warn(f"metrics are kept per process: {error}")


def _start_heart(
    begun: ExitStack, known: Settings, taking: Writer, broker: Consumer | None, *, beside: bool
) -> None:
    """Tell the others on this host how the writer is, or an ingester ``beside`` it."""

    def measure() -> writer_status.WriterStatus:
        metrics.queued(taking.waiting_rows)
        return writer_status.of_this_process(
            waiting_rows=taking.waiting_rows,
            last_commit_s=_seconds(taking.last_commit_ms),
            problem=taking.stall_reason,
            committing_s=round(taking.committing_s, 1),
            feed=None if broker is None else broker.problem,
            last_message_s=None if broker is None else _seconds(broker.last_message_ms),
        )

    file = writer_status.FILE
    if beside:
        from api.ingest.mqtt.sharing import session_name

        file = writer_status.file_of(session_name(known))
    heart = writer_status.Heart(Path(known.instance), measure, file)
    heart.start()
    begun.callback(heart.stop)


def _seconds(at_ms: int | None) -> float | None:
    return None if at_ms is None else at_ms / 1000
