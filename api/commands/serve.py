"""`flask serve`: the production server: web workers by granian, and the writer beside them.

This process only supervises. A web process of granian's own has the workers, the writer is
`flask writer`; whichever ends is started again, and all end with this one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from multiprocessing.synchronize import Lock
from typing import Any, Final

import click
from flask.cli import with_appcontext

from api.commands.command_base import Command, ensure_store, opened, settings
from api.commands.parent_process import end_with_parent
from api.commands.supervisor import HOPELESS, Child, supervise
from api.commands.writer import STOP_S as WRITER_STOP_S
from api.commands.writer import share
from api.errors import UserError
from api.ingest.demo.fleet import ORGANIZATION_ID
from api.ingest.ipc.client import MOST_AT_ONCE

TARGET: Final = ("app", "wsgi")  # module, and its factory of the whole site
THREADS: Final = MOST_AT_ONCE + 1  # blocking threads of a worker process
STOP_S: Final = 30  # what everything may take to end
FINISH_S: Final = 15  # of that, what a worker may take to finish the requests it has begun

_LOGGING: Final[dict[str, Any]] = {
    "handlers": {
        "console": {
            "formatter": "generic",
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stderr",
        },
    },
    "loggers": {"_granian": {"handlers": ["console"], "level": "ERROR", "propagate": False}},
}


@click.command(cls=Command)
@click.option("--host", help="The address to listen on; WEIR_HOST unless given.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), help="WEIR_PORT unless given; 0: any free one."
)
@click.option("--workers", type=click.IntRange(1, 64), help="Processes; WEIR_WORKERS unless given.")
@click.option("--demo", is_flag=True, help="Send the demo fleet's live readings meanwhile.")
@click.option("--no-writer", is_flag=True, help="Only read: this host takes no readings in.")
@with_appcontext
def serve(
    host: str | None, port: int | None, workers: int | None, demo: bool, no_writer: bool
) -> None:
    """Serve the dashboard and the service until stopped."""
    known = settings()
    address, port = _free(host or known.host, known.port if port is None else port)
    known.prepare()
    share(known)
    if not known.api_url:
        ensure_store(known.database)
        _check_store(demo)
    elif demo:
        raise UserError("--demo needs a store of its own: unset WEIR_API_URL")
    if demo and no_writer:
        raise UserError("--demo needs the writer: leave --no-writer out")
    os.environ["WEIR_HOST"] = address  # the workers' settings say what is true
    shown = f"[{address}]" if ":" in address else address
    announcement = f"Weir is at http://{shown}:{port}"
    web = _Web(address, port, workers or known.workers, announcement)
    children = [Child("web server", web.run, FINISH_S + 3)]
    if not known.api_url and not no_writer:
        command = [sys.executable, "-m", "flask", "--app", TARGET[0], "writer"]
        options = ["--while-parent", str(os.getpid()), *(["--demo"] * demo)]
        run = partial(_become, [*command, *options])
        children.append(Child("writer", run, WRITER_STOP_S))
    if supervise(children):
        raise SystemExit(1)


def _become(command: list[str]) -> int:
    os.execv(command[0], command)


def _check_store(demo: bool) -> None:
    with opened(read_only=True) as store:  # it is there, and of this schema
        if demo and store.organization(ORGANIZATION_ID) is None:
            raise UserError("the demo fleet is not there: flask demo seed")


def _free(host: str, port: int) -> tuple[str, int]:
    """The numeric address and port to listen on; UserError where they can't be had.

    Worker processes share the port, so they wouldn't notice that another server has it.
    """
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
            address, port = probe.getsockname()[:2]
    except OSError as error:
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return str(address), int(port)


class _Web:
    """Granian with its workers. Made before the processes are, which share its locks."""

    def __init__(self, address: str, port: int, workers: int, announcement: str) -> None:
        self._where = (address, port, workers)
        self._announcement = announcement
        self._parent = os.getpid()
        self._first, self._failed = multiprocessing.Lock(), multiprocessing.Lock()

    def run(self) -> int:
        """Serve until SIGTERM. HOPELESS where the site can't be built; a worker has said why."""
        end_with_parent(self._parent, FINISH_S)
        load = partial(_site, os.getpid(), self._first, self._failed, self._announcement)
        _server(*self._where).serve(target_loader=load, wrap_loader=False)
        return 0 if self._failed.acquire(block=False) else HOPELESS


def _server(address: str, port: int, workers: int) -> Any:
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server import Server

    return Server(
        ":".join(TARGET),
        address=address,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=THREADS,
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=FINISH_S,
        log_level=LogLevels.error,
        log_dictconfig=_LOGGING,
    )


def _site(server: int, first: Lock, failed: Lock, announcement: str) -> Callable[..., Any]:
    """In a worker: build the site. The first one that has it says where; the first one that can't
    says why and stops the server, which would only start others that can't either."""
    # A worker is forked with the supervisor's handlers, which would swallow a SIGTERM that comes
    # while the site is still being built: it has no request to finish yet, so it may just end.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, signal.SIG_DFL)
    end_with_parent(server, FINISH_S)
    module, factory = TARGET
    try:
        site: Callable[..., Any] = getattr(import_module(module), factory)()
    except Exception as error:
        if failed.acquire(block=False):
            said = " ".join(f"{type(error).__name__}: {error}".split())
            click.echo(f"Error: the site can't be built: {said}", err=True)
            os.kill(server, signal.SIGTERM)
        time.sleep(STOP_S)  # the server ends us; if we went by ourselves, it would complain
        raise SystemExit(1) from error
    if first.acquire(block=False):
        click.echo(announcement)
        sys.stdout.flush()
    return site
