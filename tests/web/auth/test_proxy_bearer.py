"""A bearer token that a proxy adds to each request."""

from __future__ import annotations

import pytest

from api.auth import issue_token
from tests.web.auth import wire
from tests.web.auth.conftest import Open, Site
from tests.world import ACME, METER, World


def bearer(world: World, devices: list[str] | None = None) -> dict[str, str]:
    return {"Authorization": f"Bearer {issue_token(world.settings, ACME, devices, 3600)}"}


def test_a_proxys_bearer_is_the_principal_of_its_request_alone(
    open_site: Open, world: World
) -> None:
    site = open_site(proxy_bearer=True)
    answer = wire.rows(site, headers=bearer(world, [METER]))
    assert answer.status_code == 200
    assert METER in answer.text
    assert not answer.headers.getlist("Set-Cookie")
    assert "sign-out" not in answer.text
    assert wire.rows(site).status_code == 401


def test_a_bearer_is_ignored_by_default(site: Site, world: World) -> None:
    assert site.open("/devices", headers=bearer(world)).status_code == 303
    assert wire.rows(site, headers=bearer(world)).status_code == 401


@pytest.mark.parametrize(
    "header", ["Bearer x.y.z", "Bearer ", "Basic dTpw", "Bearer \u00e9", "bearer", ""]
)
def test_an_invalid_bearer_sees_nothing(open_site: Open, header: str) -> None:
    site = open_site(proxy_bearer=True)
    answer = wire.rows(site, headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.headers["Weir-Sign-In"].startswith("/sign-in")


def test_a_proxys_bearer_overrides_the_cookie(
    open_site: Open, world: World, keys: dict[str, str]
) -> None:
    site = open_site(proxy_bearer=True)
    site.sign_in(keys["foreign"])
    assert METER not in wire.rows(site).text
    assert METER in wire.rows(site, headers=bearer(world)).text
