"""`flask serve`: the production server, several processes by granian, with the demo feed beside."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from multiprocessing.synchronize import Lock
from threading import Event, Thread
from typing import Any, Final

import click
from flask.cli import with_appcontext

from api.commands.frame import Command, ensure_store, opened, settings
from api.errors import UserError
from api.ingest.demo.fleet import ORGANIZATION_ID

TARGET: Final = ("app", "wsgi")  # module, and its factory of the whole site
THREADS: Final = 4  # blocking threads of a worker process
STOP_S: Final = 30  # what a worker may take to finish the requests it has begun
FEED_AGAIN_S: Final = 3.0

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
@with_appcontext
def serve(host: str | None, port: int | None, workers: int | None, demo: bool) -> None:
    """Serve the dashboard and the service until stopped."""
    known = settings()
    address, port = _free(host or known.host, known.port if port is None else port)
    known.prepare()
    if not known.api_url:
        ensure_store(known.database)
        _check_store(demo)
    elif demo:
        raise UserError("--demo needs a store of its own: unset WEIR_API_URL")
    os.environ["WEIR_HOST"] = address  # the workers' settings say what is true
    shown = f"[{address}]" if ":" in address else address
    server = _server(address, port, workers or known.workers)
    if demo:
        feed = DemoFeed()
        server.on_startup(feed.start)
        server.on_shutdown(feed.stop)
    failed = multiprocessing.Lock()
    announcement = f"Weir is at http://{shown}:{port}"
    load = partial(_site, multiprocessing.Lock(), failed, announcement)
    server.serve(target_loader=load, wrap_loader=False)
    if not failed.acquire(block=False):  # a worker has said why
        raise SystemExit(1)


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
        workers_kill_timeout=STOP_S,
        log_level=LogLevels.error,
        log_dictconfig=_LOGGING,
    )


def _site(first: Lock, failed: Lock, announcement: str) -> Callable[..., Any]:
    """In a worker: build the site. The first one that has it says where; the first one that can't
    says why and stops the server, which would only start others that can't either."""
    # A worker is forked with the supervisor's handlers, which would swallow a SIGTERM that comes
    # while the site is still being built: it has no request to finish yet, so it may just end.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, signal.SIG_DFL)
    module, factory = TARGET
    try:
        site: Callable[..., Any] = getattr(import_module(module), factory)()
    except Exception as error:
        if failed.acquire(block=False):
            said = " ".join(f"{type(error).__name__}: {error}".split())
            click.echo(f"Error: the site can't be built: {said}", err=True)
            os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(STOP_S)  # the server ends us; if we went by ourselves, it would complain
        raise SystemExit(1) from error
    if first.acquire(block=False):
        click.echo(announcement)
        sys.stdout.flush()
    return site


class DemoFeed:
    """`flask demo feed` as a child process: started again when it fails, stopped with us."""

    def __init__(self) -> None:
        self._stopping = Event()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = self._spawn()
        Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)

    def _spawn(self) -> subprocess.Popen[bytes]:
        flask = [sys.executable, "-m", "flask", "--app", TARGET[0]]
        return subprocess.Popen([*flask, "demo", "feed", "--while-parent"], env=os.environ.copy())

    def _watch(self) -> None:
        while self._process is not None and self._process.wait() != 0:
            if self._stopping.wait(FEED_AGAIN_S):
                return
            self._process = self._spawn()
