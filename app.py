"""The composition root: settings → store → service → client → dashboard.

It imports everything else, and nothing imports it. There are two entry points: `flask` uses
`create_app`, with every command; a production server calls `wsgi` for the whole site.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Flask

from api.commands import alert_transports, register, report

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from api.auth.key_uses import KeyUses
    from api.auth.signed import SignedAddresses
    from api.client import Client
    from api.server.shared_state import Shared
    from api.settings import Settings
    from api.store.base import Store
    from api.store.web.base import WebStore
    from web.auth import Access

    Applications = Mapping[tuple[str, ...], WSGIApplication]

SERVICE_PATHS = ("/management", "/insight", "/admin/v1", "/healthz", "/embeds/v1")
EMBED_PATHS = ("/embed",)
INTAKE_PATHS = ("/ingest",)
REPORT_S = 900  # lifetime of the token for making a scheduled report
ALERT_PICTURE_S = 300  # lifetime of the token for requesting a picture


def load_settings() -> Settings:
    from api.settings import Settings

    return Settings.from_env(os.environ)


def create_app() -> Flask:
    """The application factory for the `flask` command. Commands are available at once; the site,
    whose libraries take a second to load, is built at the first request."""
    _private()
    app = Flask("weir", static_folder=None)
    register(app, load_settings)
    app.cli.add_command(report.command(_report))
    app.extensions[alert_transports.EXTENSION] = _alert_picture
    app.extensions[alert_transports.PAPER] = _scheduled_report
    app.wsgi_app = _at_first_request(wsgi)  # pyright: ignore[reportAttributeAccessIssue]
    return app


def _report(
    client: Client, folder: Path, devices: Sequence[str], params: Mapping[str, str]
) -> report.Made:
    from web.report import written

    made = written(client, folder, devices, params)
    return report.Made(made.body, made.devices, made.first, made.last)


def _alert_picture(settings: Settings, alert: Mapping[str, Any]) -> bytes | None:
    """Draws a week of the alert's device up to now, by the machine's renderer; None where that
    fails. For threads of the writer, which have no application of their own."""
    from api.auth import issue_token
    from api.catalog import UNIT_SYSTEMS
    from api.client import Client, Credential
    from api.errors import WeirError
    from api.server import create_service
    from api.store.open import open_store
    from api.timez import now_ms
    from web.images.chart import chart_image
    from web.rendering import Renderer

    organization, device = str(alert["organizationId"]), str(alert["deviceId"])
    token = issue_token(settings, organization, [device], ALERT_PICTURE_S, subject="weir writer")
    store = open_store(settings.reading, read_only=True)
    try:
        client = Client.in_process(create_service(store, settings), Credential.bearer(token))
        units = client.me().units or UNIT_SYSTEMS[0]
        pairs = [("range", "7d"), ("width", "640"), ("height", "320"), ("units", units)]
        renderer = Renderer(Path(settings.instance))
        return chart_image(client, renderer, device, pairs, "png", now_ms()).body
    except WeirError:
        return None
    finally:
        store.close()


def _scheduled_report(settings: Settings, body: Mapping[str, Any]) -> bytes:
    """Returns the PDF of a scheduled report, made by the machine's renderer. Raises a WeirError."""
    from api.auth import issue_token
    from api.client import Client, Credential
    from api.server import create_service
    from api.store.open import open_store
    from web.report import written

    organization = str(body["organizationId"])
    token = issue_token(settings, organization, None, REPORT_S, subject="weir writer")
    store = open_store(settings.reading, read_only=True)
    try:
        client = Client.in_process(create_service(store, settings), Credential.bearer(token))
        return written(client, Path(settings.instance), (), body["report"]["params"]).body
    finally:
        store.close()


def _private() -> None:
    """Makes what this process and its children write accessible to their owner only: files 0600,
    folders 0700."""
    os.umask(0o077)


def wsgi() -> WSGIApplication:
    """Returns the whole site for a production server. Call it once per worker process."""
    _private()
    return site(load_settings())


def site(settings: Settings) -> WSGIApplication:
    """Returns the service under its paths, embeds under theirs, and the dashboard everywhere else.

    The dashboard calls its own service in process, without rate limits; requests over the network
    are limited. With WEIR_API_URL it calls that remote server instead, and this process has no
    store, service or embeds.
    """
    from api.server.monitoring import METRICS_PATH, READY_PATH, create_operations
    from api.server.path_routing import Mounted, by_path
    from api.server.readiness import Readiness
    from api.server.request_logging import RequestLogging
    from api.server.shared_state import Shared
    from web.dashboard import create_dashboard

    shared = Shared(settings.redis_url) if settings.redis_url else None
    backend = _remote_backend(settings) if settings.api_url else _local_backend(settings, shared)
    operations = create_operations(Readiness(backend.store, settings), settings)
    applications = {**backend.applications, (READY_PATH, METRICS_PATH): operations}
    access, folder = _access(settings, shared, backend.store), Path(settings.instance)
    dashboard = create_dashboard(backend.client, access, folder, backend.links, settings.public_url)
    return Mounted(RequestLogging(by_path(applications, dashboard.server), settings), settings.root)


