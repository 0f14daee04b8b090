"""A client generated from the OpenAPI document, over a real connection."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module, invalidate_caches
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any
from uuid import UUID

import orjson
import pytest
from werkzeug.serving import WSGIRequestHandler, make_server

from api.auth import issue_token
from api.catalog import BACKEND_VERSION, KEY_HEADER
from tests.world import ACME, LONE, METER, QUIET, SETTINGS, TWIN, World

PACKAGE = "device_flow_data_service_client"


class _Silent(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(world: World) -> Iterator[str]:
    server = make_server(
        "127.0.0.1", 0, world.client.application, threaded=True, request_handler=_Silent
    )
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def package(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The client, generated in a process of its own from the served document."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "document.json").write_bytes(orjson.dumps(world.json("/api-json")))
    (folder / "config.yml").write_text("post_hooks: []\n")
    generator = Path(sys.executable).with_name("openapi-python-client")
    subprocess.run(
        [generator, "generate", "--path", "document.json", "--config", "config.yml",
         "--output-path", "client", "--fail-on-warning"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    sys.path.insert(0, str(folder / "client"))
    invalidate_caches()
    yield import_module(PACKAGE)
    sys.path.remove(str(folder / "client"))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def client(world: World, address: str, package: ModuleType) -> Iterator[Any]:
    key = world.credentials["all"].headers[KEY_HEADER]
    made = package.AuthenticatedClient(
        base_url=address, token=key, prefix="", auth_header_name=KEY_HEADER
    )
    with made as client:
        yield client


def call(module: str, client: Any, *args: Any, **query: Any) -> Any:
    """The parsed response of one operation."""
    return import_module(f"{PACKAGE}.api.{module}").sync(*args, client=client, **query)


def words(name: str) -> Any:
    """One of the client's enumerations."""
    return getattr(import_module(f"{PACKAGE}.models"), name)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_it_reads_the_version_without_a_credential(address: str, package: ModuleType) -> None:
    with package.Client(base_url=address) as client:
        assert call("management.get_version", client).version == BACKEND_VERSION


def test_it_lists_organizations_and_devices(client: Any) -> None:
    (mine,) = call("management.list_my_organizations", client)
    assert (mine.id, mine.active) == (ACME, True)
    devices = call("management.list_devices", client, limit=2.0, order="DESC")
    assert len(devices) == 2
    assert devices[0].created.tzinfo is not None
    page = call("management.list_devices", client, pagination=True, limit=1.0)
    assert (len(page.data), page.total) == (1, 5)
    by_id = words("ListDevicesOrderBy").ID
    inactive = words("ListDevicesActive").NULL
    everything = call("management.list_devices", client, order_by=by_id, active=inactive)
    assert [device.id for device in everything] == sorted(device.id for device in everything)
    meter = next(device for device in everything if device.id == METER)
    assert meter.k_factor["value"] == 27.5
    assert meter.billing_subscriptions == ["sub-1", "sub-2"]


@pytest.mark.parametrize(
    "start", ["2026-03-08T06:00:00+00:00", "2026-03-08T11:30:00+05:30", "2026-03-08T06:00:00"]
)
def test_it_reads_datapoints_with_its_own_types(client: Any, world: World, start: str) -> None:
    reply = call(
        "flow.get_datapoints", client, TWIN,
        resolution=words("GetDatapointsResolution").VALUE_4, from_=at(start), limit=3.0, offset=1.0,
        timezone="Asia/Kolkata", filter_=["flowRate:gt:1", "maxQuality:lte:1e+2"],
    )  # fmt: skip
    assert (reply.resolution.value, reply.limit, reply.offset) == ("1hour", 3, 1)
    owed = world.json(
        f"/flow/datapoints/{TWIN}",
        {"resolution": "1hour", "from": "2026-03-08T06:00:00Z", "limit": "3", "offset": "1",
         "timezone": "Asia/Kolkata", "filter": ["flowRate:gt:1", "maxQuality:lte:100"]},
    )  # fmt: skip
    assert [row.to_dict() for row in reply.data] == owed["data"]


def test_it_counts(client: Any) -> None:
    raw = words("GetDatapointsResolution").RAW
    assert call("flow.get_datapoints", client, QUIET, resolution=raw, count=True).count == 0


def test_it_reads_adaptive_rows(client: Any) -> None:
    ends = {"from_": at("2026-03-08T06:00:00Z"), "to": at("2026-03-08T18:00:00Z")}
    reply = call("flow.get_adaptive", client, "L/1", max_datapoints=100.0, **ends)
    assert (reply.resolution.value, reply.truncated) == ("10min", False)
    assert reply.count == len(reply.data)
    assert reply.timezone is None


def test_it_reads_the_latest_values_of_many(client: Any) -> None:
    metric = words("GetLatestMetricsItem")
    to = datetime(2026, 3, 8, 18, tzinfo=UTC)
    reply = call(
        "flow.get_latest", client, ids=f"{METER},T-1,{LONE},{QUIET}", metrics=list(metric), to=to,
        from_=to.astimezone(timezone(timedelta(hours=-5))) - timedelta(hours=24),
    )  # fmt: skip
    assert [entry.device_id for entry in reply.data] == [
        UUID(id) for id in (METER, TWIN, LONE, QUIET)
    ]
    assert reply.range_.from_ == to - timedelta(hours=24)
    assert reply.expected_buckets == 1441
    busy, quiet = reply.data[1], reply.data[3]
    assert busy.last_datapoint.recorded_at == busy.last_seen
    assert 0 < busy.uptime.actual <= busy.uptime.expected
    assert (quiet.last_seen, quiet.last_datapoint, quiet.quality.min_) == (None, None, None)


def test_it_reads_the_document(client: Any) -> None:
    assert call("management.get_api_json", client)["openapi"] == "3.0.3"


def test_it_reads_problems(client: Any, address: str, package: ModuleType) -> None:
    raw = words("GetDatapointsResolution").RAW
    missing = call("flow.get_datapoints", client, "no-such", resolution=raw)
    assert (missing.status, missing.type_) == (404, "urn:weir:problem:not-found")
    bad = call("flow.get_datapoints", client, METER, resolution=raw, limit=5.5, timezone="Mars")
    assert [error.parameter for error in bad.errors] == ["limit", "timezone"]
    with package.Client(base_url=address) as nobody:
        assert call("management.list_devices", nobody).status == 401


def test_a_bearer_token_works_too(address: str, package: ModuleType) -> None:
    token = issue_token(SETTINGS, ACME, [TWIN], 60)
    with package.AuthenticatedClient(base_url=address, token=token) as client:
        assert [d.id for d in call("management.list_devices", client)] == [TWIN]
