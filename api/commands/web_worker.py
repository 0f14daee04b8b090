"""`weir web-worker`: one process that serves HTTP, on the listening socket of `weir serve`."""

from __future__ import annotations

import gc
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
FINISH_S: Final = 15  # seconds that running requests have when the worker ends


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
    """Serve the site on an inherited listening socket; started by `weir serve`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's: the parent decides when to end
    end_with_parent(while_parent, FINISH_S)
    share(settings())
    site = _site(news)

    def ready() -> None:
        with suppress(BrokenPipeError):  # a restart requested meanwhile doesn't wait for this one
            os.write(news, READY.encode())
        os.close(news)

    from api.server.asgi import ThreadedSite
    from api.server.connections import serve

    serve(ThreadedSite(site, root=settings().root), socket.socket(fileno=listener), FINISH_S, ready)
    _end()


def _site(news: int) -> Callable[..., Any]:
    """Builds the site. Its modules live as long as the process, so the garbage collector looks at
    them neither meanwhile nor later."""
    module, factory = TARGET
    gc.disable()
    try:
        site: Callable[..., Any] = getattr(import_module(module), factory)()
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        os.write(news, f"the site can't be built: {reason}".encode())
        raise SystemExit(HOPELESS) from error
    gc.freeze()
    gc.enable()
    return site


def _end() -> None:
    """Ends without waiting for threads whose results nobody reads any longer."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
