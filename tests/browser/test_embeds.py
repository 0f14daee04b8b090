"""Embeds in a real browser: a host's page at 127.0.0.1, the frame at localhost, another site."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome

from api.auth.embeds import issue_embed_token
from api.catalog import EMBED_CONTROLS
from api.client.embeds import Embed
from api.timez import now_ms
from tests.browser import axe
from tests.browser.chromium import Tab
from tests.dashboards import CLOCKS, LIVE, NEVER, TRICKY, Fleet
from tests.embed.frames import Embeds, Host, hosting, serving_embeds
from tests.servers import free_port

EMBEDDING = Path(__file__).resolve().parents[2] / "docs" / "embedding.md"
PATIENCE_S = 30.0
REVOKED_WITHIN_S = 10.0
MOST_BYTES = 900_000
SANDBOX = "sandbox='allow-scripts'"
VIEWS = {"chart": (LIVE,), "tile": (LIVE,), "wall": (LIVE, TRICKY, NEVER, CLOCKS)}
_SHOWN = """
const graph = document.querySelector('.js-plotly-plot');
const rows = graph && graph.data && graph.data[2] ? graph.data[2].x.length : 0;
return rows + document.querySelectorAll('.tile:not(.skeleton) .spark .line[d^="M"]').length;
"""


@pytest.fixture(scope="module")
def embeds(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embeds]:
    with serving_embeds(fleet, tmp_path_factory.mktemp("embeds")) as running:
        yield running


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with hosting() as running:
        yield running


@pytest.fixture(scope="module")
def stranger() -> Iterator[Host]:
    """Another site, which no embed names."""
    with hosting() as running:
        yield running


class Framed:
    """A host's page with an embed in a frame, in the browser's one tab."""

    def __init__(self, driver: Chrome, embeds: Embeds, host: Host) -> None:
        self.driver, self.embeds, self.host = driver, embeds, host
        self.tab = Tab(driver, embeds.url)
        self.tab.size(1100, 700)
        self.tab.colours("light")

    def open(
        self,
        embed: Embed,
        token: str | None = None,
        *,
        attributes: str = "",
        script: str = "",
        size: tuple[int, int] = (1040, 400),
        host: Host | None = None,
    ) -> None:
        """And go into the frame. ``script`` is the host's; it finds the frame as ``frame``."""
        width, height = size
        page = (
            f"<iframe id='frame' title='Embed' {attributes} width='{width}' height='{height}'"
            f" style='border:0' src='{self.embeds.address(embed, token)}'></iframe>"
            f"<script>const frame = document.getElementById('frame');{script}</script>"
        )
        self.driver.switch_to.default_content()
        self.driver.get("about:blank")
        self.driver.get((host or self.host).page(page))
        self.inside()

    def inside(self) -> None:
        self.driver.switch_to.default_content()
        self.driver.switch_to.frame("frame")

    @contextmanager
    def outside(self) -> Iterator[None]:
        """On the host's page for a moment."""
        self.driver.switch_to.default_content()
        try:
            yield
        finally:
            self.inside()

    def post(self, message: dict[str, Any]) -> None:
        """From the host's page to the frame."""
        with self.outside():
            self.tab.run("frame.contentWindow.postMessage(arguments[0], '*')", message)

    def shown(self) -> int:
        """How many points or lines there are to see; waits for them."""
        return self.tab.until(lambda: self.tab.run(_SHOWN), patience_s=PATIENCE_S)

    def said(self, *words: str, patience_s: float = PATIENCE_S) -> str:
        """What the frame says for itself, once it says all of these words."""

        def found() -> str:
            text = self.tab.text("#embed-said")
            return text if text and all(word in text for word in words) else ""

        return self.tab.until(found, patience_s=patience_s)

    def state(self) -> str:
        return self.tab.run("return document.getElementById('embed').dataset.state")

    def until_state(self, state: str, patience_s: float = PATIENCE_S) -> None:
        self.tab.until(lambda: self.state() == state, patience_s=patience_s)

    def opacity(self, selector: str) -> float:
        style = f"getComputedStyle(document.querySelector('{selector}')).opacity"
        return float(self.tab.run(f"return {style}"))


@pytest.fixture
def framed(chromium: Chrome, embeds: Embeds, host: Host) -> Iterator[Framed]:
    """Nothing is kept, and third-party cookies are blocked."""
    made = Framed(chromium, embeds, host)
    made.tab.cdp("Network.enable")
    made.tab.cdp("Network.clearBrowserCookies")
    made.tab.cdp(
        "Network.setCookieControls",
        enableThirdPartyCookieRestriction=True,
        disableThirdPartyCookieMetadata=True,
        disableThirdPartyCookieHeuristics=True,
    )
    embeds.asked.clear()
    host.asked.clear()
    host.pages.clear()
    yield made
    chromium.switch_to.default_content()
    chromium.get("about:blank")


