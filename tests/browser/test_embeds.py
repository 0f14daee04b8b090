"""Embeds in a real browser: a host's page at 127.0.0.1, the frame at localhost, another site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome

from api.auth.embeds import issue_embed_token
from api.client.embeds import Embed
from api.timez import now_ms
from tests.browser.framed import PATIENCE_S, SHOWN, VIEWS, Framed, make
from tests.dashboards import LIVE
from tests.servers import free_port
from tests.web.embed.frames import Embeds, Host

EMBEDDING = Path(__file__).resolve().parents[2] / "docs" / "embedding.md"
REVOKED_WITHIN_S = 10.0
SANDBOX = "sandbox='allow-scripts'"


def short_token(embeds: Embeds, embed: Embed, ttl_s: int) -> str:
    """A token shorter than a host may request, so that a test needn't wait."""
    stored = embeds.web.embed(embed.id)
    assert stored is not None
    return issue_embed_token(embeds.settings, stored, now_ms(), ttl_s)[0]


# --- Allowed sites -------------------------------------------------------------------------------


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
    assert not [lines for lines in framed.embeds.requests if "HTTP_COOKIE" in lines]
    assert [e for e in framed.tab.errors() if "favicon" not in e] == []


def test_another_site_is_refused_by_the_browser(framed: Framed, stranger: Host) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    framed.open(embed, host=stranger)
    framed.tab.until(lambda: framed.tab.run("return document.readyState") == "complete")
    assert framed.tab.run("return location.href").startswith("chrome-error:")
    assert framed.tab.run("return document.getElementById('embed')") is None
    assert not [lines for lines in framed.embeds.requests if "_dash" in lines]


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
    framed.tab.until(lambda: any("/standing" in lines for lines in framed.embeds.requests))
    sent = [lines for lines in framed.embeds.requests if token in lines]
    assert len(sent) >= 3  # the view, its rows, and whether it is still valid
    for lines in sent:
        holding = [line for line in lines.splitlines() if token in line]
        assert holding == [f"HTTP_AUTHORIZATION: Bearer {token}"]
    assert token not in "".join(framed.host.requests)
    of_frame = [
        lines for lines in framed.embeds.requests if "_dash" in lines or "/assets/" in lines
    ]
    assert len(of_frame) > 8
    assert not [lines for lines in of_frame if "HTTP_REFERER" in lines]
    requested = framed.tab.requested("")
    assert len(requested) > 1
    for request in requested:
        assert token not in request["url"]
        assert token not in request["headers"].get("Referer", "")
    storage = "return [localStorage.length, sessionStorage.length, document.cookie, history.length]"
    assert framed.tab.run(storage)[:3] == [0, 0, ""]


def test_without_a_token_it_names_what_is_missing(framed: Framed) -> None:
    framed.open(make(framed.embeds, "chart", framed.host), "")
    framed.wait_for_notice("needs a token", "#t=")
    assert not [lines for lines in framed.embeds.requests if "_dash-update" in lines]


def test_a_changed_token_is_refused_with_a_message(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    head, claims, signature = framed.embeds.token(embed).split(".")
    framed.open(embed, f"{head}.{claims}.{'A' * len(signature)}")
    framed.wait_for_notice("isn’t valid")
    assert framed.tab.run(SHOWN) == 0


def test_an_expired_token_greys_and_a_new_one_revives(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host)
    script = (
        "window.renewals = []; addEventListener('message', ({source, origin, data}) => {"
        "if (source === frame.contentWindow) renewals.push([origin, data]); });"
    )
    framed.open(embed, short_token(framed.embeds, embed, 4), script=script)
    before = framed.shown()
    assert framed.opacity(".plot") == 1
    framed.wait_for_notice("expired", "Showing data from")
    assert framed.state() == "ended"
    assert framed.tab.run(SHOWN) == before
    framed.tab.until(lambda: framed.opacity(".plot") < 1)  # its transition
    with framed.outside():
        renewals = framed.tab.run("return renewals")
    assert renewals[0] == [framed.embeds.url, {"type": "weir:renew", "embed": embed.id}]
    framed.post({"type": "weir:token", "token": framed.embeds.token(embed)})
    framed.until_state("shown")
    assert framed.tab.text("#embed-notice") == ""
    framed.tab.until(lambda: framed.opacity(".plot") == 1)


def test_only_the_parent_page_may_post_a_token(framed: Framed, stranger: Host) -> None:
    """Not a frame beside it, nor a page that didn't open it, nor messages of another form."""
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
    framed.wait_for_notice("needs a token")
    with framed.outside():
        framed.tab.until(
            lambda: framed.tab.run(
                "other.contentWindow.postMessage(arguments[0], '*'); return passed > 1",
                {"type": "weir:token", "token": token},
            )
        )
    framed.post({"type": "weir:token", "token": 7})
    framed.post({"type": "weir:other", "token": token})
    framed.wait_for_notice("needs a token")
    assert not [lines for lines in framed.embeds.requests if "_dash-update" in lines]
    framed.post({"type": "weir:token", "token": token})
    assert framed.shown() > 100


def test_another_site_around_it_gets_no_message(framed: Framed, stranger: Host) -> None:
    """A host that isn't allowed gets nothing, not even the request for a token."""
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
    in_hand = framed.embeds.token(embed)  # a revoked embed gets no new token
    framed.embeds.client.revoke_embed(embed.id)
    revoked = time.monotonic()
    framed.until_state("ended", patience_s=PATIENCE_S)
    assert time.monotonic() - revoked < REVOKED_WITHIN_S
    framed.wait_for_notice("revoked", "Showing data from")
    assert framed.tab.run(SHOWN) == before
    count = len(framed.embeds.requests)
    framed.tab.run("document.dispatchEvent(new Event('visibilitychange'))")
    framed.post({"type": "weir:token", "token": in_hand})
    framed.tab.until(lambda: len(framed.embeds.requests) > count)
    framed.wait_for_notice("revoked")


# --- The host in the documentation ---------------------------------------------------------------


def _example() -> str:
    result = re.search(r"```python\n(.*?)```", EMBEDDING.read_text("utf-8"), re.DOTALL)
    assert result is not None
    return result[1]


def test_the_documented_host_has_twenty_lines() -> None:
    assert len([line for line in _example().splitlines() if line.strip()]) <= 20


def test_the_documented_host_issues_and_renews_tokens(framed: Framed, tmp_path: Path) -> None:
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
            return sum("/tokens" in lines for lines in framed.embeds.requests)

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
