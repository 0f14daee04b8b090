"""The site as shipped: the real nginx with TLS, configured by deploy/nginx.conf, in front of the
real server. People and programs connect from several addresses of this machine."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest

from api.catalog import KEY_HEADER, PATH_PREFIX
from api.server.rate_limits import FAILURES_BURST
from api.store.base import Grant, Scope
from api.store.open import open_store
from api.timez import stamp
from tests.browser.chromium import Tab, started
from tests.commands.conftest import CommandLine
from tests.commands.shell import eventually
from tests.commands.test_operations import WORKERS, Answer, Site
from tests.nginx import Proxy
from tests.store.fleet import NOON_MS
from tests.web.embed.frames import hosting

NAME = "weir.example"
ROWS = 60_000  # more bytes than the buffers on the way hold while nobody reads
FROM_MS = NOON_MS - ROWS * 1000
FORM = "application/x-www-form-urlencoded"
ME, OTHER = "127.0.0.2", "127.0.0.3"


class Line(http.client.HTTPSConnection):
    """A client's connection to the proxy, by the site's name."""

    def __init__(self, proxy: Proxy, address: str = ME) -> None:
        context = ssl.create_default_context(cafile=str(proxy.certificate))
        context.check_hostname = False  # the name is in the Host header alone
        super().__init__(
            "127.0.0.1", proxy.port, timeout=60, context=context, source_address=(address, 0)
        )


class Front:
    """The site behind its proxy."""

    def __init__(self, site: Site, proxy: Proxy) -> None:
        self.site, self.proxy = site, proxy

    def ask(
        self, path: str, method: str = "GET", body: str | None = None, *, address: str = ME,
        **headers: str,
    ) -> Answer:  # fmt: skip
        named = {"Host": NAME} | {n.replace("_", "-"): value for n, value in headers.items()}
        with closing(Line(self.proxy, address)) as line:
            line.request(method, path, body, named)
            answer = line.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def signed_in(self) -> str:
        """The cookie of a session."""
        form = urlencode({"key": self.site.key})
        origin = {"Origin": f"https://{NAME}", "Sec_Fetch_Site": "same-origin"}
        answer = self.ask("/sign-in", "POST", form, Content_Type=FORM, **origin)
        assert answer.status == 303, answer.body
        return str(answer.headers["Set-Cookie"])

    def line_of(self, answer: Answer) -> dict[str, Any]:
        """Weir's log line of the request, which it writes after the response is sent."""
        id = answer.headers["Request-Id"]
        return eventually(
            lambda: next((one for one in self.site.lines() if one["id"] == id), None),
            "it was noted",
        )


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("front")
    site = Site(folder, WEIR_PUBLIC_URL=f"https://{NAME}", WEIR_RATE_LIMIT="1000")
    store = open_store(site.shell.url)
    [device] = store.resolve(Scope(site.org, Grant(everything=True)), ["M-1"])
    assert device is not None
    store.write([(device.key, FROM_MS + n * 1000, n % 97 / 8, *[None] * 6) for n in range(ROWS)])  # pyright: ignore[reportArgumentType]
    store.close()
    (folder / "nginx").mkdir()
    proxy = Proxy(folder / "nginx", site.shell.port)
    try:
        with proxy.running():
            yield Front(site, proxy)
    finally:
        site.shell.end_all()


# --- People --------------------------------------------------------------------------------------


