"""Signing in and out, as a reader sees it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from api.catalog import KEY_HEADER
from api.store.base import Grant
from tests.browser.conftest import Serve, Window
from tests.world import METER, TWIN, World

pytestmark = pytest.mark.browser

PATIENCE_S = 30.0
# The ends of the chart's axis, in UTC; null until it is drawn.
AXIS = (
    "const plot = document.querySelector('#chart-graph .js-plotly-plot');"
    "return plot && plot._fullLayout && plot.data.length"
    " ? plot._fullLayout.xaxis.range.map((end) => end.replace(' ', 'T')) : null"
)
SHOTS = Path(__file__).resolve().parents[2] / "screenshots"


@pytest.fixture(scope="module")
def address(serve: Serve) -> str:
    return serve()


def until(done: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> float:
    start_s = time.monotonic()
    while not done():
        assert time.monotonic() - start_s < patience_s, what
        time.sleep(0.05)
    return time.monotonic() - start_s


def find(window: Window, selector: str) -> WebElement:
    until(lambda: window.driver.find_elements(By.CSS_SELECTOR, selector), selector)
    return window.driver.find_element(By.CSS_SELECTOR, selector)


def sign_in(window: Window, key: str) -> None:
    find(window, "#key").send_keys(key, Keys.ENTER)


def path(window: Window) -> str:
    return window.run("return location.pathname + location.search")


def key_of(world: World, name: str) -> str:
    return world.credentials[name].headers[KEY_HEADER]


def test_a_reader_signs_in_reaches_the_requested_page_and_signs_out(
    window: Window, address: str, world: World
) -> None:
    window.driver.get(f"{address}/devices/{METER}?range=7d&metric=quality")
    assert path(window).startswith("/sign-in?next=%2Fdevices%2F")
    assert window.run("return document.activeElement.id") == "key"
    sign_in(window, key_of(world, "all"))
    find(window, "main .identity")
    assert path(window).startswith(f"/devices/{METER}?range=7d&metric=quality")
    assert window.run("return document.cookie") == ""
    everything = window.run(
        "return document.documentElement.outerHTML + JSON.stringify({...localStorage})"
        " + JSON.stringify({...sessionStorage})"
    )
    assert key_of(world, "all") not in everything

    find(window, ".account summary").click()
    find(window, ".account button").click()
    until(lambda: path(window).startswith("/sign-in"), "the sign-in page")
    assert find(window, "#notice").text == "You are signed out."
    window.driver.back()
    until(lambda: path(window).startswith("/sign-in"), "no way back in")
    host = address.removeprefix("http://")
    assert {u for u in window.requests() if host not in u and not u.startswith("data:")} <= {""}
    assert window.violations() == []


def test_a_shared_link_opens_its_exact_view_after_sign_in(
    window: Window, address: str, world: World
) -> None:
    """Range, zoom, metric, zone and units: the whole view of the colleague who shared it."""
    fields = {
        "range": "2026-10-01T00:00:00.000Z..2026-11-01T00:00:00.000Z",
        "from": "2026-10-10T00:00:00.000Z",
        "to": "2026-10-12T11:59:59.999Z",
        "metric": "volume",
        "zone": "Asia/Kolkata",
        "units": "metric",
    }
    window.driver.get(f"{address}/devices/{METER}?{urlencode(fields)}")
    until(lambda: path(window).startswith("/sign-in?next="), "the sign-in page")
    sign_in(window, key_of(world, "all"))
    until(lambda: (window.run(AXIS) or [""])[0].startswith("2026-10-10"), "the zoom")
    assert parse_qs(urlsplit(path(window)).query) == {name: [text] for name, text in fields.items()}
    assert [end[:16] for end in window.run(AXIS)] == ["2026-10-10T00:00", "2026-10-12T11:59"]
    assert "Asia/Kolkata" in find(window, "#chart-zone-note").text
    pressed = window.run(
        "return [...document.querySelectorAll('.chart-card [data-set][aria-pressed=true]')]"
        ".map((button) => button.dataset.value)"
    )
    assert "volume" in pressed
    for name in ("zone", "units"):
        chosen = f"return document.querySelector('select[data-set={name}]').value"
        until(lambda chosen=chosen, name=name: window.run(chosen) == fields[name], name)
    assert window.run("return !document.getElementById('chart-reset').disabled")


def test_a_wrong_key_is_refused_and_a_right_one_then_works(
    window: Window, address: str, world: World
) -> None:
    window.driver.get(f"{address}/devices?status=all")
    sign_in(window, str(uuid4()))
    assert "unknown, has expired or was revoked" in find(window, "#notice").text
    assert find(window, "#key").get_attribute("value") == ""
    sign_in(window, f"key_abc.{key_of(world, 'all')}")
    until(lambda: "after the dot" in find(window, "#notice").text, "what to paste")
    sign_in(window, key_of(world, "all"))
    find(window, ".ag-row .name")
    assert path(window) == "/devices?status=all"


def test_the_page_works_without_a_script(window: Window, address: str, world: World) -> None:
    window.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        window.driver.get(f"{address}/devices")
        sign_in(window, key_of(world, "all"))
        until(lambda: window.driver.current_url == f"{address}/devices", "the asked page")
    finally:
        window.command("Emulation.setScriptExecutionDisabled", value=False)


def test_a_key_revoked_during_a_visit_ends_in_a_clear_message(
    window: Window, address: str, world: World
) -> None:
    key, key_id = world.new_key(Grant(everything=True))
    window.driver.get(f"{address}/devices/{TWIN}")
    sign_in(window, key)
    find(window, "main .identity")
    world.store.revoke_key(key_id, 1)
    took_s = until(lambda: path(window).startswith("/sign-in"), "signed out within 10 s")
    assert took_s <= 10
    assert find(window, "#notice").text.endswith("your key was revoked or has expired.")
    sign_in(window, key_of(world, "all"))
    find(window, "main .identity")
    assert path(window).startswith(f"/devices/{TWIN}")


def test_a_click_after_the_session_has_ended_opens_sign_in(
    window: Window, address: str, world: World
) -> None:
    """The page is open and its cookie is gone: the next click's callback is refused."""
    window.driver.get(f"{address}/devices")
    sign_in(window, key_of(world, "all"))
    find(window, ".ag-row .name")
    find(window, f'a[href="/devices/{TWIN}"]')
    window.command("Network.clearBrowserCookies")
    window.run("document.querySelector(arguments[0]).click()", f'a[href="/devices/{TWIN}"]')
    until(lambda: path(window).startswith("/sign-in"), "the sign-in page")
    sign_in(window, key_of(world, "all"))
    find(window, "main .identity")


