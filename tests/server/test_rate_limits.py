"""Rate limits per key and address; one client's failures lock nobody else out."""

from __future__ import annotations

import pytest

from api.auth import Authenticator
from api.catalog import CREDENTIAL_CACHE_S
from api.errors import TooManyRequests, Unauthorized
from api.server import create_service
from api.server.credential_gate import Gate
from api.server.rate_limits import (
    BURST_S,
    FAILURES_BURST,
    FAILURES_PER_S,
    Buckets,
    FrameLimits,
    Limits,
)
from api.settings import Settings
from api.store.base import Store
from tests.auth.directory import Clock, FakeDirectory, authenticator
from tests.world import SECRET, World, build


def test_a_bucket_holds_a_burst_and_refills_at_its_rate() -> None:
    clock = Clock()
    bucket = Buckets(per_s=2, burst=5, clock_s=clock.seconds)
    assert [bucket.take("a") for _ in range(5)] == [0.0] * 5
    assert bucket.take("a") == pytest.approx(0.5)
    assert bucket.take("b") == 0.0
    clock.at_s += 0.5
    assert bucket.wait("a") == pytest.approx(0)
    assert bucket.take("a") == 0.0
    assert bucket.take("a") > 0
    clock.at_s += 1000
    assert [bucket.take("a") for _ in range(5)] == [0.0] * 5
    assert bucket.take("a") > 0


def test_refused_requests_cost_nothing() -> None:
    clock = Clock()
    bucket = Buckets(per_s=1, burst=1, clock_s=clock.seconds)
    bucket.take("a")
    assert all(bucket.take("a") == 1.0 for _ in range(100))


def test_frames_are_limited_by_address_and_by_token() -> None:
    clock = Clock()
    frames = FrameLimits(per_key_s=20, clock_s=clock.seconds)
    assert [frames.wait_s("here", "a") for _ in range(10)] == [0.0] * 10
    assert frames.wait_s("here", "a") == frames.wait_s("here", "b") == pytest.approx(1.0)
    assert [frames.wait_s("there", "a") for _ in range(10)] == [0.0] * 10
    assert frames.wait_s("elsewhere", "a") == pytest.approx(0.5)
    assert frames.wait_s("elsewhere", "b") == 0.0
    clock.at_s += 1.0
    assert frames.wait_s("here", "a") == 0.0


class LimitedGate:
    """A gate with limits and a directory of keys, on one clock."""

    def __init__(self, per_key_s: float = 1.0) -> None:
        self.clock, self.directory = Clock(), FakeDirectory()
        self.authenticator: Authenticator = authenticator(self.directory, self.clock)
        self.gate = Gate(self.authenticator, Limits(per_key_s, self.clock.seconds))

    def enter(self, key: str, address: str = "10.0.0.1") -> str:
        environ = {"HTTP_SERVICE_API_KEY": key, "REMOTE_ADDR": address}
        return self.gate.enter(environ).id

    def fail_until_refused(self, address: str = "10.0.0.1") -> int:
        for number in range(10_000):
            try:
                self.enter("no key", address)
            except TooManyRequests:
                return number
            except Unauthorized:
                continue
        raise AssertionError("never refused")


def test_a_key_has_a_burst_of_ten_seconds() -> None:
    door = LimitedGate(per_key_s=3)
    key = door.directory.new_key()
    for _ in range(3 * BURST_S):
        door.enter(key)
    with pytest.raises(TooManyRequests) as caught:
        door.enter(key)
    assert caught.value.retry_after_s == pytest.approx(1 / 3)
    door.clock.at_s += 1 / 3 + 0.001
    door.enter(key)


def test_failures_are_counted_by_address() -> None:
    door = LimitedGate()
    assert door.fail_until_refused() == FAILURES_BURST
    with pytest.raises(Unauthorized):
        door.enter("no key", "10.0.0.2")
    door.clock.at_s += 1 / FAILURES_PER_S + 0.001
    with pytest.raises(Unauthorized):
        door.enter("no key")
    with pytest.raises(TooManyRequests):
        door.enter("no key")


def test_a_request_without_a_credential_is_not_a_failure() -> None:
    door = LimitedGate()
    for _ in range(int(FAILURES_BURST) + 10):
        with pytest.raises(Unauthorized):
            door.gate.enter({"REMOTE_ADDR": "10.0.0.1"})


def test_a_refused_address_causes_no_look_up() -> None:
    door = LimitedGate()
    door.fail_until_refused()
    requests = door.directory.requests
    with pytest.raises(TooManyRequests):
        door.enter("6a1279f0-d474-4d4d-8896-5d852b0ae3cf")
    assert door.directory.requests == requests


def test_a_valid_key_works_from_a_failing_address() -> None:
    door = LimitedGate(per_key_s=100)
    key = door.directory.new_key()
    door.enter(key)
    door.fail_until_refused()
    assert door.enter(key) == "key_1"
    door.clock.at_s += CREDENTIAL_CACHE_S + 0.001
    door.fail_until_refused()
    assert door.enter(key) == "key_1"


@pytest.fixture
def world(sqlite_store: Store) -> World:
    return build(sqlite_store)


def test_over_the_network_too_many_requests_are_429_with_retry_after(world: World) -> None:
    settings = Settings.from_env({"WEIR_SECRET_KEY": SECRET, "WEIR_RATE_LIMIT": "1"})
    client = create_service(world.store, settings, limits=True).test_client()
    headers = dict(world.credentials["all"].headers)
    answers = [client.get("/management/v1/device", headers=headers) for _ in range(12)]
    assert {answer.status_code for answer in answers[:10]} == {200}
    last = answers[-1]
    assert (last.status_code, last.headers["Retry-After"]) == (429, "1")
    assert last.get_json(force=True)["type"] == "urn:weir:problem:too-many-requests"
    assert client.get("/management/v1/version").status_code == 200
    other = dict(world.credentials["group"].headers)
    assert client.get("/management/v1/device", headers=other).status_code == 200


@pytest.mark.parametrize(("limits", "rate"), [(False, "1"), (True, "0")])
def test_limits_are_off_in_process_and_at_rate_zero(world: World, limits: bool, rate: str) -> None:
    settings = Settings.from_env({"WEIR_SECRET_KEY": SECRET, "WEIR_RATE_LIMIT": rate})
    client = create_service(world.store, settings, limits=limits).test_client()
    headers = dict(world.credentials["all"].headers)
    assert {
        client.get("/management/v1/device", headers=headers).status_code for _ in range(40)
    } == {200}
