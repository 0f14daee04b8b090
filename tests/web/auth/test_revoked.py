"""A revoked key sees nothing within seconds, whatever was cached before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from api.catalog import CREDENTIAL_CACHE_S
from api.client import Client
from api.errors import Forbidden, TooManyRequests, Unauthorized, Unreachable, WeirError
from components import session
from tests.web.auth import wire
from tests.web.auth.conftest import Open, Site
from tests.web.auth.revoking import REVOKED_WITHIN_S, eventually, revocable
from tests.world import METER, World
from web.auth.sign_in import OUTAGE_PAUSE_S, TRUSTED_S, CredentialCheck

COMPONENTS = Path(session.__file__).parent
ROOT = COMPONENTS.parent
SPAN = ("2026-03-08T06:00:00Z", "2026-03-08T18:00:00Z")


def test_a_revoked_key_ends_all_access_within_ten_seconds(open_site: Open, world: World) -> None:
    """With caches in use: the page, its data, the chart and the session check, each on its own."""
    key, key_id = revocable(world)
    ways = {
        "page": lambda s: wire.page(s, "/devices"),
        "rows": wire.rows,
        "search": lambda s: wire.rows(s, {"q": "m"}),
        "chart": lambda s: wire.chart(s, METER, *SPAN),
        "wall": wire.wall,
        "check": lambda s: s.open("/session"),
    }
    site = open_site()
    readers = {name: Site(site.browser.application) for name in ways}
    for name, reader in readers.items():
        reader.sign_in(key)
        assert ways[name](reader).status_code in (200, 204)
    assert world.store.revoke_key(key_id, 1)
    took = eventually(
        lambda: all(ways[name](reader).status_code == 401 for name, reader in readers.items()),
        REVOKED_WITHIN_S,
    )
    assert took <= REVOKED_WITHIN_S
    for name, reader in readers.items():
        answer = reader.open("/devices")
        assert answer.status_code == 303, name  # the cookie was deleted


def test_the_interval_of_checks_keeps_the_promise() -> None:
    script = (ROOT / "assets" / "session.js").read_text("utf-8")
    every_ms = re.search(r"CHECK_EVERY_MS = (\d+)", script)
    assert every_ms is not None
    assert CREDENTIAL_CACHE_S + int(every_ms.group(1)) / 1000 < REVOKED_WITHIN_S
    assert CREDENTIAL_CACHE_S + TRUSTED_S < REVOKED_WITHIN_S


def test_a_revoked_key_sees_nothing_that_was_cached(open_site: Open, world: World) -> None:
    """A page whose data is all cached, so that it sends no request to the service."""
    key, key_id = revocable(world)

    def knowing(environ: Any, start: Any) -> Any:
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"what was learnt before"]

    site = open_site(knowing)
    site.sign_in(key)
    assert site.open("/_dash-layout").text == "what was learnt before"
    assert world.store.revoke_key(key_id, 1)
    eventually(lambda: site.open("/_dash-layout").status_code == 401, REVOKED_WITHIN_S)


class Refusing:
    """A service that refuses every credential."""

    def __call__(self, environ: Any, start: Any) -> Any:
        start("401 UNAUTHORIZED", [("Content-Type", "application/problem+json")])
        return [b'{"status": 401, "title": "Unauthorized"}']


def signed_in_before(open_site: Open, keys: dict[str, str], through: Client) -> Site:
    """A reader with a valid cookie, whose service has changed since."""
    cookie = open_site().sign_in(keys["all"]).headers["Set-Cookie"].split(";")[0]
    return open_site(through=through).carrying(cookie.partition("=")[2])


@pytest.mark.parametrize("path", ["/devices", f"/devices/{METER}"])
def test_a_refused_response_is_discarded(open_site: Open, keys: dict[str, str], path: str) -> None:
    site = signed_in_before(open_site, keys, Client.in_process(Refusing()))
    answer = wire.page(site, path)
    assert answer.status_code == 401
    assert answer.headers["Weir-Sign-In"] == "/sign-in?because=refused"
    assert answer.json == {"error": "signed out", "signIn": "/sign-in?because=refused"}
    assert "Max-Age=0" in answer.headers["Set-Cookie"]


def test_a_refused_download_redirects_to_sign_in_and_back(
    open_site: Open, keys: dict[str, str]
) -> None:
    """A download, for instance."""
    flask_app = Flask(__name__)
    session.install(flask_app)

    @flask_app.get("/devices/<device>/rows.csv")
    def rows(device: str) -> Any:
        try:
            return str(session.current_client().organizations())
        except Unauthorized:
            return "half an answer"

    cookie = open_site().sign_in(keys["all"]).headers["Set-Cookie"].split(";")[0]
    site = open_site(flask_app.wsgi_app, through=Client.in_process(Refusing()))
    answer = site.carrying(cookie.partition("=")[2]).open("/devices/M-1/rows.csv?range=7d")
    where = "/sign-in?because=refused&next=%2Fdevices%2FM-1%2Frows.csv%3Frange%3D7d"
    assert (answer.status_code, answer.headers["Location"]) == (303, where)
    assert "half" not in answer.text


def test_a_service_that_is_down_ends_no_session(open_site: Open, keys: dict[str, str]) -> None:
    down = Client.remote("http://127.0.0.1:9", sleep=lambda _: None)
    site = signed_in_before(open_site, keys, down)
    for _ in range(3):
        assert site.open("/session").status_code == 204
    assert wire.page(site, "/devices").status_code == 200
    rows = wire.rows(site)
    assert rows.status_code == 200
    assert "The service can't be reached." in rows.text


def test_the_check_spares_a_service_that_does_not_respond(
    open_site: Open, keys: dict[str, str]
) -> None:
    query: list[str] = []

    def silent(environ: Any, start: Any) -> Any:
        query.append(environ["PATH_INFO"])
        start("500 INTERNAL SERVER ERROR", [("Content-Type", "application/problem+json")])
        return [b"{}"]

    site = signed_in_before(open_site, keys, Client.in_process(silent))
    assert [site.open("/session").status_code for _ in range(5)] == [204] * 5
    assert len(query) == 1


class Requests:
    """Stands in for a client: counts its requests and replies as scripted."""

    principal = "somebody"

    def __init__(self) -> None:
        self.count, self.fails = 0, False
        self.error: WeirError = Unreachable("no")

    def organizations(self) -> tuple[()]:
        self.count += 1
        if self.fails:
            raise self.error
        return ()


def test_an_accepted_credential_is_trusted_briefly_and_a_silent_service_spared() -> None:
    now_s = [0.0]
    standing, requests = CredentialCheck(lambda: now_s[0]), Requests()
    client: Any = requests
    for at_s, expected in ((0, 1), (TRUSTED_S - 0.1, 1), (TRUSTED_S, 2)):
        now_s[0] = at_s
        standing.confirm(client)
        assert requests.count == expected, at_s
    standing.confirm(client, trusted_s=0)
    assert requests.count == 3
    requests.fails = True
    for after_s, expected in ((1, 4), (OUTAGE_PAUSE_S, 4), (OUTAGE_PAUSE_S + 1, 5)):
        now_s[0] = TRUSTED_S + after_s
        standing.confirm(client, trusted_s=0)
        assert requests.count == expected, after_s


@pytest.mark.parametrize("error", [Forbidden(), TooManyRequests(retry_after_s=1)])
def test_one_limited_credential_does_not_stop_the_check_for_others(
    error: WeirError,
) -> None:
    """Otherwise a key that only sends would keep every revoked one signed in."""
    now_s = [0.0]
    standing, troubled, other = CredentialCheck(lambda: now_s[0]), Requests(), Requests()
    troubled.principal, troubled.fails, troubled.error = "the troubled one", True, error
    for client in (troubled, troubled, other):
        standing.confirm(client)  # pyright: ignore[reportArgumentType]
    assert (troubled.count, other.count) == (1, 1)
