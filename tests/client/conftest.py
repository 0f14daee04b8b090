"""The service that the client is tested with, in this process and over a socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from werkzeug.serving import make_server

from api.catalog import KEY_HEADER
from api.client import Client, Credential
from api.server import create_service
from tests.client.scripted import Script, scripted
from tests.world import SETTINGS, World, opened


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(f"sqlite:///{tmp_path_factory.mktemp('client') / 'weir.sqlite'}") as world:
        yield world


@pytest.fixture(scope="module", params=["in process", "over a socket"])
def client(request: pytest.FixtureRequest, world: World) -> Iterator[Client]:
    """A client of the real service, with Acme's key of full access."""
    service = create_service(world.store, SETTINGS)
    credential = Credential.key(world.credentials["all"].headers[KEY_HEADER])
    if request.param == "in process":
        asking = Client.in_process(service, credential)
        yield asking
        asking.close()
        return
    server = make_server("127.0.0.1", 0, service, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    asking = Client.remote(f"http://127.0.0.1:{server.server_port}", credential)
    yield asking
    asking.close()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted() as running:
        yield running
