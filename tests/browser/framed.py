"""An embed in a frame of a host's page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from selenium.webdriver import Chrome

from api.client.embeds import Embed
from tests.browser.chromium import Tab
from tests.dashboards import CLOCKS, LIVE, NEVER, TRICKY
from tests.web.embed.frames import Embeds, Host

PATIENCE_S: Final = 30.0
VIEWS: Final = {"chart": (LIVE,), "tile": (LIVE,), "wall": (LIVE, TRICKY, NEVER, CLOCKS)}
SHOWN: Final = """
const graph = document.querySelector('.js-plotly-plot');
const rows = graph && graph.data && graph.data[2] ? graph.data[2].x.length : 0;
return rows + document.querySelectorAll('.tile:not(.skeleton) .spark .line[d^="M"]').length;
"""


class Framed:
    """A host's page with an embed in a frame, in the browser's one tab."""

    def __init__(self, driver: Chrome, embeds: Embeds, host: Host) -> None:
        self.driver, self.embeds, self.host = driver, embeds, host
        self.tab = Tab(driver, embeds.url)
        self.tab.size(1100, 700)
        self.tab.colours("light")

    def open(
        self,
        embed: Embed,
        token: str | None = None,
        *,
        attributes: str = "",
        script: str = "",
        size: tuple[int, int] = (1040, 400),
        host: Host | None = None,
    ) -> None:
        """Open the host's page and enter the frame. ``script`` runs on the host's page, with the
        frame as ``frame``."""
        width, height = size
        page = (
            f"<iframe id='frame' title='Embed' {attributes} width='{width}' height='{height}'"
            f" style='border:0' src='{self.embeds.address(embed, token)}'></iframe>"
            f"<script>const frame = document.getElementById('frame');{script}</script>"
        )
        self.driver.switch_to.default_content()
        self.driver.get("about:blank")
        self.driver.get((host or self.host).page(page))
        self.inside()

    def inside(self) -> None:
        self.driver.switch_to.default_content()
        self.driver.switch_to.frame("frame")

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Leave the frame for the host's page while the context lasts."""
        self.driver.switch_to.default_content()
        try:
            yield
        finally:
            self.inside()

    def post(self, message: dict[str, Any]) -> None:
        """Post a message from the host's page to the frame."""
        with self.outside():
            self.tab.run("frame.contentWindow.postMessage(arguments[0], '*')", message)

    def shown(self) -> int:
        """The number of visible points or lines, once there are any."""
        return self.tab.until(lambda: self.tab.run(SHOWN), patience_s=PATIENCE_S)

    def wait_for_notice(self, *words: str, patience_s: float = PATIENCE_S) -> str:
        """The frame's message, once it contains all of these words."""

        def notice_text() -> str:
            text = self.tab.text("#embed-notice")
            return text if text and all(word in text for word in words) else ""

        return self.tab.until(notice_text, patience_s=patience_s)

    def state(self) -> str:
        return self.tab.run("return document.getElementById('embed').dataset.state")

    def until_state(self, state: str, patience_s: float = PATIENCE_S) -> None:
        self.tab.until(lambda: self.state() == state, patience_s=patience_s)

    def opacity(self, selector: str) -> float:
        style = f"getComputedStyle(document.querySelector('{selector}')).opacity"
        return float(self.tab.run(f"return {style}"))


def make(embeds: Embeds, view: str, host: Host, **fields: Any) -> Embed:
    """Create an embed of the devices that suit the view, allowed on that host."""
    metric = "flow_rate" if view == "chart" else None
    return embeds.make(view, *VIEWS[view], metric=metric, origins=(host.url,), **fields)
