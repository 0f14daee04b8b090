"""`weir images`: the addresses it signs open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from api.auth import key_digest
from api.auth.signed import SignedAddresses
from api.settings import Settings
from api.store.base import Grant, Key, Store
from api.store.open import open_store
from api.timez import DAY_MS, now_ms, parse_instant
from tests.commands.conftest import CommandLine


@pytest.fixture
def key_id(weir: CommandLine, meters: str) -> str:
    return weir.ask("keys", "create", "--org", meters, "--device", "M-1")["keyId"]


def test_a_charts_address_opens_for_its_device(
    weir: CommandLine, key_id: str, opened: Callable[[], Store]
) -> None:
    query, site = "?range=7d&theme=dark", "https://weir.example/"
    made = weir.ask("images", "link", "--key", key_id, "--device", "M-1", "--query", query,
                    "--days", "2", "--site", site)  # fmt: skip
    address = urlsplit(made["address"])
    _, _, _, device_id, _ = address.path.split("/")
    assert made["address"].startswith(f"https://weir.example/export/devices/{device_id}/chart.png?")
    signed = SignedAddresses(opened(), Settings.from_env(weir.environ))
    assert signed.opened(address.path, address.query, device_id) is not None
    assert signed.opened(address.path, address.query + "&width=900", device_id) is None
    assert parse_instant(made["expires"]) == pytest.approx(now_ms() + 2 * DAY_MS, abs=60_000)


def test_without_a_device_it_is_the_walls(weir: CommandLine, key_id: str) -> None:
    made = weir.ask("images", "link", "--key", key_id, "--format", "svg")
    assert made["address"].startswith("http://127.0.0.1:8050/export/fleet.svg?key=")


def test_the_address_is_where_readers_reach_the_site(weir: CommandLine, key_id: str) -> None:
    weir.environ |= {"WEIR_PUBLIC_URL": "https://weir.example"}
    made = weir.ask("images", "link", "--key", key_id)
    assert made["address"].startswith("https://weir.example/export/fleet.png?key=")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--key", "key_nobody"], "no active reading key key_nobody"),
        (["--key", "{key}", "--device", "M-2"], "device M-2 not found"),
        (["--key", "{key}", "--days", "0"], "Invalid value for '--days'"),
        (["--key", "{key}", "--format", "gif"], "Invalid value for '--format'"),
    ],
)
def test_what_cannot_be_signed_is_one_line(
    weir: CommandLine, key_id: str, arguments: list[str], text: str
) -> None:
    assert text in weir.error("images", "link", *(each.format(key=key_id) for each in arguments))


def test_a_revoked_key_signs_nothing(weir: CommandLine, key_id: str) -> None:
    weir.ask("keys", "revoke", key_id)
    assert "no active reading key" in weir.error("images", "link", "--key", key_id)


def test_an_expired_key_signs_nothing(weir: CommandLine, meters: str) -> None:
    grant = Grant(everything=True)
    key = Key("key_old", meters, "old", key_digest(str(uuid4())), grant, 0, expires_ms=1)
    with closing(open_store(weir.environ["WEIR_DATABASE"])) as store:
        store.create_key(key)
    assert "no active reading key key_old" in weir.error("images", "link", "--key", "key_old")
