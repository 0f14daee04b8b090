"""An administrator's tasks in a browser: devices in the grid, a key, a file of readings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver import Chrome

from api.catalog import KEY_HEADER, RAW
from api.roles import Role
from api.store.base import AuditQuery, Device, DeviceQuery, Grant, Scope, Span
from tests.browser.chromium import Tab, checked_tab
from tests.dashboards import CLOCKS, ORGANIZATION, Site

EVERYTHING = Scope(ORGANIZATION, Grant(everything=True))
PRESS = """
const all = [...document.querySelectorAll(arguments[0])];
all.filter((each) => each.textContent.trim().startsWith(arguments[1])).at(-1).click();
"""
FILL = """
const control = document.querySelector('dialog').querySelector(`[name=${arguments[0]}]`);
control.value = arguments[1];
for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind, {bubbles: true}));
"""
SOMEBODY_ELSE = """
fetch('/admin/service/devices', {method: 'PATCH', headers: {'Content-Type': 'application/json'},
  body: JSON.stringify({devices: [arguments[0]], set: {model: 'Other'}})}).then(arguments[1]);
"""
GRID_ROWS = "return document.querySelectorAll('.ag-pinned-left-cols-container .ag-row').length"


@pytest.fixture
def tab(chromium: Chrome, staffed: Site) -> Iterator[Tab]:
    with checked_tab(chromium, staffed.url) as tab:
        yield tab


def press(tab: Tab, words: str, within: str = "#admin button") -> None:
    tab.until(lambda: words in tab.text("#admin"))
    tab.run(PRESS, within, words)


def clocks(site: Site) -> Device:
    devices = site.fleet.store.devices(EVERYTHING, DeviceQuery(active=None))
    return next(device for device in devices if device.serial_number == CLOCKS)


def test_a_device_is_changed_undone_and_deleted(tab: Tab, staffed: Site) -> None:
    tab.size(1440, 900)
    tab.open("/admin")
    tab.until(lambda: tab.run(GRID_ROWS) > 2)
    press(tab, clocks(staffed).label, ".ag-pinned-left-cols-container .admin-lines")
    tab.until(lambda: tab.run("return document.querySelector('dialog')?.open"))
    tab.tolerated = ("status of 409",)
    tab.driver.execute_async_script(SOMEBODY_ELSE, clocks(staffed).id)
    tab.run(FILL, "meterSize", "DN 20")
    press(tab, "Save")
    tab.until(lambda: "Somebody else has changed" in tab.text("dialog"))
    press(tab, "Cancel")
    press(tab, clocks(staffed).label, ".ag-pinned-left-cols-container .admin-lines")
    tab.run(FILL, "meterSize", "DN 25")
    press(tab, "Save")
    tab.until(lambda: "1 device changed" in tab.text("#toast"))
    assert (clocks(staffed).config or {})["meterSize"] == "DN 25"
    tab.run("document.querySelector('#toast button').click()")
    tab.until(lambda: "meterSize" not in (clocks(staffed).config or {}))
    press(tab, clocks(staffed).label, ".ag-pinned-left-cols-container .admin-lines")
    press(tab, "Delete…")
    tab.until(lambda: "It can’t be undone" in tab.text("dialog"))
    copied = tab.driver.find_element("css selector", "dialog a[download]").get_attribute("href")
    assert copied is not None
    rows = httpx.get(copied).text.splitlines()
    assert len(rows) - 1 == staffed.fleet.store.count(clocks(staffed), RAW, Span())
    submit = "return document.querySelector('dialog [type=submit]').disabled"
    assert tab.run(submit) is True
    tab.run(FILL, "serialNumber", CLOCKS)
    assert tab.run(submit) is False
    press(tab, "Delete device and")
    tab.until(lambda: "Deleted" in tab.text("#toast"))
    (gone,) = staffed.fleet.store.resolve(EVERYTHING, [CLOCKS])
    assert gone is None
    entries = staffed.fleet.store.audit(AuditQuery(ORGANIZATION, kind="device"))
    assert [entry.action for entry in entries] == ["delete", "change", "change", "change"]
    assert tab.errors() == []


def test_a_key_is_shown_once_and_works(tab: Tab, staffed: Site) -> None:
    tab.open("/admin?tab=keys")
    press(tab, "New key")
    tab.run(FILL, "name", "Ada")
    press(tab, "Create key")
    tab.until(lambda: "only time that the key is shown" in tab.text("dialog"))
    secret = tab.run("return document.querySelector('.admin-secret').value")
    assert staffed.client.me().role is Role.ADMINISTRATOR
    answer = _reply_to(staffed, secret)
    assert answer["role"] == "operator"
    press(tab, "Close")
    tab.until(lambda: "Ada" in tab.text("#admin-body"))
    assert secret not in tab.run("return document.documentElement.innerHTML")
    for name, words in (
        ("groups", "No groups yet"),
        ("organization", "Holidays"),
        ("quality", "Refused readings"),
    ):
        tab.click(f"[data-tab={name}]")
        tab.until(lambda words=words: words in tab.text("#admin-body"))
    assert tab.errors() == []


ODD = {3: "seven", 5: "n/a"}
FILE = "device,time,volume (l)\n" + "".join(
    f"N-1,2026-03-01 {hour:02}:00:00,{ODD.get(hour, hour % 4)}\n" for hour in range(24)
)


def test_a_file_is_imported_its_refused_row_shown_and_undone(
    tab: Tab, staffed: Site, tmp_path: Path
) -> None:
    path = tmp_path / "night.csv"
    path.write_text(FILE)
    tab.open("/import")
    tab.until(lambda: "Drop a file here" in tab.text("#import-body"))
    tab.driver.find_element("id", "import-file").send_keys(str(path))
    tab.until(lambda: "What the columns mean" in tab.text("#import-body"))
    tab.run(PRESS, "#import-page button.primary", "Import")
    tab.until(
        lambda: "Imported: 22 stored, 1 refused, 1 without a value" in tab.text("#import-body")
    )
    tab.click("#import-body summary")
    assert "N-1,2026-03-01 03:00:00,seven" in tab.text("#import-body")
    (made,) = staffed.fleet.store.resolve(EVERYTHING, ["N-1"])
    assert made is not None
    tab.open("/admin?tab=quality")
    tab.until(lambda: "night.csv" in tab.text("#admin-body"))
    tab.click("#admin-body a.link")
    tab.until(lambda: "Undo this import" in tab.text("#import-body"))
    tab.run(PRESS, "#import-page button", "Undo this import")
    tab.run(PRESS, "#import-page button.danger", "Delete 22 readings")
    tab.until(lambda: "Undone: 22 readings removed" in tab.text("#import-body"))
    assert tab.errors() == []


def _reply_to(site: Site, secret: str) -> dict[str, Any]:
    from api.server import create_service
    from tests.world import SETTINGS

    service = create_service(site.fleet.store, SETTINGS).test_client()
    return service.get("/insight/v1/me", headers={KEY_HEADER: secret}).get_json()
