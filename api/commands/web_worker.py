"""`flask web-worker`: one process that answers HTTP, on a socket that `flask serve` listens on."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

import click
from flask.cli import with_appcontext

from api.commands.command import Command
from api.commands.exit_with_parent import end_with_parent
from api.commands.store_access import settings
from api.commands.supervisor import HOPELESS, READY
from api.commands.writer import share

TARGET: Final = ("app", "wsgi")  # module, and its factory of the whole site
FINISH_S: Final = 15  # what the requests that have begun may take when the worker is to end


@click.command("web-worker", cls=Command, hidden=True)
@click.option("--listener", type=int, required=True, help="The listening socket's descriptor.")
@click.option(
    "--news",
    type=int,
    required=True,
    help="Descriptor for reporting readiness or the start-up error.",
)
@click.option("--while-parent", type=int, required=True, help="Stop when this parent process ends.")
@with_appcontext
def web_worker(listener: int, news: int, while_parent: int) -> None:
    """Serve the site on a socket that is listening already; `flask serve` starts it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's; the parent says when it is time
    end_with_parent(while_parent, FINISH_S)
    share(settings())
    site = _site(news)

    def ready() -> None:
        with suppress(BrokenPipeError):  # a restart that came meanwhile doesn't wait for this one
            os.write(news, READY.encode())
        os.close(news)

    from api.server.asgi import ThreadedSite
    from api.server.connections import serve

    serve(ThreadedSite(site, root=settings().root), socket.socket(fileno=listener), FINISH_S, ready)
    _end()


def _site(news: int) -> Callable[..., Any]:
    module, factory = TARGET
    try:
        site: Callable[..., Any] = getattr(import_module(module), factory)()
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        os.write(news, f"the site can't be built: {reason}".encode())
        raise SystemExit(HOPELESS) from error
    return site


def _end() -> None:
    """Without waiting for a thread that still works at what nobody reads any more."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
