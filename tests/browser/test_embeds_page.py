"""The embeds page in a real browser: create, preview, copy, revoke."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from api.client import EmbedDefinition
from tests.browser import axe
from tests.browser.charts import Chart
from tests.browser.chromium import Tab, checked_tab
from tests.browser.conftest import Window
from tests.dashboards import LIVE, TRICKY, Fleet
from tests.embeds.site import Managed, managing

pytestmark = pytest.mark.browser

PATIENCE_S = 30.0
LISTED = "document.querySelectorAll('#embeds-panel [role=listbox]').length"


@pytest.fixture(scope="module")
def managed(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Managed]:
    with managing(fleet, tmp_path_factory.mktemp("managed")) as running:
        yield running


@pytest.fixture
def tab(window: Window, managed: Managed) -> Iterator[Tab]:
    with checked_tab(window.driver, managed.url) as opened:
        yield opened


def write(tab: Tab, id: str, text: str) -> None:
    tab.driver.find_element(By.ID, id).send_keys(text)


def choose(tab: Tab, id: str, value: str) -> None:
    selector = f'#{id} input[value="{value}"]'
    tab.until(lambda: tab.run(f"return !!document.querySelector('{selector}')"))
    if not tab.run(f"return document.querySelector('{selector}').checked"):
        tab.click(selector)
    tab.until(lambda: tab.run(f"return document.querySelector('{selector}').checked"))


def embed_id(tab: Tab) -> str:
    """The id of the embed shown, once there is one."""
    tab.until(lambda: "Copy snippet" in tab.text("#embeds-panel"), patience_s=PATIENCE_S)
    return parse_qs(urlsplit(tab.driver.current_url).query)["embed"][0]


def in_frame(tab: Tab, text: str) -> bool:
    """Whether the preview contains the text; its frame is of this same site."""
    script = (
        "const f = document.querySelector('.embed-preview');"
        "return !!f && !!f.contentDocument && !!f.contentDocument.body"
        " && f.contentDocument.body.innerText.includes(arguments[0])"
    )
    return tab.run(script, text)


def test_an_embed_is_created_previewed_copied_and_revoked(tab: Tab, managed: Managed) -> None:
    live = managed.fleet.ids[LIVE]
    tab.open("/embeds")
    tab.until(lambda: "New embed" in tab.text("main"))
    write(tab, "embed-search", "tenant")
    tab.until(
        lambda: tab.run("return document.querySelectorAll('#embed-devices input').length") == 1
    )
    choose(tab, "embed-devices", live)
    choose(tab, "embed-metric", "quality")
    choose(tab, "embed-window", "604800")
    write(tab, "embed-title", "Lobby wall")
    write(tab, "embed-origins", "http://portal.example")
    tab.click("#embeds-make")
    result = "#embed-origins-problem"
    tab.until(lambda: "http is for localhost alone" in tab.text(result), patience_s=PATIENCE_S)
    write(tab, "embed-origins", Keys.CONTROL + "a")
    write(tab, "embed-origins", "https://portal.example")
    tab.click("#embeds-make")
    id = embed_id(tab)

    made = managed.client.embed(id)
    assert made.definition.devices == (live,)
    assert made.definition.metric == "quality"
    assert made.definition.origins == ("https://portal.example",)
    tab.until(lambda: in_frame(tab, "Lobby wall"), patience_s=PATIENCE_S)
    assert "● Active" in tab.text("#embeds-list")

    tab.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite"], origin=managed.url)
    snippet = tab.run("return document.querySelector('#embeds-snippet').value")
    assert f'src="{managed.url}/embed/{id}#t=' in snippet
    tab.click("[data-copy]")
    tab.until(lambda: tab.text("[data-copied]") == "Copied", patience_s=PATIENCE_S)
    read = "const done = arguments[0]; navigator.clipboard.readText().then(done, () => done(''))"
    assert tab.driver.execute_async_script(read) in (snippet, "")

    tab.click("#embeds-panel summary")
    tab.until(lambda: "can’t be undone" in tab.text("#embeds-panel details"))
    tab.click("#embeds-revoke")
    tab.until(lambda: "■ Revoked" in tab.text("#embeds-panel"), patience_s=PATIENCE_S)
    assert "■ Revoked" in tab.text("#embeds-list")
    assert managed.client.embed(id).state == "revoked"
    assert tab.run("return document.querySelectorAll('.embed-preview').length") == 0


def test_a_view_for_one_device_keeps_the_last_chosen(tab: Tab, managed: Managed) -> None:
    live, tricky = managed.fleet.ids[LIVE], managed.fleet.ids[TRICKY]
    tab.open(f"/embeds?view=wall&device={live},{tricky}")
    tab.until(lambda: "New embed" in tab.text("main"))
    chosen = (
        "return [...document.querySelectorAll('#embed-devices input:checked')].map(i => i.value)"
    )
    assert sorted(tab.run(chosen)) == sorted([live, tricky])
    assert tab.text("#embed-metric-field") == ""
    choose(tab, "embed-view", "chart")
    tab.until(lambda: tab.run(chosen) == [tricky])
    tab.until(lambda: "Metric" in tab.text("#embed-metric-field"))


def test_a_devices_page_opens_the_form_with_its_view(tab: Tab, managed: Managed) -> None:
    live = managed.fleet.ids[LIVE]
    tab.open(f"/devices/{live}?range=7d&metric=volume&units=metric")
    Chart(tab).drawn()
    tab.click("a[data-embed]")
    tab.until(lambda: "New embed" in tab.text("main"), patience_s=PATIENCE_S)
    checked = "return [...document.querySelectorAll('#content input:checked')].map(i => i.value)"
    assert {live, "chart", "volume", "604800", "metric"} <= set(tab.run(checked))


def test_the_wall_opens_the_form_with_its_devices(tab: Tab, managed: Managed) -> None:
    tab.open("/?window=7d&q=Zone 00")
    tiles = "return document.querySelectorAll('#fleet-wall .tile').length"
    tab.until(lambda: tab.run(tiles) == 10, patience_s=PATIENCE_S)
    tab.click("a[data-embed]")
    tab.until(lambda: "New embed" in tab.text("main"), patience_s=PATIENCE_S)
    expected = {id for serial, id in managed.fleet.ids.items() if serial.startswith("ZZ-00")}
    checked = (
        "return [...document.querySelectorAll('#embed-devices input:checked')].map(i => i.value)"
    )
    assert set(tab.run(checked)) == expected
    assert tab.run("return document.querySelector('#embed-window input:checked').value") == "604800"


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_it_is_accessible_and_nothing_is_cut_off(
    tab: Tab, managed: Managed, scheme: str, width: int
) -> None:
    made = managed.client.create_embed(EmbedDefinition("tile", (managed.fleet.ids[LIVE],)))
    tab.size(width, 900)
    tab.colours(scheme)
    for path, there in (("/embeds", "New embed"), (f"/embeds?embed={made.id}", "Copy snippet")):
        tab.open(path)
        tab.until(lambda there=there: there in tab.text("#embeds-panel"), patience_s=PATIENCE_S)
        tab.until(lambda: tab.run(f"return {LISTED}") == 0)
        assert axe.findings(tab) == []
        assert tab.run("return document.documentElement.scrollWidth") <= width
