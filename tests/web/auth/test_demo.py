"""The demo fleet, which needs no key: who gets it at once, and who must choose it."""

from __future__ import annotations

from typing import Any

import pytest

from api.errors import Unavailable
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
def test_nobody_else_gets_the_demo(demo: Site, changes: dict[str, Any]) -> None:
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
def test_readers_from_another_site_choose_the_demo_first(
    demo: Site, headers: dict[str, str]
) -> None:
    assert demo.here("/devices", headers=headers).status_code == 303
    page = demo.here("/sign-in?next=/devices", headers=headers)
    assert "Continue with the demo fleet" in page.text
    chosen = demo.here("/sign-in", "POST", data={"demo": "1", "next": "/devices"})
    assert chosen.headers["Location"] == "/devices"


def test_the_demo_needs_a_key_where_others_can_connect(
    open_site: Open, keys: dict[str, str]
) -> None:
    site = open_site(demo_key=lambda: keys["all"], local_only=False)
    assert site.here("/devices").status_code == 303
    assert "the demo fleet" not in site.here("/sign-in").text


def test_without_a_demo_everybody_signs_in(open_site: Open) -> None:
    site = open_site(local_only=True)
    assert site.here("/devices").status_code == 303


def test_a_reader_may_sign_out_of_the_demo_and_return(demo: Site) -> None:
    answer = demo.here("/sign-out", "POST")
    away = cookies(answer)["weir-signed-out"]
    assert "Max-Age" not in away
    assert demo.here("/devices").headers["Location"] == "/sign-in?next=%2Fdevices"
    assert "Continue with the demo fleet" in demo.here("/sign-in").text
    back = demo.here("/sign-in", "POST", data={"demo": "1", "next": "/devices"})
    assert (back.status_code, back.headers["Location"]) == (303, "/devices")
    assert demo.here("/devices").status_code == 200


def test_signing_in_with_a_key_overrides_the_demo(demo: Site, keys: dict[str, str]) -> None:
    local = {"host": "localhost", "peer": "127.0.0.1"}
    demo.sign_in(keys["foreign"], **local)
    assert METER not in wire.rows(demo, **local).text
    demo.here("/sign-out", "POST")
    assert demo.here("/devices").status_code == 303


@pytest.mark.parametrize("path", ["/devices", "/session"])
def test_a_revoked_session_gets_its_message_before_the_demo_opens(
    demo: Site, world: World, path: str
) -> None:
    """A reader whose key was revoked must notice before continuing with the demo."""
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


def test_an_idle_session_gets_its_message_before_the_demo_opens(
    demo: Site, keys: dict[str, str], clock: Clock
) -> None:
    local = {"host": "localhost", "peer": "127.0.0.1"}
    demo.sign_in(keys["foreign"], **local)
    clock.now_s += IDLE_S + 1
    answer = demo.here("/devices")
    assert answer.headers["Location"] == "/sign-in?because=idle&next=%2Fdevices"
    assert demo.here("/devices").status_code == 303
    assert METER not in wire.rows(demo, **local).text


def test_a_cross_site_post_cannot_use_the_demo(demo: Site) -> None:
    local = {"host": "localhost:8050", "peer": "127.0.0.1"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        answer = wire.rows(demo, headers=headers, **local)
        assert answer.status_code == 403


# --- A store without an organization --------------------------------------------------------------


def empty(open_site: Open, keys: dict[str, str]) -> tuple[Site, list[int]]:
    """A site that lets the demo fleet be created, and how often that has happened."""
    created: list[int] = []
    site = open_site(
        demo_key=lambda: keys["all"] if created else "",
        local_only=True,
        is_empty=lambda: not created,
        lacks_demo=lambda: not created,
        create_demo=lambda: created.append(1),
    )
    return site, created


def test_one_click_creates_the_demo_fleet_and_opens_it(
    open_site: Open, keys: dict[str, str]
) -> None:
    site, created = empty(open_site, keys)
    assert "Try the demo" in site.here("/sign-in").text
    for _ in range(2):  # pressed twice
        answer = site.here("/sign-in", "POST", data={"demo": "create"})
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert created == [1]
    assert site.here("/devices").status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"peer": "192.0.2.7"},
        {"host": "evil.example"},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"Origin": "http://evil.example"}},
        {"headers": {"Sec-Fetch-Site": "cross-site"}},
    ],
)
def test_nobody_else_creates_it(
    open_site: Open, keys: dict[str, str], changes: dict[str, Any]
) -> None:
    site, created = empty(open_site, keys)
    forced = site.here("/sign-in", "POST", data={"demo": "create"}, **changes)
    assert forced.status_code in (400, 403)
    assert created == []


def test_a_store_that_cannot_take_it_says_why(open_site: Open) -> None:
    def fails() -> None:
        raise Unavailable("The disk is full.")

    site = open_site(local_only=True, lacks_demo=lambda: True, create_demo=fails)
    answer = site.here("/sign-in", "POST", data={"demo": "create"})
    assert answer.status_code == 503
    assert "The disk is full." in answer.text