def test_people_sign_in_by_a_cookie_that_only_tls_carries(front: Front) -> None:
    cookie = front.signed_in()
    assert cookie.startswith("__Host-")
    assert {"Secure", "HttpOnly", "SameSite=Lax"} <= {part.strip() for part in cookie.split(";")}
    page = front.ask("/devices", Cookie=cookie.split(";")[0])
    assert page.status == 200
    assert page.headers["Strict-Transport-Security"] == "max-age=600"
    # The server's own key signs in nobody behind a proxy.
    assert front.ask("/devices").status == 303
    stranger = {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"}
    form = urlencode({"key": front.site.key})
    answer = front.ask("/sign-in", "POST", form, Content_Type=FORM, **stranger)
    assert answer.status == 403


def test_an_old_browser_signs_in_at_another_port(front: Front) -> None:
    """Its request has an Origin header alone, which must match the Host that Weir gets."""
    at = f"{NAME}:8443"
    form = urlencode({"key": front.site.key})
    origin = {"Host": at, "Origin": f"https://{at}"}
    assert front.ask("/sign-in", "POST", form, Content_Type=FORM, **origin).status == 303


def test_plain_http_is_redirected_to_tls(front: Front) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", front.proxy.plain_port)) as line:
        line.request("GET", "/devices?q=1", headers={"Host": NAME})
        answer = line.getresponse()
        assert (answer.status, answer.headers["Location"]) == (301, f"https://{NAME}/devices?q=1")


@pytest.mark.browser
def test_a_browser_signs_in_and_sees_the_fleet_and_a_frame(front: Front) -> None:
    """By an address with a port: the browser's origin must match the Host that Weir gets."""
    site, url = front.site, f"https://127.0.0.1:{front.proxy.port}"
    with started() as driver:
        driver.execute_cdp_cmd("Security.setIgnoreCertificateErrors", {"ignore": True})
        tab = Tab(driver, url)
        tab.open("/")
        tab.run(
            "document.querySelector('[name=key]').value = arguments[0];"
            "document.querySelector('[name=key]').form.requestSubmit()",
            site.key,
        )
        tab.until(lambda: tab.text("#freshness").startswith("Live"), patience_s=60)
        tab.until(lambda: "M-1" in tab.text("#fleet-wall"))
        assert tab.violations == []
        with hosting() as host:
            ask = CommandLine(site.shell.environ).ask
            words = ("--org", site.org, "--view", "tile", "--device", "M-1", "--origin", host.url)
            made = ask("embeds", "create", *words)
            assert str(made["url"]).startswith(f"https://{NAME}/embed/")
            source = str(made["url"]).replace(f"https://{NAME}", url)
            driver.get(host.page(f"<iframe id='frame' src='{source}'></iframe>"))

            def framed() -> str:
                """The frame is entered each time: at first it may hold an empty page."""
                driver.switch_to.default_content()
                driver.switch_to.frame("frame")
                return tab.text("body")

            tab.until(lambda: "M-1" in framed(), patience_s=60)


# --- Programs ------------------------------------------------------------------------------------


def test_keys_reach_the_interface_and_cookies_the_pages(front: Front) -> None:
    key = {KEY_HEADER: front.site.key}
    cookie = front.signed_in().split(";")[0]
    assert front.ask(f"{PATH_PREFIX}/device", **key).status == 200
    assert front.ask(f"{PATH_PREFIX}/device", Cookie=cookie).status == 401
    assert front.ask("/devices", **key).status == 303
    with closing(
        Line(front.proxy)
    ) as line:  # a header with underscores isn't taken for one with dashes
        line.request("GET", f"{PATH_PREFIX}/device", headers={"service_api_key": front.site.key})
        assert line.getresponse().status == 401


def test_programs_send_and_read_with_compression(front: Front) -> None:
    row = {"device": "M-1", "recordedAt": "2026-11-01T00:00:00Z", "flowRate": 1}
    sent = front.ask(
        "/ingest/v1/readings", "POST", json.dumps([row]),
        Content_Type="application/json", **{KEY_HEADER: front.site.ingest},
    )  # fmt: skip
    assert (sent.status, json.loads(sent.body)["accepted"]) == (200, 1)
    path = f"{PATH_PREFIX}/flow/datapoints/M-1?resolution=raw&limit=1000&to=2026-10-01"
    plain = front.ask(path, **{KEY_HEADER: front.site.key})
    packed = front.ask(path, **{KEY_HEADER: front.site.key}, Accept_Encoding="br")
    assert packed.headers["Content-Encoding"] == "br"
    assert len(packed.body) < len(plain.body) / 3


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_internal_paths_are_closed_outside(front: Front, path: str) -> None:
    assert front.ask(path).status == 404
    assert front.site.ask("/readyz").status == 200


# --- Trusted headers -----------------------------------------------------------------------------


def test_forwarding_headers_of_a_client_end_at_the_proxy(front: Front) -> None:
    forged = {
        "X_Forwarded_For": "203.0.113.9", "X_Real_IP": "203.0.113.9",
        "Forwarded": "for=203.0.113.9", "X_Forwarded_Proto": "http",
        "X_Request_Id": "mine-0123456789",
    }  # fmt: skip
    answer = front.ask("/healthz", **forged)
    assert answer.headers["Request-Id"] != "mine-0123456789"
    assert front.line_of(answer)["address"] == ME
    assert answer.headers["Strict-Transport-Security"]
    assert answer.headers["Request-Id"] in (front.proxy.folder / "weir.log").read_text()


def test_a_client_that_guesses_keys_is_limited_and_others_are_not(front: Front) -> None:
    def guess(address: str, number: int) -> int:
        forged = {"X_Forwarded_For": f"203.0.113.{number % 250}"}
        key = {KEY_HEADER: str(uuid4())}
        return front.ask(f"{PATH_PREFIX}/device", address=address, **key, **forged).status

    most = int(FAILURES_BURST * WORKERS * 3)
    number = next((n for n in range(most) if guess(ME, n) == 429), most)
    assert FAILURES_BURST <= number < most
    assert guess(OTHER, 0) == 401


# --- Files and images ----------------------------------------------------------------------------


def test_a_long_file_is_streamed(front: Front) -> None:
    cookie = front.signed_in().split(";")[0]
    listed = front.ask(f"{PATH_PREFIX}/device", address=OTHER, **{KEY_HEADER: front.site.key})
    [device] = json.loads(listed.body)
    span = urlencode({"from": stamp(FROM_MS), "to": stamp(NOON_MS)})
    path = f"/download/devices/{device['id']}/rows.csv?{span}"
    with closing(Line(front.proxy)) as line:
        line.connect()
        line.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        line.request("GET", path, headers={"Host": NAME, "Cookie": cookie})
        answer = line.getresponse()
        assert answer.status == 200
        head = answer.read(4_096)
        until_s = time.monotonic() + 3
        while time.monotonic() < until_s and not front.proxy.has_spooled():
            time.sleep(0.02)  # never read: otherwise it would fill the proxy's disk
        line.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        body = head + answer.read()
    assert body.count(b"\n") > ROWS
    assert not front.proxy.has_spooled()


def test_an_image_opens_by_its_signed_address(front: Front) -> None:
    link = urlsplit(front.site.link)
    assert (link.scheme, link.netloc) == ("https", NAME)
    answer = front.ask(f"{link.path}?{link.query}")
    assert (answer.status, answer.body[:4]) == (200, b"\x89PNG")
