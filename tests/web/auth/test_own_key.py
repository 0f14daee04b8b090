"""This machine's own key: whom it lets in, and when it waits to be chosen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.auth import wire
from tests.web.auth.conftest import Clock, Open, Site
from tests.web.auth.revoking import REVOKED_WITHIN_S, eventually, revocable
from tests.web.auth.test_middleware import cookies
from tests.world import METER, World
from web.auth.session_cookie import IDLE_S


@pytest.fixture
def own(open_site: Open, keys: dict[str, str]) -> Site:
    return open_site(own_key=lambda: keys["all"], listens_on_loopback=True)


def test_somebody_at_this_machine_is_let_in_by_its_key(own: Site) -> None:
    answer = own.here("/devices")
    assert answer.status_code == 200
    assert not cookies(answer)
    assert METER in wire.rows(own, host="127.0.0.1:8050", peer="127.0.0.1").text


@pytest.mark.parametrize(
    "changes",
    [
        {"peer": "192.0.2.7"},
        {"host": "evil.example"},
        {"host": "evil.example:8050"},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"X-Real-IP": "127.0.0.1"}},
        {"headers": {"Forwarded": "for=127.0.0.1"}},
        {"peer": "192.0.2.7", "headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"peer": "192.0.2.7", "headers": {"X-Forwarded-Host": "localhost"}},
    ],
)
def test_nobody_else_is(own: Site, changes: dict[str, Any]) -> None:
    assert own.here("/devices", **changes).status_code == 303
    page = own.here("/sign-in", **changes)
    assert "Continue with" not in page.text
    forced = own.here("/sign-in", "POST", data={"own": "1", "next": "/devices"}, **changes)
    assert forced.status_code == 400
    assert own.here("/devices", **changes).status_code == 303


def test_the_own_key_opens_nothing_where_the_network_can_come_in(
    open_site: Open, keys: dict[str, str]
) -> None:
    site = open_site(own_key=lambda: keys["all"], listens_on_loopback=False)
    assert site.here("/devices").status_code == 303
    assert "Continue with" not in site.here("/sign-in").text


def test_without_a_key_of_its_own_this_machine_asks_for_one(open_site: Open) -> None:
    site = open_site(listens_on_loopback=True)
    assert site.here("/devices").status_code == 303


def test_one_may_sign_out_of_the_own_key_and_come_back(own: Site) -> None:
    answer = own.here("/sign-out", "POST")
    away = cookies(answer)["weir-signed-out"]
    assert "Max-Age" not in away
    assert own.here("/devices").headers["Location"] == "/sign-in?next=%2Fdevices"
    assert "Continue with this machine&#x27;s key" in own.here("/sign-in").text
    back = own.here("/sign-in", "POST", data={"own": "1", "next": "/devices"})
    assert (back.status_code, back.headers["Location"]) == (303, "/devices")
    assert own.here("/devices").status_code == 200


def test_signing_in_with_a_key_beats_the_own_one(own: Site, keys: dict[str, str]) -> None:
    local = {"host": "localhost", "peer": "127.0.0.1"}
    own.sign_in(keys["foreign"], **local)
    assert METER not in wire.rows(own, **local).text
    own.here("/sign-out", "POST")
    assert own.here("/devices").status_code == 303


@pytest.mark.parametrize("path", ["/devices", "/session"])
def test_a_revoked_session_is_told_why_before_the_own_key_steps_in(
    own: Site, world: World, path: str
) -> None:
    """Whose key was revoked must not go on as somebody else without noticing."""
    local = {"host": "localhost", "peer": "127.0.0.1"}
    key, key_id = revocable(world)
    assert own.sign_in(key, **local).status_code == 303
    assert world.store.revoke_key(key_id, 1)
    eventually(lambda: own.here(path).status_code in (303, 401), REVOKED_WITHIN_S)
    assert own.here("/devices").headers["Location"] == "/sign-in?next=%2Fdevices"
    page = own.here("/sign-in?because=refused&next=/devices").text
    assert "your key was revoked" in page
    assert "Continue with this machine&#x27;s key" in page
    assert own.here("/sign-in", "POST", data={"own": "1", "next": "/devices"}).status_code == 303
    assert own.here("/devices").status_code == 200


def test_an_idle_session_is_told_why_before_the_own_key_steps_in(
    own: Site, keys: dict[str, str], clock: Clock
) -> None:
    local = {"host": "localhost", "peer": "127.0.0.1"}
    own.sign_in(keys["foreign"], **local)
    clock.now_s += IDLE_S + 1
    answer = own.here("/devices")
    assert answer.headers["Location"] == "/sign-in?because=idle&next=%2Fdevices"
    assert own.here("/devices").status_code == 303
    assert METER not in wire.rows(own, **local).text


def test_a_cross_site_post_does_not_ride_on_the_own_key(own: Site) -> None:
    local = {"host": "localhost:8050", "peer": "127.0.0.1"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        answer = wire.rows(own, headers=headers, **local)
        assert answer.status_code == 403
