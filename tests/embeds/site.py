"""The dashboard with its embeds and their frames at one address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dash import Dash
from werkzeug.serving import make_server

from api.client import Client
from api.server import create_embed_service, create_service
from api.store.open import open_web_store
from tests.dashboards import Fleet
from tests.world import SECRET, SETTINGS
from web.auth import Access
from web.dashboard import create_dashboard
from web.embed import create_embed_site


@dataclass(frozen=True)
class Managed:
    """``client`` uses the fleet's key. While ``bare`` is set the service has no embeds; while
    ``broken`` is set it fails."""

    url: str
    app: Dash
    client: Client
    fleet: Fleet
    bare: threading.Event
    broken: threading.Event


@contextmanager
def managing(fleet: Fleet, folder: Path) -> Iterator[Managed]:
    web = open_web_store(f"sqlite:///{folder / 'store.sqlite'}")
    web.upgrade()
    bare, broken = threading.Event(), threading.Event()
    service = create_service(fleet.store, SETTINGS, web=web)
    without = create_service(fleet.store, SETTINGS)

    def fragile(environ: Any, start_response: Any) -> Any:
        if broken.is_set():
            start_response("500 OOPS", [("Content-Type", "application/problem+json")])
            return [b'{"detail": "The store is on fire."}']
        return (without if bare.is_set() else service)(environ, start_response)

    client = Client.in_process(fragile)
    access = Access(SECRET, folder, demo_key=lambda: fleet.key, local_only=True)
    app = create_dashboard(client, access)
    frames = create_embed_site(
        Client.in_process(create_embed_service(fleet.store, web, SETTINGS)), web.embed
    )

    def site(environ: Any, start_response: Any) -> Any:
        framed = environ["PATH_INFO"].startswith("/embed/")
        return (frames if framed else app.server)(environ, start_response)

    server = make_server("127.0.0.1", 0, site, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        yield Managed(url, app, client.as_principal(fleet.key), fleet, bare, broken)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        client.close()
        web.close()
