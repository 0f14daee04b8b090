"""Notes and corrections in a browser: written by key on a chart, previewed, saved and revoked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains

from api.roles import Role
from tests.browser.chromium import Tab, looked_at
from tests.dashboards import LIVE, Site, make_fleet, served

ROWS = "return [...document.querySelectorAll('.annotation-table tbody tr')].map(r => r.innerText)"
TRACES = "return (document.querySelector('.js-plotly-plot')?.data || []).map((t) => t.name)"
FILL = """
const form = document.querySelector('.annotation-form');
form.elements.text.value = arguments[0];
[...form.querySelectorAll('button')].find((b) => b.textContent === arguments[1]).click();
"""


@pytest.fixture(scope="module")
def staffed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A fleet whose reader is an administrator."""
    folder: Path = tmp_path_factory.mktemp("staffed")
    made = make_fleet(folder, many=0)
    made.store.set_key_role("key_test", Role.ADMINISTRATOR)
    with served(made, folder) as running:
        yield running
    made.store.close()


@pytest.fixture
def tab(chromium: Chrome, staffed: Site) -> Iterator[Tab]:
    with looked_at(chromium, staffed.url) as tab:
        yield tab


def rows(tab: Tab) -> list[str]:
    return tab.run(ROWS)


def fill(tab: Tab, text: str, button: str) -> None:
    tab.until(lambda: tab.run("return document.querySelector('.annotation-dialog[open]')"))
    tab.run(FILL, text, button)


def select(tab: Tab) -> None:
    """By S, then a drag over the middle of the plot."""
    ActionChains(tab.driver).send_keys("s").perform()
    layer = tab.driver.find_element("css selector", ".span-layer")
    drag = ActionChains(tab.driver).move_to_element_with_offset(layer, 400, 150)
    drag.click_and_hold().move_by_offset(150, 20).release().perform()
    tab.until(lambda: tab.run("return document.querySelectorAll('.span-bar button').length") == 4)


def test_a_note_by_key_and_a_correction_that_is_revoked(tab: Tab, staffed: Site) -> None:
    tab.size(1440, 900)
    tab.open(f"/devices/{staffed.fleet.ids[LIVE]}?range=24h")
    tab.until(lambda: "no data" in tab.run(TRACES) and "Nothing noted" in tab.text("#annotations"))
    ActionChains(tab.driver).send_keys("n").perform()
    fill(tab, "", "Save")
    tab.until(lambda: "is required" in tab.text(".annotation-dialog"))
    fill(tab, "Valve replaced", "Save")
    tab.until(lambda: any("Valve replaced" in row for row in rows(tab)))
    tab.until(lambda: "notes" in tab.run(TRACES))
    tab.run("document.querySelector('[data-annotation=delete]').click()")
    tab.until(lambda: "Note deleted" in tab.text("#toast") and not rows(tab))
    tab.run("document.querySelector('#toast button').click()")
    tab.until(lambda: any("Valve replaced" in row for row in rows(tab)))
    select(tab)
    tab.run("document.querySelector('.span-bar [data-effect=exclude]').click()")
    tab.until(lambda: "readings change" in tab.text(".annotation-preview"))
    fill(tab, "Hose test", "Save")
    tab.until(lambda: any("excluded" in row for row in rows(tab)))
    tab.until(lambda: "corrections" in tab.run(TRACES))
    assert staffed.fleet.store.verify().wrong == 0
    tab.run("document.querySelector('[data-annotation=revoke]').click()")
    fill(tab, "It was right", "Revoke")
    tab.until(lambda: any("revoked" in row for row in rows(tab)))
    tab.until(lambda: "corrections" not in tab.run(TRACES))
    assert {entry.kind for entry in staffed.client.audit().entries} == {"note", "correction"}
    tab.open("/notes?q=valve")
    tab.until(lambda: len(rows(tab)) == 1)
    assert "Tenant 12 main" in rows(tab)[0]
    tab.open("/admin/audit?kind=correction")
    tab.until(lambda: "2 entries" in tab.text("#audit-count"))
