"""What a real browser sees of a page: when things are painted, and what came over the network."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from selenium.webdriver import Chrome

from tests.browser.chromium import Tab, started

PATIENCE_S: Final = 30.0
QUIET_MS: Final = 700.0  # without a change: the picture stands
SETTLED_S: Final = 1.2  # without a request: nothing more is coming

# From the page's first moment on: when each thing that is waited for was first painted (the frame
# after it stood in the document), when each callback was asked and its answer whole, when the
# pointer was let go, and each frame in which the watched part had changed. In ms since the
# navigation began.
_WATCH: Final = """
(function () {
  const wanted = WANTED;
  const watched = WATCHED;
  const eye = (window.weirEye = { marks: {}, asked: [], answers: [], paints: [], released: 0 });
  const everything = { childList: true, subtree: true, attributes: true, characterData: true };
  const seen = {};
  let target = null;
  let coming = false;
  const afterPaint = (then) => requestAnimationFrame(() => setTimeout(then, 0));
  function look() {
    for (const [name, selector] of Object.entries(wanted)) {
      if (seen[name] || !document.querySelector(selector)) continue;
      seen[name] = true;
      afterPaint(() => (eye.marks[name] = performance.now()));
    }
    const found = watched && document.querySelector(watched);
    if (!found || found === target) return;
    target = found;
    new MutationObserver(changed).observe(target, everything);
  }
  function changed() {
    if (coming) return;
    coming = true;
    const at = performance.now();
    afterPaint(() => {
      coming = false;
      eye.paints.push([at, performance.now()]);
    });
  }
  new MutationObserver(look).observe(document, everything);
  const fetched = window.fetch;
  window.fetch = async function (...asked) {
    const callback = String(asked[0].url || asked[0]).includes("_dash-update-component");
    if (callback) eye.asked.push([performance.now(), JSON.parse(asked[1].body).output]);
    const answer = await fetched.apply(window, asked);
    if (!callback) return answer;
    const text = await answer.clone().text();
    eye.answers.push([performance.now(), text.length]);
    return answer;
  };
  document.addEventListener("mouseup", () => (eye.released = performance.now()), true);
})();
"""


@dataclass(frozen=True, slots=True)
class Request:
    """``bytes`` as they came over the network, headers included; 0 from the browser's cache."""

    url: str
    bytes: int
    status: int

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def name(self) -> str:
        """The file's name without its version."""
        path = urlsplit(self.url).path
        last = path.rstrip("/").rpartition("/")[2] or path
        stem, _, end = last.rpartition(".")
        return f"{stem.partition('.v')[0]}.{end}" if stem else last


@dataclass(frozen=True, slots=True)
class History:
    """``asked`` are (when, outputs) of callbacks, ``answers`` (when whole, characters), ``paints``
    (when it first changed, when painted) of the watched part; in ms since the navigation began."""

    now: float
    asked: list[tuple[float, str]]
    answers: list[tuple[float, int]]
    paints: list[tuple[float, float]]
    released: float

    def drawn_after(self, start: float) -> float | None:
        """When the last change since then was painted; None as long as it may go on."""
        painted = [at for _, at in self.paints if at > start]
        lately = max([*painted, *(at for at, _ in self.answers)], default=start)
        return max(painted) if painted and self.now - lately > QUIET_MS else None


class Eye:
    """A browser, looking at one site."""

    def __init__(self, driver: Chrome, url: str) -> None:
        self.tab = Tab(driver, url)
        self._driver, self._url = driver, url

    def open(self, path: str) -> None:
        """As typed into the address bar."""
        self._driver.get("about:blank")
        self.network()
        self._driver.get(self._url + path)

    def forget(self) -> None:
        """What a browser that was never here has: nothing."""
        self.tab.cdp("Network.clearBrowserCache")

    def mark(self, name: str) -> float:
        """When it was painted, in ms since the navigation began; waits for it."""
        return self.tab.until(
            lambda: self.tab.run("return window.weirEye.marks[arguments[0]]", name),
            patience_s=PATIENCE_S,
        )

    def history(self) -> History:
        """What happened so far."""
        told = self.tab.run(
            "const e = window.weirEye;"
            "return [performance.now(), e.asked, e.answers, e.paints, e.released]"
        )
        return History(*told)

    def network(self) -> list[Request]:
        """Everything asked since this was last called."""
        messages = [
            json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")
        ]
        return list(_requests(messages))

    def settled(self) -> list[Request]:
        """Everything asked, once nothing more comes. Static files and pages only: callbacks and
        checks go on for ever."""
        found: list[Request] = []
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < SETTLED_S:
            time.sleep(0.2)
            some = self.network()
            if any("_dash-update-component" not in r.url and "/session" not in r.url for r in some):
                quiet_since = time.monotonic()
            found += some
        return found


def _requests(messages: list[dict[str, Any]]) -> Iterator[Request]:
    urls: dict[str, str] = {}
    answered: dict[str, int] = {}
    cached: set[str] = set()
    for message in messages:
        method, said = message["method"], message["params"]
        match method:
            case "Network.requestWillBeSent":
                urls[said["requestId"]] = said["request"]["url"]
            case "Network.requestServedFromCache":
                cached.add(said["requestId"])
            case "Network.responseReceived":
                answered[said["requestId"]] = said["response"]["status"]
                if said["response"].get("fromDiskCache") or said["response"].get(
                    "fromPrefetchCache"
                ):
                    cached.add(said["requestId"])
            case "Network.loadingFinished" if said["requestId"] in urls:
                id = said["requestId"]
                size = 0 if id in cached else int(said["encodedDataLength"])
                if urls[id].startswith("http"):
                    yield Request(urls[id], size, answered.get(id, 0))


@contextmanager
def looking(wanted: Mapping[str, str], watched: str = "") -> Iterator[Chrome]:
    """A Chromium that notes when each of the ``wanted`` (name → selector) is first painted, and
    each change within what ``watched`` selects."""
    with started() as driver:
        driver.execute_cdp_cmd("Network.enable", {})
        source = _WATCH.replace("WANTED", json.dumps(dict(wanted)))
        source = source.replace("WATCHED", json.dumps(watched))
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        yield driver


def browser_version() -> str:
    with started() as driver:
        return f"Chromium {driver.capabilities['browserVersion']}"
