"""State that hosts share in a real Redis; without it each host works alone, without a 500."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from api.catalog import KEY_HEADER
from api.client import Credential
from api.errors import TooManyRequests
from api.server import create_service
from api.server.rate_limits import BURST_S, FAILURES_BURST, Limits
from api.server.shared_state import AGAIN_S, Shared
from api.settings import Settings
from tests import servers
from tests.auth.directory import Clock
from tests.tables import cases
from tests.world import SECRET, World, opened
from web.auth.session_cookie import Session, SignedOutSessions
from web.auth.sign_in import BURST, Throttle


class Hosts(NamedTuple):
    """Two hosts with one Redis, and its process."""

    here: Shared
    there: Shared
    process: int


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with servers.redis(tmp_path) as (url, server):
        here, there = Shared(url), Shared(url)
        yield Hosts(here, there, server.pid)
        here.close()
        there.close()


@pytest.fixture
def nowhere() -> Iterator[Shared]:
    shared = Shared(f"redis://127.0.0.1:{servers.free_port()}/0")
    yield shared
    shared.close()


def admitted(limits: Limits, most: int) -> int:
    for number in range(most):
        try:
            limits.admit_key("key_1")
        except TooManyRequests:
            return number
    return most


def test_a_rate_limit_is_shared_by_all_hosts(hosts: Hosts) -> None:
    here, there = (Limits(0.5, shared=shared) for shared in (hosts.here, hosts.there))
    assert admitted(here, 3) == 3
    assert admitted(there, 10) == 0.5 * BURST_S - 3
    here.admit_address("10.0.0.1")


def test_a_bucket_refills_by_the_servers_clock(hosts: Hosts) -> None:
    assert hosts.here.wait_s("b", 10, 1, take=True) == 0
    left_s = hosts.there.wait_s("b", 10, 1, take=True)
    assert left_s is not None
    assert 0 < left_s <= 0.1
    time.sleep(left_s + 0.01)
    assert hosts.here.wait_s("b", 10, 1, take=False) == 0


def test_failures_of_an_address_are_counted_on_all_hosts(hosts: Hosts) -> None:
    here, there = (Limits(1, shared=shared) for shared in (hosts.here, hosts.there))
    for _ in range(int(FAILURES_BURST) + 20):
        here.failed("10.0.0.1")
    with pytest.raises(TooManyRequests):
        there.admit_address("10.0.0.1")
    there.admit_address("10.0.0.2")


def test_failed_sign_ins_are_counted_on_all_hosts(hosts: Hosts) -> None:
    here, there = (Throttle(shared=shared) for shared in (hosts.here, hosts.there))
    for _ in range(BURST):
        assert there.wait_s("10.0.0.1") == 0
        here.failed("10.0.0.1")
    assert 1 <= there.wait_s("10.0.0.1") <= 2
    assert there.wait_s("10.0.0.2") == 0


def test_a_signed_out_session_ends_on_all_hosts(hosts: Hosts, tmp_path: Path) -> None:
    now_s = int(time.time())
    here, there = (
        SignedOutSessions(tmp_path / name, now_s, shared)
        for name, shared in (("1", hosts.here), ("2", hosts.there))
    )
    first, second = (Session.begin(Credential.key("key"), now_s) for _ in range(2))
    here.add(first, now_s)
    assert there.has(first, now_s)
    assert not there.has(second, now_s)


# --- Without it ----------------------------------------------------------------------------------


def test_without_redis_each_host_works_alone(nowhere: Shared, tmp_path: Path) -> None:
    assert admitted(Limits(0.5, shared=nowhere), 10) == 0.5 * BURST_S
    attempts = Throttle(shared=nowhere)
    for _ in range(BURST):
        attempts.failed("10.0.0.1")
    assert attempts.wait_s("10.0.0.1")
    now_s = int(time.time())
    ended = SignedOutSessions(tmp_path, now_s, nowhere)
    first, second = (Session.begin(Credential.key("key"), now_s) for _ in range(2))
    ended.add(first, now_s)
    assert ended.has(first, now_s)
    assert not ended.has(second, now_s)


def test_a_missing_redis_is_logged_once_and_costs_little(
    nowhere: Shared, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        started_s = time.monotonic()
        assert [nowhere.is_noted("x") for _ in range(1000)] == [None] * 1000
        assert time.monotonic() - started_s < 2
    assert [r.message.partition(";")[0] for r in caplog.records] == ["Redis can't be used"]


def test_a_hanging_redis_blocks_nobody_and_is_used_once_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    with servers.redis(tmp_path) as (url, server), caplog.at_level(logging.WARNING):
        shared = Shared(url, clock.seconds)
        assert shared.is_noted("x") is False
        os.kill(server.pid, signal.SIGSTOP)
        started_s = time.monotonic()
        assert [shared.is_noted("x") for _ in range(50)] == [None] * 50
        assert time.monotonic() - started_s < 3
        os.kill(server.pid, signal.SIGCONT)
        clock.at_s += AGAIN_S
        assert shared.is_noted("x") is False
        shared.close()
    assert caplog.records[-1].message == "Redis responds again"


def test_requests_succeed_while_redis_dies(tmp_path: Path) -> None:
    settings = Settings.from_env({"WEIR_SECRET_KEY": SECRET, "WEIR_RATE_LIMIT": "100"})
    with (
        opened(f"sqlite:///{tmp_path / 'weir.sqlite'}") as world,
        servers.redis(tmp_path) as (url, server),
    ):
        shared = Shared(url)
        client = create_service(world.store, settings, limits=True, shared=shared).test_client()

        def status(world: World = world) -> int:
            sent = {KEY_HEADER: world.credentials["all"].headers[KEY_HEADER]}
            return client.get("/management/v1/organizations/mine", headers=sent).status_code

        assert status() == 200
        server.kill()
        server.wait()
        assert [status() for _ in range(5)] == [200] * 5
        shared.close()


@cases("url", ["localhost:6379", "http://localhost", "redis://", "unix:"])
def test_an_invalid_url_stops_the_start(url: str) -> None:
    with pytest.raises(Exception, match="WEIR_REDIS_URL must be"):
        Settings.from_env({"WEIR_REDIS_URL": url})
