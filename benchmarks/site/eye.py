"""What a real browser sees of a page: when things are painted, and what was transferred."""

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
QUIET_MS: Final = 700.0  # ms without a change after which the picture counts as finished
SETTLED_S: Final = 1.2  # ms without a request after which loading counts as finished

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
    """``bytes`` are as transferred, headers included; 0 from the browser's cache."""

    url: str
    bytes: int
    status: int

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def name(self) -> str:
        """Returns the file's name without its version."""
        path = urlsplit(self.url).path
        last = path.rstrip("/").rpartition("/")[2] or path
        stem, _, end = last.rpartition(".")
        return f"{stem.partition('.v')[0]}.{end}" if stem else last


@dataclass(frozen=True, slots=True)
class History:
    """``requests`` are (time, outputs) of callbacks; ``answers`` (time when complete, characters);
    ``paints`` (time of the first change, time of painting) of the watched part. In ms since the
    navigation began."""

    now: float
    requests: list[tuple[float, str]]
    answers: list[tuple[float, int]]
    paints: list[tuple[float, float]]
    released: float

    def drawn_after(self, start: float) -> float | None:
        """Returns when the last change since then was painted; None while changes may still
        follow."""
        painted = [at for _, at in self.paints if at > start]
        lately = max([*painted, *(at for at, _ in self.answers)], default=start)
        return max(painted) if painted and self.now - lately > QUIET_MS else None


class Eye:
    """A browser that looks at one site."""

    def __init__(self, driver: Chrome, url: str) -> None:
        self.tab = Tab(driver, url)
        self._driver, self._url = driver, url

    def open(self, path: str) -> None:
        """Opens a path as if typed into the address bar."""
        self._driver.get("about:blank")
        self.network()
        self._driver.get(self._url + path)

    def forget(self) -> None:
        """Clears the browser's cache."""
        self.tab.cdp("Network.clearBrowserCache")

    def mark(self, name: str) -> float:
        """Returns when it was painted, in ms since the navigation began; waits for it."""
        return self.tab.until(
            lambda: self.tab.run("return window.weirEye.marks[arguments[0]]", name),
            patience_s=PATIENCE_S,
        )

    def history(self) -> History:
        """What happened so far."""
        recorded = self.tab.run(
            "const e = window.weirEye;"
            "return [performance.now(), e.asked, e.answers, e.paints, e.released]"
        )
        return History(*recorded)

    def network(self) -> list[Request]:
        """Returns all requests since the last call."""
        messages = [
            json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")
        ]
        return list(_requests(messages))

    def settled(self) -> list[Request]:
        """Returns all requests, once no more follow. Counts only static files and pages: callbacks
        and checks go on forever."""
        requests: list[Request] = []
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < SETTLED_S:
            time.sleep(0.2)
            some = self.network()
            if any("_dash-update-component" not in r.url and "/session" not in r.url for r in some):
                quiet_since = time.monotonic()
            requests += some
        return requests


def _requests(messages: list[dict[str, Any]]) -> Iterator[Request]:
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}
    cached: set[str] = set()
    for message in messages:
        method, params = message["method"], message["params"]
        match method:
            case "Network.requestWillBeSent":
                urls[params["requestId"]] = params["request"]["url"]
            case "Network.requestServedFromCache":
                cached.add(params["requestId"])
            case "Network.responseReceived":
                sizes[params["requestId"]] = params["response"]["status"]
                if params["response"].get("fromDiskCache") or params["response"].get(
                    "fromPrefetchCache"
                ):
                    cached.add(params["requestId"])
            case "Network.loadingFinished" if params["requestId"] in urls:
                id = params["requestId"]
                size = 0 if id in cached else int(params["encodedDataLength"])
                if urls[id].startswith("http"):
                    yield Request(urls[id], size, sizes.get(id, 0))


@contextmanager
def looking(wanted: Mapping[str, str], watched: str = "") -> Iterator[Chrome]:
    """Yields a Chromium that records when each of the ``wanted`` (name → selector) is first
    painted, and each change within what ``watched`` selects."""
    with started() as driver:
        driver.execute_cdp_cmd("Network.enable", {})
        source = _WATCH.replace("WANTED", json.dumps(dict(wanted)))
        source = source.replace("WATCHED", json.dumps(watched))
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        yield driver


def browser_version() -> str:
    with started() as driver:
        return f"Chromium {driver.capabilities['browserVersion']}"
