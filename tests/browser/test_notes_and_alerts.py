"""An operator's tasks in a browser: a note by key; a correction previewed, saved and revoked; an
alert acknowledged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains

from api.insight.alerts.evaluator import AlertEvaluator
from api.store.base import Grant, Scope
from api.timez import HOUR_MS, now_ms
from tests.browser.chromium import Tab, checked_tab
from tests.dashboards import CLOCKS, LIVE, ORGANIZATION, Site
from tests.insight.alerts.decided import a_finding, ended
from tests.insight.alerts.stored import keep_findings

ROWS = "return [...document.querySelectorAll('.annotation-table tbody tr')].map(r => r.innerText)"
TRACES = "return (document.querySelector('.js-plotly-plot')?.data || []).map((t) => t.name)"
FILL = """
const form = document.querySelector('.annotation-form');
form.elements.text.value = arguments[0];
[...form.querySelectorAll('button')].find((b) => b.textContent === arguments[1]).click();
"""


@pytest.fixture
def tab(chromium: Chrome, staffed: Site) -> Iterator[Tab]:
    with checked_tab(chromium, staffed.url) as tab:
        yield tab


def rows(tab: Tab) -> list[str]:
    return tab.run(ROWS)


def fill(tab: Tab, text: str, button: str) -> None:
    tab.until(lambda: tab.run("return document.querySelector('.annotation-dialog[open]')"))
    tab.run(FILL, text, button)


def select(tab: Tab) -> None:
    """Press S, then drag over the middle of the plot."""
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


def test_an_alert_is_acknowledged_in_one_click_with_a_comment(tab: Tab, staffed: Site) -> None:
    store, client = staffed.fleet.store, staffed.client
    client.create_rule({"name": "Leaks", "devices": [CLOCKS]})
    (device,) = store.resolve(Scope(ORGANIZATION, Grant(everything=True)), [CLOCKS])
    assert device is not None
    tab.open("/alerts?group=north")
    tab.until(lambda: "Nothing is firing" in tab.text("#alerts-firing"))
    tab.until(lambda: "No alert was resolved yet" in tab.text("#alerts-history"))
    leak = a_finding(device.key, opened=now_ms() - HOUR_MS)
    keep_findings(store, [leak])
    AlertEvaluator(store).run()
    tab.open("/alerts")
    tab.until(lambda: "Leak · Clock tower" in tab.text("#alerts-firing"))
    note = tab.driver.find_element("css selector", "#alerts-firing input[name=text]")
    note.send_keys("plumber booked")
    tab.run("document.querySelector('#alerts-firing [data-alert=acknowledge]').click()")
    tab.until(lambda: "“plumber booked”" in tab.text("#alerts-firing"))
    assert "1 acknowledged" in tab.text("#alerts-summary")
    keep_findings(store, [ended(leak, now_ms())])
    AlertEvaluator(store).run()
    tab.open("/alerts")
    tab.until(lambda: "Leaks" in tab.text("#alerts-history"))
    assert "Nothing is firing" in tab.text("#alerts-firing")
