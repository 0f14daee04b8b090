"""The site below a path of a shared host: behind the real nginx, in a real browser.

nginx's log has every request: none leaves the path, none fails.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from api.catalog import DAY_MS, HOUR_MS, KEY_HEADER
from api.timez import now_ms, stamp
from tests.browser.chromium import Tab, checked_tab, started
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, eventually
from tests.nginx import SPOOLS, program
from tests.servers import free_port

HERE = "weir"
CONF = """
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
daemon off;
events {{}}
http {{
    {places}
    log_format said '$status $request_method $request_uri';
    access_log {folder}/access.log said;
    {servers}
}}
"""
SERVER = """
    server {{
        listen 127.0.0.1:{port};
        location /{here}/ {{
            proxy_pass http://127.0.0.1:{upstream}{rest};
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
        }}
    }}
"""
TILE = "#fleet-wall a"


class Below:
    """A server below /weir/ and nginx in front of it, which passes paths on whole at ``origin`` and
    strips them at ``stripped``."""

    def __init__(self, shell: Shell) -> None:
        self.shell, self.folder = shell, shell.folder
        ports = free_port(), free_port()
        self.origin, self.stripped = (f"http://127.0.0.1:{port}" for port in ports)
        shell.environ |= {
            "WEIR_PUBLIC_URL": f"{self.origin}/{HERE}",
            "WEIR_TRUSTED_PROXIES": "127.0.0.1",
        }
        places = "\n".join(f"{name}_temp_path {self.folder}/{name};" for name in SPOOLS)
        self.conf = self.folder / "nginx.conf"
        servers = [
            SERVER.format(port=port, here=HERE, upstream=shell.port, rest=rest)
            for port, rest in zip(ports, ("", "/"), strict=True)
        ]
        self.conf.write_text(
            CONF.format(folder=self.folder, places=places, servers="".join(servers))
        )
        self._fill()

    def _fill(self) -> None:
        ask = CommandLine(self.shell.environ).ask
        ask("db", "upgrade")
        org = ask("orgs", "create", "Acme")["id"]
        devices = self.folder / "d.json"
        devices.write_text(json.dumps([{"serialNumber": f"M-{n}"} for n in range(3)]))
        ask("devices", "import", devices, "--org", org)
        now = now_ms()
        rows = [
            f"M-{n},{stamp(at)},1.5,2"
            for n in range(3)
            for at in range(now - 2 * DAY_MS, now, HOUR_MS // 4)
        ]
        readings = self.folder / "r.csv"
        readings.write_text("\n".join(["device,recorded_at,flow_amount,flow_rate", *rows]))
        ask("readings", "import", readings, "--org", org)
        made = ask("keys", "create", "--org", org)
        self.key, name = str(made["key"]), made["keyId"]
        self.image = ask("images", "link", "--key", name, "--format", "svg")["address"]
        embed = ask("embeds", "create", "--org", org, "--view", "tile", "--device", "M-1")
        self.embed = str(embed["url"])

    @contextmanager
    def running(self) -> Iterator[None]:
        self.shell.start("serve", "--workers", "1")
        nginx = subprocess.Popen(
            [program(), "-p", str(self.folder), "-c", str(self.conf),
             "-e", str(self.folder / "error.log")]
        )  # fmt: skip
        try:
            eventually(lambda: self._responds(), "the site was up")
            yield
        finally:
            nginx.send_signal(signal.SIGTERM)
            nginx.wait(20)

    def _responds(self) -> bool:
        answer = httpx.get(f"{self.origin}/{HERE}/healthz", trust_env=False, timeout=60)
        return answer.status_code == 200

    def failed(self) -> list[str]:
        """Requests that left the path, or failed. Excludes data and images whose request the
        browser cancelled (499) because it moved on, or that came just after signing out (401)."""
        lines = (self.folder / "access.log").read_text().splitlines()
        data = rf"POST /{HERE}/_dash-update-component"
        left = rf"(499|401) {data}|499 GET /{HERE}/(session|export/\S+)"
        good = re.compile(rf"(2..|3..|502) \S+ /{HERE}/|({left})( |\?|$)")
        # A frame names no icon, so the browser asks for this one.
        requests = [line for line in lines if not line.endswith(" /favicon.ico")]
        return [line for line in requests if not good.match(line)]


@pytest.fixture
def below(tmp_path: Path) -> Iterator[Below]:
    shell = Shell(tmp_path)
    try:
        site = Below(shell)
        with site.running():
            yield site
    finally:
        shell.end_all()


def _place(tab: Tab) -> str:
    return tab.run("return location.pathname")


@pytest.mark.slow
@pytest.mark.browser
def test_everything_works_below_a_path(below: Below) -> None:
    """Programs also where nginx strips the path; a page requests the same there."""
    with started() as driver:
        with checked_tab(driver, below.origin) as tab:
            _walk(tab, below)
        _frame(Tab(driver, below.origin), below)
    for origin in (below.origin, below.stripped):
        _programs(below, origin)
    assert below.failed() == []


def _walk(tab: Tab, below: Below) -> None:
    tab.open(f"/{HERE}/devices?q=M")
    tab.until(lambda: _place(tab) == f"/{HERE}/sign-in")
    tab.run("document.querySelector('#key').value = arguments[0]", below.key)
    tab.click("form.card button")
    tab.until(lambda: _place(tab) == f"/{HERE}/devices")
    tab.until(lambda: "M-1" in tab.text("main"))
    tab.run("document.querySelector('main a.name, main [col-id] a').click()")
    tab.until(lambda: _place(tab).startswith(f"/{HERE}/devices/"))
    device = _place(tab).rpartition("/")[2]
    tab.until(lambda: tab.run("return !!document.querySelector('.js-plotly-plot')?.data?.length"))
    for label, path, shown in (
        ("Fleet", "/", TILE),
        ("Usage", "/usage", "main table.usage"),
        ("Embeds", "/embeds", "main .embeds"),
        ("Devices", "/devices", "main .ag-row"),
    ):
        tab.run(
            "[...document.querySelectorAll('nav .entry, .account a')]"
            ".find((e) => e.textContent === arguments[0]).click()",
            label,
        )
        tab.until(lambda p=path: _place(tab) == f"/{HERE}{p}")
        tab.until(lambda s=shown: tab.run("return !!document.querySelector(arguments[0])", s))
    tab.open(f"/{HERE}/report?devices={device}&range=7d")
    tab.until(lambda: tab.run("return document.querySelector('#report-body figure')?.innerHTML"))
    tab.open(f"/{HERE}/")
    tab.until(lambda: tab.run("return document.querySelectorAll(arguments[0]).length", TILE) == 3)
    tab.click(TILE)
    tab.until(lambda: _place(tab).startswith(f"/{HERE}/devices/"))
    cookies = {c["name"]: c["path"] for c in tab.cdp("Network.getAllCookies")["cookies"]}
    assert cookies["weir-session"] == f"/{HERE}/"
    tab.click(".account button")
    tab.until(lambda: _place(tab) == f"/{HERE}/sign-in")


def _frame(tab: Tab, below: Below) -> None:
    tab.driver.get(below.embed)
    tab.until(lambda: "M-1" in tab.text("body"))


def _programs(below: Below, origin: str) -> None:
    with httpx.Client(base_url=f"{origin}/{HERE}", trust_env=False, timeout=60) as http:
        headers = {KEY_HEADER: below.key}
        assert http.get("/management/v1/device?limit=1", headers=headers).status_code == 200
        assert http.get("/management/v1/api-json", headers=headers).status_code == 200
        signed_in = http.post("/sign-in", data={"key": below.key, "next": "/usage"})
        assert signed_in.status_code == 303
        assert signed_in.headers["location"] == f"/{HERE}/usage"
        for path in ("/export/fleet.svg", "/download/fleet.csv"):
            assert http.get(path).status_code == 200, path
    address = below.image.replace(below.origin, origin)
    image = httpx.get(address, trust_env=False, timeout=60)
    assert (image.status_code, image.headers["content-type"]) == (200, "image/svg+xml")
