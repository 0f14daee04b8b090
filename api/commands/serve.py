"""`weir serve`: the production server: web workers, and the writer beside them.

This process only supervises. It holds the listening socket, which every worker inherits: while it
runs, no connection is refused, even if workers end. Each child that ends is restarted, and all end
with this process. On SIGHUP all are replaced.
"""

from __future__ import annotations

import os
import socket
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

import click
from flask.cli import with_appcontext

from api.commands.command import Command
from api.commands.store_access import ensure_store, opened, settings
from api.commands.supervisor import Child, Supervisor
from api.commands.web_worker import FINISH_S
from api.commands.writer import STOP_S as WRITER_STOP_S
from api.commands.writer import share
from api.errors import UserError
from api.ingest.demo.fleet import ORGANIZATION_ID

if TYPE_CHECKING:
    from api.settings import Settings

BACKLOG: Final = 1_024


@click.command(cls=Command)
@click.option("--host", help="The address to listen on. Default: WEIR_HOST.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="The port to listen on; 0 for any free one. Default: WEIR_PORT.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    help="Number of web worker processes. Default: WEIR_WORKERS.",
)
@click.option("--demo", is_flag=True, help="Also send the demo fleet's live readings.")
@click.option("--no-writer", is_flag=True, help="Run no writer: this host receives no readings.")
@with_appcontext
def serve(
    host: str | None, port: int | None, workers: int | None, demo: bool, no_writer: bool
) -> None:
    """Serve the dashboard and the service until stopped."""
    config = settings()
    listener = _listening(host or config.host, config.port if port is None else port)
    config.prepare()
    share(config)
    if not config.api_url:
        ensure_store(config.database)
        _check_store(demo)
    elif demo:
        raise UserError("--demo needs a local store: unset WEIR_API_URL")
    if demo and no_writer:
        raise UserError("--demo needs the writer: remove --no-writer")
    address, port = listener.getsockname()[:2]
    os.environ["WEIR_HOST"] = address  # the workers' address, as bound
    host_name = f"[{address}]" if ":" in address else address
    children = [
        Child("web worker", partial(_web_worker, listener), FINISH_S + 3, overlaps=True)
        for _ in range(workers or config.workers)
    ]
    if not config.api_url and not no_writer:
        children.append(Child("writer", partial(_writer, demo), WRITER_STOP_S))
    if Supervisor(children, partial(_announce, config, f"http://{host_name}:{port}")).run():
        raise SystemExit(1)


def _announce(config: Settings, origin: str) -> None:
    click.echo(f"Weir is at {origin}")
    if config.api_key:
        from api.auth.sign_in_links import LASTS_S, SignInLinks

        links = SignInLinks(config.sign_in_links_path)
        links.end_all()  # links of an earlier start
        name = socket.gethostname()
        everywhere = origin.replace("//0.0.0.0:", f"//{name}:").replace("//[::]:", f"//{name}:")
        link = links.make(config.public_url or everywhere)
        click.echo(f"Sign in once, within {LASTS_S // 60} minutes: {link}")
    sys.stdout.flush()


def _web_worker(listener: socket.socket, news: int) -> int:
    for descriptor in (listener.fileno(), news):
        os.set_inheritable(descriptor, True)
    return _become("web-worker", "--listener", str(listener.fileno()), "--news", str(news))


def _writer(demo: bool, news: int) -> int:
    os.close(news)
    return _become("writer", *(["--demo"] * demo))


def _become(command: str, *options: str) -> int:
    """Starts a fresh interpreter, so that a child that is started later runs the version installed
    then."""
    parent = ("--while-parent", str(os.getppid()))
    os.execv(sys.executable, [sys.executable, "-m", "weir", command, *options, *parent])


def _check_store(demo: bool) -> None:
    with opened(read_only=True) as store:  # it exists and has this schema
        if demo and store.organization(ORGANIZATION_ID) is None:
            raise UserError("there is no demo fleet: run weir demo seed")


def _listening(host: str, port: int) -> socket.socket:
    """Returns a listening socket. Raises UserError where that fails."""
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(BACKLOG)
    except OSError as error:
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listener
