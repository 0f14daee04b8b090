"""Two web hosts over one Postgres and one Redis: state of one holds on the other."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import httpx
import psycopg
import pytest

from api.catalog import KEY_HEADER
from tests import servers
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, eventually
from tests.world import SECRET
from web.embed.middleware import TOKEN_CHECK

REVOKED_WITHIN_S: Final = 10.0
RATE: Final = 5  # requests a second; ten times that in a burst
MINE: Final = "/management/v1/organizations/mine"


class Hosts:
    """``here`` and ``there``: two `weir serve --no-writer`, and the commands of their store."""

    def __init__(self, begun: ExitStack, folder: Path, database: str, redis: str) -> None:
        self._shells = [Shell(folder / name) for name in ("here", "there")]
        common = {
            "WEIR_DATABASE": database,
            "WEIR_REDIS_URL": redis,
            "WEIR_SECRET_KEY": SECRET,
            "WEIR_RATE_LIMIT": str(RATE),
        }
        for shell in self._shells:
            shell.environ |= common
            begun.callback(shell.end_all)
        self.ask = CommandLine(self._shells[0].environ).ask
        self.ask("db", "upgrade")
        self.org = str(self.ask("orgs", "create", "Acme")["id"])
        devices = folder / "d.json"
        devices.write_text('[{"serialNumber": "M-1"}]')
        self.ask("devices", "import", devices, "--org", self.org)
        for shell in self._shells:
            shell.start("serve", "--no-writer", "--workers", "1")
        self.here, self.there = (
            begun.enter_context(
                httpx.Client(
                    base_url=f"http://127.0.0.1:{shell.port}",
                    trust_env=False,
                    timeout=30,
                )
            )
            for shell in self._shells
        )
        for host in (self.here, self.there):
            eventually(lambda host=host: _up(host), "the host was up")

    def new_key(self) -> dict[str, str]:
        return self.ask("keys", "create", "--org", self.org)


def _up(host: httpx.Client) -> bool:
    try:
        return host.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def hosts(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    folder = tmp_path_factory.mktemp("hosts")
    for name in ("here", "there"):
        (folder / name).mkdir()
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE weir_hosts")
    with ExitStack() as begun:
        redis, _ = begun.enter_context(servers.redis(folder))
        yield Hosts(begun, folder, f"{postgres_server}/weir_hosts", redis)


@pytest.mark.slow
def test_a_session_holds_on_both_hosts_until_signed_out_on_either(
    hosts: Hosts,
) -> None:
    form = {"key": hosts.new_key()["key"], "next": "/devices"}
    signed_in = hosts.here.post("/sign-in", data=form)
    assert signed_in.status_code == 303
    cookie = {"Cookie": signed_in.headers["set-cookie"].partition(";")[0]}
    hosts.here.cookies.clear()
    for host in (hosts.here, hosts.there):
        assert host.get("/devices", headers=cookie).status_code == 200
    assert hosts.here.post("/sign-out", headers=cookie).status_code == 303
    for host in (hosts.here, hosts.there):
        answer = host.get("/devices", headers=cookie)
        assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (
            303,
            "/sign-in",
        )


@pytest.mark.slow
def test_an_embed_of_one_host_is_shown_and_revoked_by_the_other(hosts: Hosts) -> None:
    token = hosts.ask("tokens", "create", "--org", hosts.org, "--may-embed")["token"]
    maker = {"Authorization": f"Bearer {token}"}
    definition = {"view": "tile", "devices": ["M-1"]}
    made = hosts.here.post("/embeds/v1/embeds", headers=maker, json=definition).json()
    issued = hosts.here.post(f"/embeds/v1/embeds/{made['id']}/tokens", headers=maker, json={})
    viewer = {"Authorization": f"Bearer {issued.json()['token']}"}
    standing = f"{made['path']}/{TOKEN_CHECK}"
    for host in (hosts.there, hosts.here):
        assert host.get(made["path"]).status_code == 200
        assert host.get(standing, headers=viewer).is_success
    assert hosts.there.delete(f"/embeds/v1/embeds/{made['id']}", headers=maker).is_success
    _ends_everywhere(hosts, standing, viewer)


@pytest.mark.slow
def test_a_revoked_key_ends_on_both(hosts: Hosts) -> None:
    key = hosts.new_key()
    sent = {KEY_HEADER: key["key"]}
    for host in (hosts.here, hosts.there):
        assert host.get(MINE, headers=sent).status_code == 200
    hosts.ask("keys", "revoke", key["keyId"])
    _ends_everywhere(hosts, MINE, sent)


def _ends_everywhere(hosts: Hosts, path: str, sent: dict[str, str]) -> None:
    until_s = time.monotonic() + REVOKED_WITHIN_S
    left = [hosts.here, hosts.there]
    while left := [host for host in left if host.get(path, headers=sent).status_code != 401]:
        assert time.monotonic() < until_s, f"{len(left)} still answer"
        time.sleep(0.5)


@pytest.mark.slow
def test_a_keys_rate_limit_is_shared_by_both(hosts: Hosts) -> None:
    sent = {KEY_HEADER: hosts.new_key()["key"]}
    begun_s = time.monotonic()
    answers = [
        host.get(MINE, headers=sent) for _ in range(RATE * 8) for host in (hosts.here, hosts.there)
    ]
    permitted = RATE * (10 + time.monotonic() - begun_s) + 1
    admitted = [answer.status_code for answer in answers].count(200)
    refused = [answer for answer in answers if answer.status_code == 429]
    assert RATE * 10 <= admitted <= permitted
    assert admitted + len(refused) == len(answers)
    assert {answer.url.port for answer in refused} == {
        hosts.here.base_url.port,
        hosts.there.base_url.port,
    }
    assert json.loads(refused[0].content)["status"] == 429