class _Backend(NamedTuple):
    """What the dashboard depends on, and the other applications by their paths."""

    client: Client
    applications: Applications
    store: Store | None = None
    links: SignedAddresses | None = None


def _remote_backend(settings: Settings) -> _Backend:
    from api.client import Client
    from api.server.remote_stub import create_stand_in

    stand_in = create_stand_in(settings)
    applications: Applications = {(*SERVICE_PATHS, *INTAKE_PATHS): stand_in}
    return _Backend(Client.remote(settings.api_url), applications)


def _local_backend(settings: Settings, shared: Shared | None) -> _Backend:
    from api.auth.key_uses import KeyUses
    from api.auth.signed import SignedAddresses
    from api.client import Client
    from api.ingest.imports.service import ImportService, start_process
    from api.server import create_service
    from api.store.open import open_store, open_web_store

    store = open_store(settings.reading, read_only=True)
    web = open_web_store(settings.database)
    origin = open_store(settings.database)  # the web's own store, for people's few changes
    imports = ImportService(store, Path(settings.instance), start_process(settings))
    uses = KeyUses(origin)
    client = Client.in_process(
        create_service(store, settings, web=web, origin=origin, imports=imports, uses=uses)
    )
    service = create_service(
        store, settings, web=web, origin=origin, limits=True, compression=True, shared=shared,
        imports=imports, uses=uses,
    )  # fmt: skip
    applications: Applications = {
        SERVICE_PATHS: service,
        EMBED_PATHS: _embeds(settings, store, web, shared),
        INTAKE_PATHS: _intake(settings, store, shared, uses),
    }
    return _Backend(client, applications, store, SignedAddresses(store, settings))


def _embeds(
    settings: Settings, store: Store, web: WebStore, shared: Shared | None
) -> WSGIApplication:
    from api.client import Client
    from api.server import create_embed_service
    from api.server.rate_limits import FrameLimits
    from web.embed import create_embed_site

    client = Client.in_process(create_embed_service(store, web, settings))
    limits = FrameLimits(settings.rate_limit, shared=shared) if settings.rate_limit else None
    return create_embed_site(client, web.embed, limits, settings.root)


def _intake(
    settings: Settings, store: Store, shared: Shared | None, uses: KeyUses
) -> WSGIApplication:
    """Returns the application that takes readings. It reads the primary itself: a standby may not
    yet have a device whose readings arrive already. It shares the process's one connection to a
    file, since each of two would cache its own state of the log."""
    from api.ingest.http_intake import HttpIntake
    from api.ingest.ipc import IpcClient
    from api.server.intake import create_intake
    from api.store.open import open_store

    is_origin = settings.reading == settings.database
    origin = store if is_origin else open_store(settings.database, read_only=True)
    reception = HttpIntake(origin, IpcClient(settings.writer_socket_path))
    return create_intake(origin, settings, reception, limits=True, shared=shared, uses=uses)


def _access(settings: Settings, shared: Shared | None, store: Store | None) -> Access:
    from api.auth.demo_key import DemoKey
    from api.auth.sign_in_links import SignInLinks
    from api.ingest.demo.fleet import ORGANIZATION_ID
    from api.telemetry.writer_status import outage
    from web.auth import Access

    demo = DemoKey(store, settings, ORGANIZATION_ID) if store and not settings.api_key else str
    return Access(
        secret=settings.secret,
        folder=settings.ended_sessions_path,
        demo_key=demo,
        local_only=settings.local_only,
        links=SignInLinks(settings.sign_in_links_path),
        link_key=settings.api_key,
        proxy_bearer=settings.proxy_bearer,
        shared=shared,
        outage=str if settings.api_url else partial(outage, Path(settings.instance)),
        is_empty=bool if store is None else partial(_is_empty, store),
        **_demo_of_empty_store(settings, store),
    )


def _demo_of_empty_store(settings: Settings, store: Store | None) -> dict[str, Any]:
    """Returns how the sign-in page has the demo fleet created, where nobody can sign in yet."""
    if store is None or settings.api_key:
        return {}
    from api.commands.demo import create_alone, lacks_demo

    return {
        "lacks_demo": partial(lacks_demo, store, settings),
        "create_demo": partial(create_alone, settings),
    }


def _is_empty(store: Store) -> bool:
    """Returns False where the store can't be read."""
    from api.errors import WeirError

    try:
        return not store.organizations()
    except WeirError:
        return False


def _at_first_request(build: Callable[[], WSGIApplication]) -> WSGIApplication:
    lock = Lock()
    built: list[WSGIApplication] = []

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        with lock:
            if not built:
                built.append(build())
        return built[0](environ, start_response)

    return application