def test_the_account_menu_works_by_keyboard(window: Window, address: str, world: World) -> None:
    window.driver.get(f"{address}/devices")
    sign_in(window, key_of(world, "all"))
    summary = find(window, ".account summary")
    assert summary.text == "Org-Acme"
    summary.send_keys(Keys.ENTER)
    button = find(window, ".account button")
    until(button.is_displayed, "the menu open")
    button.send_keys(Keys.ESCAPE)
    until(lambda: not button.is_displayed(), "the menu closed")
    assert window.run("return document.activeElement.tagName") == "SUMMARY"


def test_local_visitors_are_signed_in_and_can_sign_out(
    window: Window, serve: Serve, world: World
) -> None:
    own = serve(demo_key=lambda: key_of(world, "all"), local_only=True)
    window.driver.get(f"{own}/devices")
    find(window, ".ag-row .name")
    find(window, ".account summary").click()
    find(window, ".account button").click()
    again = find(window, ".own button")
    assert again.text == "Continue with the demo fleet"
    window.driver.get(f"{own}/devices")
    assert path(window) == "/sign-in?next=%2Fdevices"
    find(window, ".own button").click()
    find(window, ".ag-row .name")
    assert path(window) == "/devices"


@pytest.mark.parametrize(("width_px", "theme"), [(1440, "light"), (390, "dark")])
def test_the_sign_in_page_fits_every_screen_and_is_accessible(
    window: Window, address: str, theme: str, width_px: int
) -> None:
    window.size(width_px, 844 if width_px == 390 else 900)
    window.prefer(theme)
    window.driver.get(f"{address}/sign-in?because=refused&next=/devices")
    SHOTS.mkdir(exist_ok=True)
    window.driver.save_screenshot(str(SHOTS / f"sign-in-{theme}-{width_px}.png"))
    assert window.run("return document.documentElement.scrollWidth") <= width_px
    background = window.run("return getComputedStyle(document.documentElement).backgroundColor")
    assert background == {"light": "rgb(246, 247, 249)", "dark": "rgb(14, 20, 27)"}[theme]
    assert window.violations() == []
    assert window.messages() == []
