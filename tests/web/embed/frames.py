"""The whole site and a host's page on another site, for tests of embeds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

from api.client import Client
from api.client.embeds import Embed, EmbedDefinition
from api.server import create_embed_service, create_service
from api.settings import Settings
from api.store.open import open_web_store
from api.store.web.base import WebStore
from tests.dashboards import Fleet
from tests.world import SECRET
from web.embed import create_embed_site


@dataclass(frozen=True)
class Embeds:
    """Embeds and their management at ``url``; ``client`` creates them with the fleet's key. While
    ``broken`` is set their service fails; while ``crowded`` is set requests for data must wait.
    ``requests``: the server's requests so far: line and headers."""

    url: str
    fleet: Fleet
    client: Client
    web: WebStore
    settings: Settings
    broken: threading.Event
    crowded: threading.Event
    requests: list[str] = field(default_factory=list)

    def make(self, view: str, *serials: str, **fields: Any) -> Embed:
        devices = tuple(self.fleet.ids[serial] for serial in serials)
        return self.client.create_embed(EmbedDefinition(view, devices, **fields))

    def token(self, embed: Embed, ttl_s: int | None = None) -> str:
        return self.client.mint_embed_token(embed.id, ttl_s).token

    def address(self, embed: Embed, token: str | None = None) -> str:
        """With a link token by default; "" for none."""
        result = self.token(embed) if token is None else token
        return f"{self.url}{embed.path}" + (f"#t={result}" if result else "")


@contextmanager
def serving_embeds(fleet: Fleet, folder: Path) -> Iterator[Embeds]:
    """At ``localhost``, which is another site than the hosts' ``127.0.0.1``."""
    store_file = folder / "store.sqlite"
    settings = Settings.from_env(
        {
            "WEIR_SECRET_KEY": SECRET,
            "WEIR_DATABASE": f"sqlite:///{store_file}",
            "WEIR_INSTANCE": str(folder),
        }
    )
    web = open_web_store(settings.database)
    web.upgrade()
    broken, crowded = threading.Event(), threading.Event()
    service = create_embed_service(fleet.store, web, settings)

    def fragile(environ: Any, start_response: Any) -> Any:
        if not broken.is_set():
            return service(environ, start_response)
        start_response("500 OOPS", [("Content-Type", "application/problem+json")])
        return [b'{"detail": "The store is on fire."}']

    managed = create_service(fleet.store, settings, web=web)
    turns = _Turnstile(crowded)
    site = create_embed_site(Client.in_process(fragile), web.embed, limit=turns)

    def application(environ: Any, start_response: Any) -> Any:
        room = site if environ["PATH_INFO"].startswith("/embed/") else managed
        return room(environ, start_response)

    query: list[str] = []
    server = make_server(
        "localhost", 0, _noting(application, query), threaded=True, request_handler=_Quiet
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    client = Client.in_process(managed, fleet.key)
    try:
        url = f"http://localhost:{server.server_port}"
        yield Embeds(url, fleet, client, web, settings, broken, crowded, query)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class _Turnstile:
    crowded: threading.Event

    def wait_s(self, address: str, token: str) -> float:
        return 0.3 if self.crowded.is_set() else 0.0


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


def _noting(application: Any, requests: list[str]) -> Any:
    def noting(environ: Any, start_response: Any) -> Any:
        lines = [f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']}"]
        lines += [f"{k}: {v}" for k, v in environ.items() if k.startswith("HTTP_")]
        requests.append("\n".join(lines))
        return application(environ, start_response)

    return noting


_VIEWPORT = "<meta name='viewport' content='width=device-width, initial-scale=1'>"


@dataclass
class Host:
    """Another site: pages by path, each with its own headers; ``requests`` as above."""

    url: str
    pages: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def page(self, body: str, path: str = "/") -> str:
        """The address of a page with that body."""
        self.pages[path] = (
            f"<!DOCTYPE html><html lang='en'><title>Host</title>{_VIEWPORT}<body>{body}"
        )
        return self.url + path


@contextmanager
def hosting() -> Iterator[Host]:
    host = Host("")

    def application(environ: Any, start_response: Any) -> Any:
        page = host.pages.get(environ["PATH_INFO"])
        kind = [("Content-Type", "text/html; charset=utf-8")]
        start_response("200 OK" if page else "404 NOT FOUND", kind)
        return [(page or "").encode()]

    server = make_server(
        "127.0.0.1", 0, _noting(application, host.requests), threaded=True, request_handler=_Quiet
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    host.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
