"""The demo fleet, which needs no key: for whom it opens, and when it waits to be chosen."""

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
def demo(open_site: Open, keys: dict[str, str]) -> Site:
    return open_site(demo_key=lambda: keys["all"], local_only=True)


def test_the_demo_opens_at_this_machine_without_a_click(demo: Site) -> None:
    answer = demo.here("/devices")
    assert answer.status_code == 200
    assert not cookies(answer)
    assert METER in wire.rows(demo, host="127.0.0.1:8050", peer="127.0.0.1").text


@pytest.mark.parametrize(
    "changes",
    [
        {"peer": "192.0.2.7"},
        {"host": "evil.example"},
        {"host": "evil.example:8050"},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"CF-Connecting-IP": "127.0.0.1"}},
        {"headers": {"True-Client-IP": "127.0.0.1"}},
        {"headers": {"Tailscale-User-Login": "somebody"}},
        {"headers": {"X-Real-IP": "127.0.0.1"}},
        {"headers": {"Forwarded": "for=127.0.0.1"}},
        {"peer": "192.0.2.7", "headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"peer": "192.0.2.7", "headers": {"X-Forwarded-Host": "localhost"}},
    ],
)
def test_nobody_else_is(demo: Site, changes: dict[str, Any]) -> None:
    assert demo.here("/devices", **changes).status_code == 303
    page = demo.here("/sign-in", **changes)
    assert "the demo fleet" not in page.text
    forced = demo.here("/sign-in", "POST", data={"demo": "1", "next": "/devices"}, **changes)
    assert forced.status_code == 400
    assert demo.here("/devices", **changes).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Referer": "http://evil.example/"},
        {"Origin": "http://evil.example"},
        {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        },
    ],
)
def test_who_comes_from_another_site_chooses_the_demo_first(
    demo: Site, headers: dict[str, str]
) -> None:
    assert demo.here("/devices", headers=headers).status_code == 303
    page = demo.here("/sign-in?next=/devices", headers=headers)
    assert "Continue with the demo fleet" in page.text
    chosen = demo.here("/sign-in", "POST", data={"demo": "1", "next": "/devices"})
    assert chosen.headers["Location"] == "/devices"


def test_the_demo_waits_for_a_key_where_others_may_come_in(
    open_site: Open, keys: dict[str, str]
) -> None:
    site = open_site(demo_key=lambda: keys["all"], local_only=False)
    assert site.here("/devices").status_code == 303
    assert "the demo fleet" not in site.here("/sign-in").text


def test_without_a_demo_everybody_signs_in(open_site: Open) -> None:
    site = open_site(local_only=True)
    assert site.here("/devices").status_code == 303


def test_one_may_sign_out_of_the_demo_and_come_back(demo: Site) -> None:
    answer = demo.here("/sign-out", "POST")
    away = cookies(answer)["weir-signed-out"]
    assert "Max-Age" not in away
    assert demo.here("/devices").headers["Location"] == "/sign-in?next=%2Fdevices"
    assert "Continue with the demo fleet" in demo.here("/sign-in").text
    back = demo.here("/sign-in", "POST", data={"demo": "1", "next": "/devices"})
    assert (back.status_code, back.headers["Location"]) == (303, "/devices")
    assert demo.here("/devices").status_code == 200


def test_signing_in_with_a_key_beats_the_demo(demo: Site, keys: dict[str, str]) -> None:
    local = {"host": "localhost", "peer": "127.0.0.1"}
    demo.sign_in(keys["foreign"], **local)
    assert METER not in wire.rows(demo, **local).text
    demo.here("/sign-out", "POST")
    assert demo.here("/devices").status_code == 303


@pytest.mark.parametrize("path", ["/devices", "/session"])
def test_a_revoked_session_is_told_why_before_the_demo_steps_in(
    demo: Site, world: World, path: str
) -> None:
    """Whose key was revoked must not go on as somebody else without noticing."""
    local = {"host": "localhost", "peer": "127.0.0.1"}
    key, key_id = revocable(world)
    assert demo.sign_in(key, **local).status_code == 303
    assert world.store.revoke_key(key_id, 1)
    eventually(lambda: demo.here(path).status_code in (303, 401), REVOKED_WITHIN_S)
    assert demo.here("/devices").headers["Location"] == "/sign-in?next=%2Fdevices"
    page = demo.here("/sign-in?because=refused&next=/devices").text
    assert "your key was revoked" in page
    assert "Continue with the demo fleet" in page
    assert demo.here("/sign-in", "POST", data={"demo": "1", "next": "/devices"}).status_code == 303
    assert demo.here("/devices").status_code == 200


def test_an_idle_session_is_told_why_before_the_demo_steps_in(
    demo: Site, keys: dict[str, str], clock: Clock
) -> None:
    local = {"host": "localhost", "peer": "127.0.0.1"}
    demo.sign_in(keys["foreign"], **local)
    clock.now_s += IDLE_S + 1
    answer = demo.here("/devices")
    assert answer.headers["Location"] == "/sign-in?because=idle&next=%2Fdevices"
    assert demo.here("/devices").status_code == 303
    assert METER not in wire.rows(demo, **local).text


def test_a_cross_site_post_does_not_ride_on_the_demo(demo: Site) -> None:
    local = {"host": "localhost:8050", "peer": "127.0.0.1"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        answer = wire.rows(demo, headers=headers, **local)
        assert answer.status_code == 403
