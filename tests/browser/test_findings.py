"""The findings inbox in a browser: used by keyboard alone, a finding dismissed and reopened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from api.insight.finding_evaluator import Evaluator
from api.roles import Role
from tests.browser import axe
from tests.browser.chromium import Tab, checked_tab
from tests.dashboards import Site, make_fleet, served

CURRENT = (
    "return (document.querySelector('.finding-row[aria-current]') || {dataset: {}}).dataset.finding"
)
ROWS = "return [...document.querySelectorAll('.finding-row')].map((row) => row.dataset.finding)"


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A small fleet of its own, evaluated. Two leaks and a notice are open."""
    folder: Path = tmp_path_factory.mktemp("inbox")
    made = make_fleet(folder, many=3)
    made.store.set_key_role("key_test", Role.ADMINISTRATOR)
    Evaluator(made.store).up_to_date()
    with served(made, folder) as running:
        yield running
    made.store.close()


@pytest.fixture
def tab(chromium: Chrome, inbox: Site) -> Iterator[Tab]:
    with checked_tab(chromium, inbox.url) as tab:
        yield tab


def opened(tab: Tab, path: str = "/findings", width_px: int = 1440) -> list[str]:
    """Open the path; returns the ids of the inbox's rows."""
    tab.size(width_px, 900)
    tab.open(path)
    tab.until(lambda: tab.run(ROWS))
    return tab.run(ROWS)


def press(tab: Tab, *keys: str) -> None:
    for key in keys:
        ActionChains(tab.driver).send_keys(key).perform()


def heading(tab: Tab) -> str:
    return tab.run("return (document.querySelector('.finding-detail h2') || {}).textContent || ''")


def test_keys_move_and_the_address_follows(tab: Tab) -> None:
    rows = opened(tab)
    tab.until(lambda: tab.run(CURRENT) == rows[0] and heading(tab))
    first = heading(tab)
    assert tab.text(".finding-place") == f"1 of {len(rows)}"
    press(tab, "j")
    tab.until(lambda: tab.run(CURRENT) == rows[1] and heading(tab) != first)
    assert f"finding={rows[1]}" in tab.driver.current_url
    press(tab, "k")
    tab.until(lambda: heading(tab) == first)
    press(tab, "?")
    tab.until(lambda: tab.run("return !document.getElementById('findings-keys').hidden"))
    press(tab, Keys.ESCAPE)
    tab.until(lambda: tab.run("return document.getElementById('findings-keys').hidden"))


def test_a_finding_is_dismissed_and_reopened_by_keyboard(tab: Tab) -> None:
    rows = opened(tab)
    tab.until(lambda: tab.run("return document.querySelector('[data-do=ask]') !== null"))
    press(tab, "x")
    tab.until(lambda: tab.run("return !document.getElementById('finding-dismiss').hidden"))
    assert "1.5 times" in tab.text("#finding-dismiss")
    assert axe.findings(tab) == []
    press(tab, Keys.ENTER)
    tab.until(lambda: rows[0] not in tab.run(ROWS))
    tab.until(lambda: "1.5 times the usual" in tab.text("#toast"))
    press(tab, "u")
    tab.until(lambda: rows[0] in tab.run(ROWS))


def test_enter_opens_the_device_at_the_span(tab: Tab) -> None:
    opened(tab)
    tab.until(lambda: tab.run("return document.getElementById('finding-chart-link') !== null"))
    press(tab, Keys.ENTER)
    tab.until(lambda: "/devices/" in tab.driver.current_url)
    assert "range=" in tab.driver.current_url


def test_the_inbox_is_accessible(tab: Tab) -> None:
    opened(tab)
    tab.until(lambda: heading(tab))
    assert axe.findings_in_both_colours(tab) == []


def test_on_a_phone_the_detail_is_a_page_of_its_own(tab: Tab) -> None:
    rows = opened(tab, width_px=390)
    assert tab.run("return document.documentElement.scrollWidth") <= 390
    tab.run("document.querySelector('.finding-row').click()")
    tab.until(lambda: heading(tab))
    assert f"finding={rows[0]}" in tab.driver.current_url
    shown = "return document.querySelector('.findings-list').checkVisibility()"
    assert not tab.run(shown)
    assert axe.findings(tab) == []
    tab.driver.back()
    tab.until(lambda: tab.run(shown))


def test_a_setting_is_changed_on_screen_and_reset(tab: Tab) -> None:
    tab.size(1440, 900)
    tab.open("/findings/settings?kind=continuous-flow")
    row = "details[open] input[name=limit]"
    tab.until(lambda: tab.run(f"return document.querySelector('{row}') !== null"))
    assert axe.findings(tab) == []

    tab.run(f"document.querySelector('{row}').value = '2.5'")
    tab.run("document.querySelector('details[open] button[type=submit]').click()")
    tab.until(lambda: "Set here. Without it 1 gal/h" in tab.text("#finding-settings-list"))
    tab.until(lambda: "Saved." in tab.text("#finding-settings-notice"))
    tab.run("document.querySelector('details[open] [data-reset=limit]').click()")
    tab.until(lambda: "Set here" not in tab.text("#finding-settings-list"))
    assert tab.run(f"return document.querySelector('{row}').value") == "1"
