"""Drives a real Chromium: pages, pointers, clocks, and a record of its requests and errors."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

T = TypeVar("T")
PATIENCE_S = 30.0
# Debian's script in the path starts the first one as a child, which outlives the script when the
# driver ends that.
PROGRAMS = (
    "/usr/lib/chromium/chromium-headless-shell",
    "chromium-headless-shell",
    "chromium",
    "google-chrome",
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
    "--renderer-process-limit=1",  # later pages reuse what one has compiled
    # Without a network these would wait for a time-out.
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Run in the page before any script of its own.
_LISTEN = """
window.weirViolations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.weirViolations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


def program(*names: str) -> str:
    result = next((path for name in names if (path := shutil.which(name))), None)
    if result is None:
        raise RuntimeError(f"{names[0]} is not installed; `make test` installs it")
    return result


@contextmanager
def started() -> Iterator[Chrome]:
    """A Chromium that logs its console and its network."""
    options = Options()
    options.binary_location = program(*PROGRAMS)
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(service=Service(program("chromedriver")), options=options)
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _LISTEN})
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def checked_tab(driver: Chrome, base_url: str) -> Iterator[Tab]:
    """A tab with the light theme. At its end, asserts that it sent requests to this host alone,
    broke no rule of its content security policy and logged no error."""
    opened = Tab(driver, base_url)
    opened.colours("light")
    yield opened
    opened.close()
    assert opened.strangers() == []
    assert opened.violations == []
    assert opened.errors() == []


class Tab:
    """The browser's one tab, and a record of what it requested and logged."""

    def __init__(self, driver: Chrome, base_url: str) -> None:
        self.driver, self.base_url = driver, base_url
        self.violations: list[str] = []
        self.tolerated: tuple[str, ...] = ()
        self._log()
        self.driver.get_log("browser")

    # --- The screen ------------------------------------------------------------------------------

    def open(self, path: str) -> None:
        self._collect()
        self.driver.get(self.base_url + path)

    def size(self, width: int, height: int) -> None:
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def colours(self, scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.cdp("Emulation.setEmulatedMedia", features=[feature])

    def time_zone(self, name: str) -> None:
        self.cdp("Emulation.setTimezoneOverride", timezoneId=name)

    def cdp(self, command: str, **details: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, details)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, what: Callable[[], T], *, patience_s: float = PATIENCE_S) -> T:
        """The first true value of ``what``, called until ``patience_s`` (seconds) have passed."""
        deadline = time.monotonic() + patience_s
        while not (result := what()):
            if time.monotonic() > deadline:
                shown = self.text("main") or self.text()
                raise AssertionError(f"not within {patience_s:.0f} s; there is: {shown[:600]}")
            time.sleep(0.05)
        return result

    def text(self, selector: str = "body") -> str:
        """The visible text of an element; empty if it is hidden."""
        return self.run(
            "const e = document.querySelector(arguments[0]);"
            "return e && e.checkVisibility() ? e.innerText ?? e.textContent : ''",
            selector,
        )

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).click()", selector)

    def back(self) -> None:
        """Go to the previous entry by the DevTools protocol. The browser's own button skips entries
        that a script made without a user gesture, as clicks by script do; and on a busy page the
        driver may run a script's `history.back()` more than once."""
        self._step(-1)

    def forward(self) -> None:
        self._step(1)

    def _step(self, by: int) -> None:
        history = self.until(self._history_up_to_date)
        entry = history["entries"][history["currentIndex"] + by]
        self.cdp("Page.navigateToHistoryEntry", entryId=entry["id"])

    def _history_up_to_date(self) -> Any:
        """The browser's history, once it includes the last entry pushed by a script."""
        history = self.cdp("Page.getNavigationHistory")
        here = history["entries"][history["currentIndex"]]["url"]
        return history if here == self.run("return window.location.href") else None

    # --- The pointer -----------------------------------------------------------------------------

    def press(self, selector: str) -> None:
        """A click with a user gesture. Without one, the browser may replace the previous entry when
        a script pushes to the history."""
        x, y = self.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]",
            selector,
        )
        self.move(x, y)
        self._pointer("mousePressed", x, y)
        self._pointer("mouseReleased", x, y)

    def move(self, x: float, y: float) -> None:
        self._pointer("mouseMoved", x, y, pressed=False)

    def drag(self, x0: float, x1: float, y: float) -> None:
        self.move(x0, y)
        self._pointer("mousePressed", x0, y)
        for step in range(1, 7):
            self._pointer("mouseMoved", x0 + (x1 - x0) * step / 6, y)
        self._pointer("mouseReleased", x1, y)

    def double_click(self, x: float, y: float) -> None:
        self.move(x, y)
        for count in (1, 2):
            self._pointer("mousePressed", x, y, count=count)
            self._pointer("mouseReleased", x, y, count=count)

    def _pointer(
        self, kind: str, x: float, y: float, *, pressed: bool = True, count: int = 1
    ) -> None:
        self.cdp(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left" if pressed else "none",
            buttons=int(pressed and kind != "mouseReleased"),
            clickCount=count if pressed else 0,
        )

    # --- Requests and errors ---------------------------------------------------------------------

    def close(self) -> None:
        self._collect()
        self.cdp("Emulation.setTimezoneOverride", timezoneId="")
        self.run("window.localStorage.clear()")
        self.driver.get("about:blank")

    def strangers(self) -> list[str]:
        """Requested addresses of other hosts."""
        own = urlsplit(self.base_url).netloc
        urls = [entry["params"]["request"]["url"] for entry in self._requests]
        return [u for u in urls if urlsplit(u).netloc not in (own, "")]

    def errors(self) -> list[str]:
        entries = self.driver.get_log("browser")
        severe = [entry["message"] for entry in entries if entry["level"] == "SEVERE"]
        return [m for m in severe if not any(pattern in m for pattern in self.tolerated)]

    def requested(self, part: str) -> list[dict[str, Any]]:
        """The requests so far whose address contains ``part``."""
        self._collect()
        requests = [entry["params"]["request"] for entry in self._requests]
        return [request for request in requests if part in request["url"]]

    def _collect(self) -> None:
        self._requests += self._log()
        self.violations += self.run("return window.weirViolations || []")
        self.run("window.weirViolations = []")

    def _log(self) -> list[dict[str, Any]]:
        """The requests since the last call."""
        if not hasattr(self, "_requests"):
            self._requests: list[dict[str, Any]] = []
        messages = (json.loads(e["message"])["message"] for e in self.driver.get_log("performance"))
        return [m for m in messages if m["method"] == "Network.requestWillBeSent"]
