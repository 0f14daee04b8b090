"""`weir embeds`: create, list, revoke; the printed address opens the embed as requested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest

from api.server import create_embed_service
from api.settings import Settings
from api.store.open import open_store, open_web_store
from tests.commands.conftest import CommandLine


def make(weir: CommandLine, org: str, *more: str) -> dict[str, str]:
    words = ("--view", "chart", "--device", "M-1") if "--view" not in more else ()
    return weir.ask("embeds", "create", "--org", org, *words, *more)


@pytest.fixture
def ask(weir: CommandLine) -> Iterator[Any]:
    """``ask(token)``: the embed's own description, as its page gets it."""
    settings = Settings.from_env(weir.environ)
    store, web = open_store(settings.database), open_web_store(settings.database)
    client = create_embed_service(store, web, settings).test_client()
    yield (
        lambda token: (
            client.get("/embeds/v1/self", headers={"Authorization": f"Bearer {token}"}).json
        )
    )
    store.close()
    web.close()


def test_the_token_opens_the_requested_view(weir: CommandLine, meters: str, ask: Any) -> None:
    made = make(
        weir, meters, "--metric", "volume", "--origin", "https://Wiki.example/", "--last", "36h",
        "--zone", "Asia/Tokyo", "--units", "metric", "--theme", "dark", "--controls", "zone,range",
        "--expires", "2090-01-01", "--title", "Lobby  main",
    )  # fmt: skip
    body = ask(made["token"])
    assert body["id"] == made["id"]
    assert body["createdBy"] == "command"
    assert {name: body[name] for name in ("metric", "origins", "window", "zone", "units", "theme",
                                          "controls", "title", "expires")} == {
        "metric": "volume", "origins": ["https://wiki.example"], "window": {"last": 129_600},
        "zone": "Asia/Tokyo", "units": "metric", "theme": "dark", "controls": ["range", "zone"],
        "title": "Lobby main", "expires": "2090-01-01T00:00:00.000Z",
    }  # fmt: skip
    claims = jwt.decode(made["token"], options={"verify_signature": False})
    assert claims["exp"] == 3_786_912_000  # 2090-01-01


def test_the_snippet_frames_the_address(weir: CommandLine, meters: str) -> None:
    made = make(weir, meters, "--title", 'The "A & B" <wing>', "--site", "https://weir.example/w/")
    url = urlsplit(made["url"])
    assert f"{url.scheme}://{url.netloc}{url.path}" == f"https://weir.example/w/embed/{made['id']}"
    assert (url.query, url.fragment) == ("", f"t={made['token']}")
    attributes = dict(re.findall(r'([a-z]+)="([^"]*)"', made["snippet"]))
    assert unescape(attributes["src"]) == made["url"]
    assert unescape(attributes["title"]) == 'The "A & B" <wing>'
    assert attributes["referrerpolicy"] == "no-referrer"
    assert "<wing>" not in made["snippet"]


def test_the_address_is_this_servers_by_default(weir: CommandLine, meters: str) -> None:
    weir.environ |= {"WEIR_HOST": "::1", "WEIR_PORT": "9000"}
    assert make(weir, meters)["url"].startswith("http://[::1]:9000/embed/emb_")


def test_the_address_is_where_readers_reach_the_site(weir: CommandLine, meters: str) -> None:
    weir.environ |= {"WEIR_PUBLIC_URL": "https://weir.example"}
    assert make(weir, meters)["url"].startswith("https://weir.example/embed/emb_")
    other = make(weir, meters, "--site", "https://other.example")
    assert other["url"].startswith("https://other.example/embed/emb_")


def test_a_wall_names_devices_in_any_way(weir: CommandLine, meters: str, ask: Any) -> None:
    made = make(weir, meters, "--view", "wall", "--device", "M-1", "--device", "NET-2")
    assert len(ask(made["token"])["devices"]) == 2


def test_a_fixed_window(weir: CommandLine, meters: str, ask: Any) -> None:
    made = make(weir, meters, "--from", "2026-03-08", "--to", "2026-03-09T00:00:00-04:00")
    assert ask(made["token"])["window"] == {
        "from": "2026-03-08T00:00:00.000Z",
        "to": "2026-03-09T04:00:00.000Z",
    }


def test_an_embed_is_listed_and_revoked(weir: CommandLine, meters: str, ask: Any) -> None:
    first, second = make(weir, meters), make(weir, meters, "--title", "Second")
    listed = weir.ask("embeds", "list", "--org", meters)
    assert {each["id"]: each["state"] for each in listed} == {
        first["id"]: "active",
        second["id"]: "active",
    }
    assert not any(first["token"] in str(each) for each in listed)
    revoked = weir.ask("embeds", "revoke", first["id"])
    assert re.fullmatch(r"\d{4}-.*Z", revoked["revoked"])
    assert weir.ask("embeds", "revoke", first["id"]) == revoked
    listed = {each["id"]: each for each in weir.ask("embeds", "list", "--org", meters)}
    assert listed[first["id"]]["state"] == "revoked"
    assert listed[second["id"]]["state"] == "active"
    assert ask(first["token"])["reason"] == "embed-revoked"
    assert ask(second["token"])["title"] == "Second"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--view", "chart", "--device", "nope"), "--device device 'nope' not found"),
        (("--view", "chart", "--device", "M-1", "--device", "M-2"), "--device has 2 devices"),
        (("--view", "tile", "--device", "M-1", "--last", "2h"), "--last of a tile must be"),
        (("--view", "tile", "--device", "M-1", "--metric", "volume"), "--metric is a chart's"),
        (("--last", "2w"), "--last must be a length such as 90m"),
        (("--last", "1m"), "--last must be from 600"),
        (("--last", "2h", "--to", "2026-01-01"), "give --last, or --from and --to"),
        (("--from", "2026-01-01"), "--from and --to must be used together"),
        (("--from", "2026-01-02", "--to", "2026-01-01"), "--from and --to must end after"),
        (("--from", "soon", "--to", "2026-01-01"), "--from and --to must be an ISO 8601"),
        (("--origin", "http://wiki.example"), "--origin 'http://wiki.example': http is for"),
        (("--origin", "*"), "--origin '*' is not an origin"),
        (("--zone", "Mars"), "--zone must be an IANA"),
        (("--controls", "range,all"), "--controls 'all' is not a control"),
        (("--expires", "2020-01-01"), "--expires is in the past"),
        (("--theme", "pink"), "pink"),
    ],
)
def test_an_invalid_embed_is_one_line(
    weir: CommandLine, meters: str, words: tuple[str, ...], text: str
) -> None:
    usual = () if "--view" in words else ("--view", "chart", "--device", "M-1")
    assert text in weir.error("embeds", "create", "--org", meters, *usual, *words)


def test_a_missing_device_is_named(weir: CommandLine, meters: str) -> None:
    assert "--org nobody: no such organization" in weir.error("embeds", "list", "--org", "nobody")
    assert "no embed emb_x" in weir.error("embeds", "revoke", "emb_x")


def test_before_an_upgrade_it_names_the_command(flask: CommandLine) -> None:
    assert "weir db upgrade" in flask.error("embeds", "list", "--org", "x")


def test_an_upgrade_makes_the_webs_file_too(weir: CommandLine, tmp_path: Path) -> None:
    assert (tmp_path / "weir.web.sqlite").is_file()
    assert weir.ask("db", "upgrade")["before"] == weir.ask("db", "upgrade")["now"]
