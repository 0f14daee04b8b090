"""Access to `weir serve`: by the printed link, behind a plain proxy, and to the demo."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from api.server.monitoring import METRICS_PATH
from api.store.open import open_store
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, eventually
from tests.nginx import PlainProxy

PATHS = ("/", "/devices", "/_dash-layout", "/session", "/export/fleet.png", METRICS_PATH)


def browser(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False)


def start(shell: Shell, *arguments: str) -> str:
    """A running server, and all that it has printed."""
    server = shell.start("serve", "--workers", "1", *arguments)
    assert server.stdout is not None
    printed = server.stdout.readline()
    if "WEIR_API_KEY" in shell.environ:
        printed += server.stdout.readline()
    eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
    return printed


@pytest.fixture
def real(shell: Shell) -> Shell:
    """A real fleet, with a key of its own."""
    ask = CommandLine(shell.environ).ask
    ask("db", "upgrade")
    org = ask("orgs", "create", "Acme")["id"]
    shell.environ["WEIR_API_KEY"] = str(ask("keys", "create", "--org", org)["key"])
    return shell


def test_a_real_fleet_is_closed_behind_a_plain_proxy_and_a_restart_prints_a_new_link(
    real: Shell, tmp_path: Path
) -> None:
    printed = start(real)
    proxy = PlainProxy(tmp_path, real.port)
    with proxy.running(), browser(proxy.port) as stranger, browser(real.port) as here:
        for path in PATHS[:-1]:
            assert stranger.get(path).status_code in (303, 401), path
            assert here.get(path).status_code in (303, 401), path
        (link,) = re.findall(r"within 15 minutes: http://127.0.0.1:\d+(/sign-in\?\S+)", printed)
        begun = here.get(link)
        assert (begun.status_code, begun.headers["Location"]) == (303, "/")
        assert here.get("/devices").status_code == 200
        assert stranger.get(link).headers["Location"] == "/sign-in?because=link"
        assert stranger.get("/devices").status_code == 303
        made = CommandLine(real.environ).ask("sign-in", "link", "--site", "https://weir.example/")
        link = made["address"].removeprefix("https://weir.example")
        # The link alone signs in, from any address.
        assert stranger.get(link).headers["Location"] == "/"
        assert stranger.get("/devices").status_code == 200
    unused = CommandLine(real.environ).ask("sign-in", "link")["address"]
    real.end_all()
    (link,) = re.findall(r"(/sign-in\?\S+)", start(real))
    with browser(real.port) as here:
        old = urlsplit(unused)
        assert here.get(f"{old.path}?{old.query}").headers["Location"] == "/sign-in?because=link"
        assert here.get(link).headers["Location"] == "/"


def test_a_link_needs_a_key_to_sign_in_with(weir: CommandLine) -> None:
    assert "set WEIR_API_KEY" in weir.error("sign-in", "link")


# --- The demo ------------------------------------------------------------------------------------


@pytest.fixture
def demo(shell: Shell) -> Shell:
    """A demo fleet without history."""
    from api.commands import demo as command
    from api.settings import Settings

    settings = Settings.from_env(shell.environ)
    settings.prepare()
    with closing(open_store(shell.url)) as store:
        store.upgrade()
        command._ensure_devices(store)  # pyright: ignore[reportPrivateUsage]
        command._ensure_key(store, settings)  # pyright: ignore[reportPrivateUsage]
    return shell


def test_the_demo_is_open_until_its_store_has_another_fleet(demo: Shell) -> None:
    start(demo)
    with browser(demo.port) as here:
        assert here.get("/devices").status_code == 200
        for name in ("X-Forwarded-For", "CF-Connecting-IP", "Tailscale-User-Login", "Via"):
            assert here.get("/devices", headers={name: "x"}).status_code == 303, name
        assert here.get("/devices", headers={"Host": "rebound.example"}).status_code == 303
        assert here.get("/devices", headers={"Referer": "http://a.example"}).status_code == 303
        CommandLine(demo.environ).ask("orgs", "create", "Real")
        assert here.get("/devices").status_code == 303
        assert here.get("/_dash-layout").status_code == 401
        assert "the demo fleet" not in here.get("/sign-in").text


def test_the_demo_needs_a_key_where_others_can_connect(demo: Shell) -> None:
    """`Settings.local_only` decides which settings those are."""
    demo.environ["WEIR_PUBLIC_URL"] = "https://weir.example"
    start(demo)
    with browser(demo.port) as here:
        assert here.get("/devices").status_code == 303
        assert "the demo fleet" not in here.get("/sign-in").text