def make(embeds: Embeds, view: str, host: Host, **said: Any) -> Embed:
    metric = "flow_rate" if view == "chart" else None
    return embeds.make(view, *VIEWS[view], metric=metric, origins=(host.url,), **said)


def short_token(embeds: Embeds, embed: Embed, ttl_s: int) -> str:
    """Shorter than a host may ask for, so that a test needn't wait."""
    kept = embeds.web.embed(embed.id)
    assert kept is not None
    return issue_embed_token(embeds.settings, kept, now_ms(), ttl_s)[0]


# --- Who may show it -----------------------------------------------------------------------------


@pytest.mark.parametrize("attributes", ["", SANDBOX], ids=["plain", "sandboxed"])
@pytest.mark.parametrize("view", VIEWS)
def test_an_allowed_site_shows_it(framed: Framed, view: str, attributes: str) -> None:
    embed = make(framed.embeds, view, framed.host)
    framed.open(embed, attributes=attributes)
    assert framed.shown() >= 1
    framed.until_state("shown")
    assert framed.tab.run("return location.hash") == ""
    origin = framed.tab.run("return self.origin")
    assert origin == ("null" if attributes else framed.embeds.url)
    assert not [lines for lines in framed.embeds.asked if "HTTP_COOKIE" in lines]
    assert [e for e in framed.tab.errors() if "favicon" not in e] == []


def test_another_site_is_refused_by_the_browser(framed: Framed, stranger: Host) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    framed.open(embed, host=stranger)
    framed.tab.until(lambda: framed.tab.run("return document.readyState") == "complete")
    assert framed.tab.run("return location.href").startswith("chrome-error:")
    assert framed.tab.run("return document.getElementById('embed')") is None
    assert not [lines for lines in framed.embeds.asked if "_dash" in lines]


def test_a_site_around_an_allowed_site_is_refused_too(framed: Framed, stranger: Host) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    inner = framed.host.page(f"<iframe id='frame' src='{framed.embeds.address(embed)}'></iframe>")
    framed.driver.get(stranger.page(f"<iframe id='frame' src='{inner}'></iframe>"))
    framed.inside()
    framed.driver.switch_to.frame("frame")
    assert framed.tab.run("return location.href").startswith("chrome-error:")


# --- Tokens --------------------------------------------------------------------------------------


