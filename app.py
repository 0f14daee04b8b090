"""Weir, put together: settings → store → service → client → dashboard.

Everything else is imported from here, and nothing imports this. Two ways in: `flask` finds
`create_app` and with it every command; a production server calls `wsgi` for the whole site.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from flask import Flask

from api.commands import register, report
from api.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from api.client import Client
    from api.store.base import Store

SERVICE_PATHS = ("/management", "/healthz", "/embeds/v1")
EMBED_PATHS = ("/embed",)
INTAKE_PATHS = ("/ingest",)


def load_settings() -> Settings:
    return Settings.from_env(os.environ)


def create_app() -> Flask:
    """What the `flask` command line finds. The commands are there at once; the site, whose
    libraries take a second to load, is built when it is first asked for a page."""
    app = Flask("weir", static_folder=None)
    register(app, load_settings)
    app.cli.add_command(report.command(_report))
    app.wsgi_app = _at_first_request(wsgi)  # pyright: ignore[reportAttributeAccessIssue]
    return app


def _report(
    client: Client, folder: Path, devices: Sequence[str], said: Mapping[str, str]
) -> report.Made:
    from components.report.writing import written

    made = written(client, folder, devices, said)
    return report.Made(made.body, made.devices, made.first, made.last)


def wsgi() -> WSGIApplication:
    """The whole site for a production server: one call a worker process."""
    return site(load_settings())


def site(settings: Settings) -> WSGIApplication:
    """The service under its paths, embeds under theirs, the dashboard everywhere else.

    The dashboard asks its own service in-process, without rate limits; what comes over the
    network is limited. With WEIR_API_URL it asks that remote server instead, and there is neither
    a store, a service nor an embed here.
    """
    from api.auth.signed import SignedAddresses
    from api.client import Client
    from api.ingest.door import Knocker
    from api.ingest.reception import Reception
    from api.server import create_embed_service, create_service
    from api.server.elsewhere import create_stand_in
    from api.server.intake import create_intake
    from api.server.limits import FrameLimits
    from api.server.operations import METRICS_PATH, READY_PATH, create_operations
    from api.server.readiness import Readiness
    from api.server.shared import Shared
    from api.server.watched import Watched
    from api.store.open import open_store, open_web_store
    from api.watch.pulse import outage
    from components.access import Access
    from components.access.rules import is_loopback
    from components.dashboard import create_dashboard
    from embed import create_embed_site

    folder = Path(settings.instance)
    shared = Shared(settings.redis_url) if settings.redis_url else None
    links: SignedAddresses | None = None
    rooms: dict[tuple[str, ...], WSGIApplication] = {}
    store: Store | None = None
    if settings.api_url:
        client = Client.remote(settings.api_url)
        rooms[(*SERVICE_PATHS, *INTAKE_PATHS)] = create_stand_in(settings)
    else:
        store = open_store(settings.reading, read_only=True)
        web = open_web_store(settings.database)
        client = Client.in_process(create_service(store, settings, web=web))
        rooms[SERVICE_PATHS] = create_service(
            store, settings, web=web, limits=True, compression=True, shared=shared
        )
        links = SignedAddresses(store, settings)
        asked = Client.in_process(create_embed_service(store, web, settings))
        turns = FrameLimits(settings.rate_limit, shared=shared) if settings.rate_limit else None
        rooms[EMBED_PATHS] = create_embed_site(asked, web.embed, folder, turns)
        # A standby may not know a device yet whose readings come already.
        origin = open_store(settings.database, read_only=True)
        reception = Reception(origin, Knocker(settings.writer_socket_path))
        rooms[INTAKE_PATHS] = create_intake(origin, settings, reception, limits=True, shared=shared)
    operations = create_operations(Readiness(store, settings), settings)
    rooms[READY_PATH, METRICS_PATH] = operations
    access = Access(
        secret=settings.secret,
        folder=settings.ended_sessions_path,
        own_key=settings.dashboard_key,
        own_name="this machine's key" if settings.api_key else "the demo fleet",
        listens_on_loopback=is_loopback(settings.host),
        proxy_bearer=settings.proxy_bearer,
        shared=shared,
        outage=str if settings.api_url else partial(outage, folder),
    )
    dashboard = create_dashboard(client, access, folder, links, settings.public_url).server
    return Watched(_by_path(rooms, dashboard), settings)


def _by_path(
    rooms: Mapping[tuple[str, ...], WSGIApplication], elsewhere: WSGIApplication
) -> WSGIApplication:
    """Each path to the room that has it, or something above it."""
    owners = [(own, room) for paths, room in rooms.items() for own in paths]

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = "/" + environ.get("PATH_INFO", "").lstrip("/")
        found = (room for own, room in owners if path == own or path.startswith(f"{own}/"))
        return next(found, elsewhere)(environ, start_response)

    return application


def _at_first_request(build: Callable[[], WSGIApplication]) -> WSGIApplication:
    lock = Lock()
    built: list[WSGIApplication] = []

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        with lock:
            if not built:
                built.append(build())
        return built[0](environ, start_response)

    return application
