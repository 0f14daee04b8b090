"""One Chromium under kaleido: figures into images, pages into PDF. Nothing is asked of a network.

Everything it needs is a file of ours: plotly.js is the dashboard's own. It is started once and
never repaired: when it fails, its process group is killed and the worker ends with it.
"""

from __future__ import annotations

import base64
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from choreographer import Tab
from choreographer.browsers import Chromium
from choreographer.errors import ChromeNotFoundError
from kaleido import Kaleido
from kaleido.errors import JavascriptError, KaleidoError

from web.rendering.messages import Format, RendererFailed, no_browser

PLOTLY: Final = Path(__file__).resolve().parents[2] / "assets/vendor/plotly-cartesian.min.js"

_QUIET: Final = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    # Whatever a page may name, on loopback too, nothing is found, nor is there a way to it.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",  # nothing listens on the discard port, nor is it found
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    "--font-render-hinting=none",  # the same widths at every scale
)
# A page's fonts and pictures (all within it) must be ready before it is drawn.
_SETTLED: Final = (
    "Promise.all([document.fonts.ready, ...Array.from(document.images, i => i.decode())])"
    ".then(() => true)"
)


class _QuietChromium(Chromium):
    def get_cli(self) -> Sequence[str]:
        return [*super().get_cli(), *_QUIET]


class Browser:
    """Open it once; each method raises RendererFailed for what can't be drawn, and anything else
    where the browser itself is at fault."""

    def __init__(self) -> None:
        self._kaleido: Any = None
        self._page: Tab | None = None

    async def open(self) -> None:
        """Raises NoBrowser, or RendererFailed where there is one that doesn't start."""
        try:
            self._kaleido = Kaleido(
                n=1,
                timeout=None,  # the worker's own timeout ends the browser as well
                mathjax=False,
                plotlyjs=PLOTLY.as_uri(),
                browser_cls=_QuietChromium,
                enable_extensions=False,
            )
            await self._kaleido.open()
        except ChromeNotFoundError:
            raise no_browser() from None
        except Exception as error:
            raise RendererFailed(f"Chromium can't be started: {_line(error)}") from error

    @property
    def process_id(self) -> int | None:
        """Its process group's too."""
        process = getattr(self._kaleido, "subprocess", None)
        return None if process is None else process.pid

    @property
    def alive(self) -> bool:
        process = getattr(self._kaleido, "subprocess", None)
        return process is not None and process.poll() is None

    def wait(self) -> None:
        """Block until it is gone."""
        self._kaleido.subprocess.wait()

    def kill(self) -> None:
        """At once, with every process it has started."""
        if self.process_id is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process_id, signal.SIGKILL)

    async def figure(
        self, figure: Mapping[str, Any], format: Format, width: int, height: int, scale: float
    ) -> bytes:
        """``width`` and ``height`` in CSS pixels; a PNG has ``scale`` times as many."""
        opts = {"format": format, "width": width, "height": height, "scale": scale}
        try:
            return await self._kaleido.calc_fig(dict(figure), opts=opts)
        except (JavascriptError, KaleidoError) as error:
            raise RendererFailed(f"plotly.js refused the figure: {_line(error)}") from error

    async def picture(self, html: str, width: int, height: int, scale: float) -> bytes:
        """The top left part of a page, as a PNG."""
        tab = await self._show(html, width, height, scale)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = {"format": "png", "clip": clip, "captureBeyondViewport": True}
        return await _data(tab, "Page.captureScreenshot", shot)

    async def page(self, html: str, paper: Mapping[str, Any]) -> bytes:
        """A page as PDF. ``paper``: parameters of DevTools' Page.printToPDF."""
        tab = await self._show(html, 1_000, 1_000, 1)
        return await _data(tab, "Page.printToPDF", dict(paper))

    async def _show(self, html: str, width: int, height: int, scale: float) -> Tab:
        """Put a page into the tab for pages. Its scripts don't run."""
        tab = self._page
        if tab is None:
            tab = self._page = await self._kaleido.create_tab("about:blank")
            await _do(tab, "Page.enable")
            await _do(tab, "Emulation.setScriptExecutionDisabled", {"value": True})
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        await _do(tab, "Emulation.setDeviceMetricsOverride", metrics)
        frame = (await _do(tab, "Page.getFrameTree"))["frameTree"]["frame"]["id"]
        await _do(tab, "Page.setDocumentContent", {"frameId": frame, "html": html})
        await _do(tab, "Runtime.evaluate", {"expression": _SETTLED, "awaitPromise": True})
        return tab


async def _data(tab: Tab, command: str, params: dict[str, Any]) -> bytes:
    return base64.b64decode((await _do(tab, command, params))["data"])


async def _do(tab: Tab, command: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    answer: Any = await tab.send_command(command, params=params)
    if "error" in answer:
        raise RendererFailed(f"Chromium refused {command}: {answer['error'].get('message', '')}")
    return answer["result"]


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