def test_the_token_is_in_no_address_and_no_referer(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    token = framed.embeds.token(embed)
    framed.tab.cdp("Network.clearBrowserCache")
    framed.open(embed, token)
    framed.shown()
    framed.tab.until(lambda: any("/standing" in lines for lines in framed.embeds.asked))
    sent = [lines for lines in framed.embeds.asked if token in lines]
    assert len(sent) >= 3  # the view, its rows, and whether it still stands
    for lines in sent:
        holding = [line for line in lines.splitlines() if token in line]
        assert holding == [f"HTTP_AUTHORIZATION: Bearer {token}"]
    assert token not in "".join(framed.host.asked)
    of_frame = [lines for lines in framed.embeds.asked if "_dash" in lines or "/assets/" in lines]
    assert len(of_frame) > 8
    assert not [lines for lines in of_frame if "HTTP_REFERER" in lines]
    requested = framed.tab.requested("")
    assert len(requested) > 1
    for request in requested:
        assert token not in request["url"]
        assert token not in request["headers"].get("Referer", "")
    kept = "return [localStorage.length, sessionStorage.length, document.cookie, history.length]"
    assert framed.tab.run(kept)[:3] == [0, 0, ""]


def test_without_a_token_it_says_what_is_missing(framed: Framed) -> None:
    framed.open(make(framed.embeds, "chart", framed.host), "")
    framed.said("needs a token", "#t=")
    assert not [lines for lines in framed.embeds.asked if "_dash-update" in lines]


def test_a_changed_token_is_refused_in_words(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    head, claims, signature = framed.embeds.token(embed).split(".")
    framed.open(embed, f"{head}.{claims}.{'A' * len(signature)}")
    framed.said("isn’t valid")
    assert framed.tab.run(_SHOWN) == 0


def test_an_expired_token_greys_and_a_new_one_revives(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    script = (
        "window.renewals = []; addEventListener('message', ({source, origin, data}) => {"
        "if (source === frame.contentWindow) renewals.push([origin, data]); });"
    )
    framed.open(embed, short_token(framed.embeds, embed, 4), script=script)
    before = framed.shown()
    assert framed.opacity(".plot") == 1
    framed.said("expired", "Shown is what was known")
    assert framed.state() == "ended"
    assert framed.tab.run(_SHOWN) == before
    assert framed.opacity(".plot") < 1
    with framed.outside():
        renewals = framed.tab.run("return renewals")
    assert renewals[0] == [framed.embeds.url, {"type": "weir:renew", "embed": embed.id}]
    framed.post({"type": "weir:token", "token": framed.embeds.token(embed)})
    framed.until_state("shown")
    assert framed.tab.text("#embed-said") == ""
    framed.tab.until(lambda: framed.opacity(".plot") == 1)


def test_only_the_page_around_it_may_give_it_a_token(framed: Framed, stranger: Host) -> None:
    """A stranger's frame beside it, a stranger that opened nothing, texts that are none."""
    embed = make(framed.embeds, "chart", framed.host)
    token = framed.embeds.token(embed)
    sender = (
        "<script>addEventListener('message', ({data}) => {"
        "parent.frames[0].postMessage(data, '*'); parent.postMessage('passed on', '*'); });"
        "</script>"
    )
    beside = stranger.page(sender, "/sender")
    script = (
        f"const other = document.createElement('iframe'); other.src = '{beside}';"
        "document.body.append(other); window.passed = 0;"
        "addEventListener('message', ({data}) => { if (data === 'passed on') passed += 1; });"
    )
    framed.open(embed, "", script=script)
    framed.said("needs a token")
    with framed.outside():
        framed.tab.until(
            lambda: framed.tab.run(
                "other.contentWindow.postMessage(arguments[0], '*'); return passed > 1",
                {"type": "weir:token", "token": token},
            )
        )
    framed.post({"type": "weir:token", "token": 7})
    framed.post({"type": "weir:other", "token": token})
    framed.said("needs a token")
    assert not [lines for lines in framed.embeds.asked if "_dash-update" in lines]
    framed.post({"type": "weir:token", "token": token})
    assert framed.shown() > 100


def test_a_stranger_around_it_gets_no_word(framed: Framed, stranger: Host) -> None:
    """Framed by itself alone, its page is never shown; not even that it asks for a token."""
    embed = make(framed.embeds, "chart", framed.host)
    script = "window.heard = []; addEventListener('message', ({data}) => heard.push(data));"
    framed.open(embed, "", script=script, host=stranger)
    framed.tab.until(lambda: framed.tab.run("return document.readyState") == "complete")
    with framed.outside():
        assert framed.tab.run("return heard") == []


def test_a_revoked_embed_stops_within_ten_seconds(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    framed.open(embed)
    before = framed.shown()
    framed.embeds.client.revoke_embed(embed.id)
    revoked = time.monotonic()
    framed.until_state("ended", patience_s=PATIENCE_S)
    assert time.monotonic() - revoked < REVOKED_WITHIN_S
    framed.said("revoked", "Shown is what was known")
    assert framed.tab.run(_SHOWN) == before
    asked = len(framed.embeds.asked)
    framed.tab.run("document.dispatchEvent(new Event('visibilitychange'))")
    framed.post({"type": "weir:token", "token": framed.embeds.token(embed)})
    framed.tab.until(lambda: len(framed.embeds.asked) > asked)
    framed.said("revoked")


# --- What it shows, and how it keeps up ----------------------------------------------------------


def test_a_chart_keeps_up_by_itself(framed: Framed) -> None:
    framed.open(make(framed.embeds, "chart", framed.host))
    framed.shown()

    def rows_asked() -> int:
        return sum("_dash-update-component" in lines for lines in framed.embeds.asked)

    before, started = rows_asked(), time.monotonic()
    framed.tab.until(lambda: rows_asked() > before, patience_s=PATIENCE_S)
    assert 10 <= time.monotonic() - started <= 30
    assert "Live" in framed.tab.text("#chart-live")


def test_a_service_that_is_down_leaves_the_last_picture_with_its_age(framed: Framed) -> None:
    framed.open(make(framed.embeds, "wall", framed.host))
    framed.shown()
    framed.embeds.broken.set()
    try:
        framed.said("on fire", "Shown is what was known")
        assert framed.state() == "trouble"
        framed.tab.until(lambda: framed.opacity("#wall-tiles") < 1)
        assert framed.tab.run(_SHOWN) >= 1
    finally:
        framed.embeds.broken.clear()
    framed.until_state("shown")


def test_a_drag_asks_for_finer_rows_where_the_viewer_may(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host, controls=("range",))
    framed.open(embed, size=(700, 400))
    framed.shown()
    framed.tab.click("button[data-value='7d']")

    def badge() -> str:
        return framed.tab.text("#chart-badge")

    framed.tab.until(lambda: badge().startswith(("5 min", "10 min")))
    x, y, width, height = framed.tab.run(
        "const r = document.querySelector('.nsewdrag').getBoundingClientRect();"
        "return [r.x, r.y, r.width, r.height]"
    )
    framed.tab.drag(8 + x + 0.5 * width, 8 + x + 0.55 * width, 8 + y + height / 2)
    framed.tab.until(lambda: badge().startswith(("raw", "1 min")))
    assert framed.tab.text("#chart-reset")


def test_a_range_that_is_fixed_stays_put(framed: Framed) -> None:
    framed.open(make(framed.embeds, "chart", framed.host), size=(700, 400))
    framed.shown()
    axis = "return document.querySelector('.js-plotly-plot').layout.xaxis"
    assert framed.tab.run(axis)["fixedrange"] is True
    assert framed.tab.text(".embed-controls") == ""


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_cut_on_a_phone(framed: Framed, view: str, width: int) -> None:
    controls = tuple(EMBED_CONTROLS)
    framed.tab.size(width, 700)
    embed = make(framed.embeds, view, framed.host, controls=controls, title="Supply of the house")
    framed.driver.get(framed.embeds.address(embed))
    framed.shown()
    over = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
    assert framed.tab.run(over) == 0
    wide = framed.tab.run(
        "return [...document.querySelectorAll('.plot, .tile, h1, .live')]"
        ".filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5).length"
    )
    assert wide == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_everybody_can_use_it_and_it_breaks_no_rule_of_its_policy(
    framed: Framed, view: str, theme: str
) -> None:
    embed = make(framed.embeds, view, framed.host, theme=theme, controls=tuple(EMBED_CONTROLS))
    framed.driver.get(framed.embeds.address(embed))
    framed.shown()
    framed.until_state("shown")
    assert axe.findings(framed.tab) == []
    assert framed.tab.run("return window.weirViolations") == []
    assert framed.tab.errors() == []
    dark = framed.tab.run("return getComputedStyle(document.documentElement).colorScheme")
    assert dark == theme


@pytest.mark.parametrize("view", VIEWS)
def test_it_weighs_little_when_nothing_of_it_is_there(framed: Framed, view: str) -> None:
    embed = make(framed.embeds, view, framed.host)
    framed.tab.cdp("Network.clearBrowserCache")
    framed.driver.get_log("performance")
    framed.driver.get(framed.embeds.address(embed))
    framed.shown()
    assert 100_000 < _received(framed.driver) < MOST_BYTES


def _received(driver: Chrome) -> int:
    """Bytes over the wire, headers included, since the log was last read."""
    events = [json.loads(e["message"])["message"] for e in driver.get_log("performance")]
    ended = [e for e in events if e["method"] == "Network.loadingFinished"]
    return round(sum(e["params"]["encodedDataLength"] for e in ended))


# --- The host of the documents -------------------------------------------------------------------


def _example() -> str:
    found = re.search(r"```python\n(.*?)```", EMBEDDING.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_documents_host_is_of_twenty_lines() -> None:
    assert len([line for line in _example().splitlines() if line.strip()]) <= 20


def test_the_documents_host_mints_and_renews(framed: Framed, tmp_path: Path) -> None:
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    embed = framed.embeds.make("chart", LIVE, metric="flow_rate", origins=(origin,))
    program = tmp_path / "host.py"
    program.write_text(_example().replace('"ttl": 600', '"ttl": 10'), "utf-8")
    settings = {
        "WEIR_URL": framed.embeds.url,
        "EMBED_ID": embed.id,
        "WEIR_API_KEY": framed.embeds.fleet.key,
        "PORT": str(port),
    }
    running = subprocess.Popen(
        [sys.executable, str(program)], env={**os.environ, **settings}, stderr=subprocess.DEVNULL
    )
    try:
        framed.tab.until(lambda: _listens(framed.driver, origin), patience_s=PATIENCE_S)
        framed.driver.switch_to.frame(0)
        framed.shown()

        def minted() -> int:
            return sum("/tokens" in lines for lines in framed.embeds.asked)

        assert minted() == 1
        framed.tab.until(lambda: minted() > 1, patience_s=PATIENCE_S)
        framed.until_state("shown")
    finally:
        running.kill()
        running.wait()


def _listens(driver: Chrome, url: str) -> bool:
    try:
        driver.get(url)
    except WebDriverException:
        return False
    return bool(driver.find_elements("css selector", "iframe"))
