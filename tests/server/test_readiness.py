"""/readyz and /metrics, of a healthy store and of each fault."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from api.errors import Unavailable
from api.server.monitoring import create_operations
from api.server.readiness import DEGRADED, FAILED, OK, Check, Readiness, overall
from api.settings import Settings
from api.store.base import Replica, Store, StoreFile
from api.store.migrations import CURRENT
from api.store.open import open_store
from api.store.sqlite import LOOK_EVERY_S
from api.telemetry import writer_status


class Host:
    """A host with its store; ``client`` requests as a load balancer does."""

    def __init__(self, folder: Path, store: Store | None = None, **text: str) -> None:
        self.folder = folder
        self.settings = Settings.from_env(
            {"WEIR_INSTANCE": str(folder), "WEIR_DISK_MIN_MB": "0", **text}
        )
        self.readiness = Readiness(store, self.settings)

    @property
    def client(self) -> FlaskClient:
        return create_operations(self.readiness, self.settings).test_client()

    def write_status(self, **fields: Any) -> None:
        status = writer_status.of_this_process(**fields)
        (self.folder / writer_status.FILE).write_text(json.dumps(_dict(status)))

    def ready(self, query: str = "") -> tuple[int, dict[str, Any]]:
        self.readiness._cached_at_s = -60.0  # pyright: ignore[reportPrivateUsage]
        answer = self.client.get(f"/readyz{query}")
        assert answer.headers["Cache-Control"] == "no-store"
        return answer.status_code, json.loads(answer.data)


def _dict(text: writer_status.WriterStatus) -> dict[str, Any]:
    return {name: getattr(text, name) for name in text.__slots__}


@pytest.fixture
def host(tmp_path: Path, sqlite_store: Store) -> Host:
    host = Host(tmp_path, sqlite_store)
    host.write_status(last_commit_s=time.time() - 30)
    return host


def test_a_healthy_host_is_ready_with_its_numbers(host: Host, tmp_path: Path) -> None:
    status, result = host.ready()
    assert (status, result["status"]) == (200, "ready")
    checks = result["checks"]
    assert checks["store"]["schema"] >= 2
    assert checks["file"]["inode"] == (tmp_path / "weir.sqlite").stat().st_ino
    assert checks["commit"]["ageS"] < 30  # the file was made a moment ago
    assert checks["disk"]["freeBytes"] > 0
    assert checks["writer"] == {"status": "ok", "waitingRows": 0}
    assert "feed" not in checks
    assert "replica" not in checks
    assert str(tmp_path) not in json.dumps(result)


def _gone(host: Host) -> None:
    (host.folder / "weir.sqlite").unlink()


def _rubbish(host: Host) -> None:
    (host.folder / "weir.sqlite-wal").unlink()  # every page is still cached, so reads would succeed
    (host.folder / "other").write_text("Dear diary, " * 1000)
    (host.folder / "other").replace(host.folder / "weir.sqlite")


def _empty(host: Host) -> None:
    (host.folder / "other").touch()
    (host.folder / "other").replace(host.folder / "weir.sqlite")


def _no_writer_status(host: Host) -> None:
    (host.folder / writer_status.FILE).unlink()


def _old_writer_status(host: Host) -> None:
    result = _dict(writer_status.of_this_process()) | {"at_s": time.time() - 60}
    (host.folder / writer_status.FILE).write_text(json.dumps(result))


def _dead_writer_status(host: Host) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    result = _dict(writer_status.of_this_process()) | {"pid": child}
    (host.folder / writer_status.FILE).write_text(json.dumps(result))


def _truncated_writer_status(host: Host) -> None:
    (host.folder / writer_status.FILE).write_text('{"pid": 1')


def _problem(host: Host) -> None:
    host.write_status(problem="The store can't be written: /secret/place.")


FAULTS = [
    (_gone, "file", 503, "not ready", "The store's file is missing."),
    (_rubbish, "store", 503, "not ready", "damaged"),
    (_empty, "store", 503, "not ready", "no schema"),
    (_no_writer_status, "writer", 200, "degraded", "No writer"),
    (_old_writer_status, "writer", 200, "degraded", "stopped or hangs"),
    (_dead_writer_status, "writer", 200, "degraded", "stopped or hangs"),
    (_truncated_writer_status, "writer", 200, "degraded", "No writer"),
    (_problem, "writer", 200, "degraded", "can't store readings"),
]


@pytest.mark.parametrize(("happens", "where", "status", "word", "detail"), FAULTS)
def test_each_fault_is_reported_in_its_part(
    host: Host, happens: Callable[[Host], None], where: str, status: int, word: str, detail: str
) -> None:
    host.ready()
    happens(host)
    time.sleep(LOOK_EVERY_S)  # until the store looks at its files again
    code, result = host.ready()
    assert (code, result["status"]) == (status, word)
    assert detail in result["checks"][where]["detail"]
    assert "/secret/place" not in json.dumps(result)
    assert host.ready("?need=disk")[0] == status
    assert host.ready(f"?need=disk,{where}")[0] == 503


OUTAGES: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"problem": "The disk is full."}, "Readings aren't being stored. The disk is full."),
    ({"feed": ""}, ""),
    ({"feed": "can't be reached"}, "No readings from the broker"),
    ({"listener": ""}, ""),
    ({"listener": "can't listen on 10.0.0.1:1883"}, "No readings from meters by MQTT"),
    ({"at_s": time.time() - 60}, "the writer has stopped"),
]


@pytest.mark.parametrize(("fields", "words"), OUTAGES)
def test_pages_get_the_reason_why_no_reading_is_stored(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    assert writer_status.outage(tmp_path) == ""  # without any status
    row = _dict(writer_status.of_this_process(feed=None)) | fields
    (tmp_path / writer_status.FILE).write_text(json.dumps(row))
    result = writer_status.outage(tmp_path)
    assert words in result
    assert bool(result) is bool(words)


def test_a_restarting_writer_is_not_an_outage(host: Host) -> None:
    _dead_writer_status(host)
    assert writer_status.outage(host.folder) == ""


def test_a_replaced_store_is_opened_again_and_ready(host: Host, tmp_path: Path) -> None:
    before = host.ready()[1]["checks"]["file"]["inode"]
    newer = open_store(f"sqlite:///{tmp_path / 'newer.sqlite'}")
    newer.upgrade()
    newer.close()
    (tmp_path / "newer.sqlite").replace(tmp_path / "weir.sqlite")
    code, result = host.ready()
    assert (code, result["status"]) == (200, "ready")
    assert result["checks"]["file"]["inode"] != before


def test_little_space_is_degraded(tmp_path: Path, sqlite_store: Store) -> None:
    host = Host(tmp_path, sqlite_store, WEIR_DISK_MIN_MB="99000000")
    host.write_status()
    code, result = host.ready()
    assert (code, result["status"], result["checks"]["disk"]["status"]) == (
        200,
        "degraded",
        "degraded",
    )


@pytest.mark.parametrize(
    ("feed", "expected"), [("", "ok"), ("connection lost", "degraded"), (None, "degraded")]
)
def test_the_feed_is_checked_if_there_is_a_broker(
    tmp_path: Path, sqlite_store: Store, feed: str | None, expected: str
) -> None:
    host = Host(tmp_path, sqlite_store, WEIR_MQTT_URL="mqtt://weir@broker.example")
    host.write_status(feed=feed)
    check = host.ready()[1]["checks"]["feed"]
    assert check["status"] == expected
    assert "broker.example" not in json.dumps(check)


@pytest.mark.parametrize(
    ("listener", "status", "detail"),
    [
        ("", "ok", ""),
        ("can't listen on 10.0.0.1:1883", "degraded", "Meters can't connect by MQTT"),
        (None, "degraded", "No writer on this host listens"),
    ],
)
def test_the_listener_is_checked_if_there_is_one(
    tmp_path: Path, sqlite_store: Store, listener: str | None, status: str, detail: str
) -> None:
    host = Host(tmp_path, sqlite_store, WEIR_MQTT_LISTEN="10.0.0.1:1883")
    host.write_status(listener=listener, clients=3, listener_message_s=time.time() - 5)
    check = host.ready()[1]["checks"]["listener"]
    assert (check["status"], detail in check.get("detail", "")) == (status, True)
    assert "10.0.0.1" not in json.dumps(check)
    assert check["clients"] == (0 if listener is None else 3)
    assert ("weir_mqtt_clients 3.0" in host.client.get("/metrics").text) is (listener is not None)


@pytest.mark.parametrize(
    ("second", "status", "detail"),
    [
        ({"feed": ""}, "ok", ""),
        ({"feed": "connection lost"}, "degraded", "can't be reached"),
        ({"feed": "", "at_s": 0.0}, "degraded", "An ingester has stopped or hangs"),
        ({"feed": None}, "ok", ""),
    ],
)
def test_several_ingesters_give_the_worst_state_and_the_latest_message(
    tmp_path: Path, sqlite_store: Store, second: dict[str, Any], status: str, detail: str
) -> None:
    host = Host(tmp_path, sqlite_store, WEIR_MQTT_URL="mqtt://weir@broker.example")
    host.write_status(feed="", last_message_s=time.time() - 90)
    beside = writer_status.of_this_process(last_message_s=time.time() - 600)
    (tmp_path / writer_status.file_of("weir-2-of-3")).write_text(json.dumps(_dict(beside) | second))
    check = host.ready()[1]["checks"]["feed"]
    assert check["status"] == status
    assert detail in check.get("detail", "")
    assert 89 < check["ageS"] < 120
    well = second["feed"] is not None and "at_s" not in second
    assert check["ingesters"] == 1 + well


# --- Stores that no test can make quickly --------------------------------------------------------


class Scripted:
    """A store with scripted replies."""

    def __init__(self, replica: Replica | None = None, opened: int | None = None) -> None:
        self._replica, self._opened = replica, opened
        self.hang = threading.Event()
        self.hang.set()

    def check(self) -> None:
        assert self.hang.wait(30)

    def schema_version(self) -> int:
        return 2

    def file(self) -> StoreFile | None:
        return self._opened and StoreFile(Path("/nowhere/weir.sqlite"), 7, self._opened, None)

    def replica(self) -> Replica | None:
        return self._replica


@pytest.mark.parametrize(
    ("replica", "status"),
    [
        (Replica(True, 0.5), OK),
        (Replica(True, 10.0), OK),
        (Replica(True, 10.1), DEGRADED),
        (Replica(True, None), DEGRADED),
        (Replica(False, 0.0), DEGRADED),
    ],
)
def test_a_standby_may_lag_ten_seconds(tmp_path: Path, replica: Replica, status: str) -> None:
    checks = Readiness(cast(Store, Scripted(replica)), Host(tmp_path).settings).checks()
    assert checks["replica"].status == overall(checks) == status
    assert checks["replica"].facts["lagS"] == replica.lag_s


def test_readers_of_another_file_are_not_ready(tmp_path: Path) -> None:
    checks = Readiness(cast(Store, Scripted(opened=8)), Host(tmp_path).settings).checks()
    assert checks["file"] == Check(
        FAILED, "The store's file was replaced by another one.", {"inode": 7}
    )


def test_a_hanging_store_is_reported_in_time_and_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.server.readiness.PATIENCE_S", 0.2)
    store = Scripted()
    store.hang.clear()
    host = Host(tmp_path, cast(Store, store))
    began_s = time.monotonic()
    for _ in range(2):
        assert host.ready()[1]["checks"]["store"]["detail"].startswith("No response within")
    assert time.monotonic() - began_s < 5
    store.hang.set()
    deadline = time.monotonic() + 20
    while host.ready()[0] != 200:
        assert time.monotonic() < deadline
    assert [t.name for t in threading.enumerate()].count("readiness_0") <= 1 + 20


def test_a_dashboard_of_another_server_is_ready_without_a_store(tmp_path: Path) -> None:
    assert Host(tmp_path).ready()[0] == 200


def test_results_are_cached_for_one_second(tmp_path: Path) -> None:
    wanted: list[int] = []

    class Counting(Scripted):
        def check(self) -> None:
            wanted.append(1)
            raise Unavailable("away")

    readiness = Readiness(cast(Store, Counting()), Host(tmp_path).settings)
    for _ in range(50):
        assert overall(readiness.checks()) == FAILED
    assert len(wanted) <= 2


# --- Metrics -------------------------------------------------------------------------------------

TOKEN = "a-token-for-metrics"


@pytest.mark.parametrize(
    ("token", "peer", "headers", "status"),
    [
        ("", "127.0.0.1", {}, 200),
        ("", "::1", {}, 200),
        ("", "192.0.2.1", {}, 404),
        ("", "127.0.0.1", {"X-Forwarded-For": "192.0.2.1"}, 404),
        ("", "127.0.0.1", {"Via": "1.1 proxy"}, 404),
        ("", "127.0.0.1", {"Host": "127.0.0.1:8050"}, 200),
        ("", "127.0.0.1", {"Host": "weir.example"}, 404),  # a proxy that adds no header
        ("", "127.0.0.1", {"Host": "rebound.example:8050"}, 404),
        ("", "127.0.0.1", {"CF-Connecting-IP": "192.0.2.1"}, 404),
        ("", "127.0.0.1", {"Tailscale-User-Login": "somebody"}, 404),
        ("", "127.0.0.1", {"Sec-Fetch-Site": "cross-site"}, 404),
        ("", "127.0.0.1", {"Origin": "http://evil.example"}, 404),
        (TOKEN, "127.0.0.1", {"Authorization": f"Bearer {TOKEN}", "Host": "weir.example"}, 200),
        ("", "192.0.2.1", {"Authorization": f"Bearer {TOKEN}"}, 404),
        (TOKEN, "192.0.2.1", {"Authorization": f"Bearer {TOKEN}"}, 200),
        (TOKEN, "192.0.2.1", {"Authorization": f"Bearer {TOKEN}x"}, 401),
        (TOKEN, "192.0.2.1", {"Authorization": "Bearer ünï"}, 401),
        (TOKEN, "192.0.2.1", {"Authorization": f"Basic {TOKEN}"}, 401),
        (TOKEN, "127.0.0.1", {}, 401),
    ],
)
def test_metrics_are_for_this_machine_or_for_the_token(
    tmp_path: Path, token: str, peer: str, headers: dict[str, str], status: int
) -> None:
    host = Host(tmp_path, WEIR_METRICS_TOKEN=token)
    answer = host.client.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": peer})
    assert answer.status_code == status
    assert (b"weir_check" in answer.data) is (status == 200)
    assert TOKEN.encode() not in answer.data


def test_the_checks_are_gauges_too(host: Host) -> None:
    text = host.client.get("/metrics").text
    assert 'weir_check{check="store"} 1.0' in text
    assert f"weir_schema_version {CURRENT}.0" in text
    assert "weir_disk_free_bytes " in text
    assert "weir_last_commit_age_seconds " in text
    assert "weir_replica_lag_seconds" not in text
