"""One Chromium, driven by kaleido: figures into images, pages into PDF, without network access.

It loads the server's own files only, such as the dashboard's plotly.js. It is started once and
never repaired: when it fails, its process group is killed and the worker ends.
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
    # No address a page may name can be resolved or reached, loopback included.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",  # the discard port: nothing listens there
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    "--font-render-hinting=none",  # the same widths at every scale
)
# A page's embedded fonts and images must be ready before it is rendered.
_SETTLED: Final = (
    "Promise.all([document.fonts.ready, ...Array.from(document.images, i => i.decode())])"
    ".then(() => true)"
)


class _QuietChromium(Chromium):
    def get_cli(self) -> Sequence[str]:
        return [*super().get_cli(), *_QUIET]


class Browser:
    """Opened once. Methods raise RendererFailed for an invalid job; any other exception means that
    the browser failed."""

    def __init__(self) -> None:
        self._kaleido: Any = None
        self._page: Tab | None = None

    async def open(self) -> None:
        """Start Chromium. Raises NoBrowser if there is none, RendererFailed if it doesn't start."""
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
        """The id of its process and process group."""
        process = getattr(self._kaleido, "subprocess", None)
        return None if process is None else process.pid

    @property
    def alive(self) -> bool:
        process = getattr(self._kaleido, "subprocess", None)
        return process is not None and process.poll() is None

    def wait(self) -> None:
        """Block until it has ended."""
        self._kaleido.subprocess.wait()

    def kill(self) -> None:
        """Kill it with all its child processes."""
        if self.process_id is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process_id, signal.SIGKILL)

    async def figure(
        self, figure: Mapping[str, Any], format: Format, width: int, height: int, scale: float
    ) -> bytes:
        """A figure as an image. Sizes in CSS pixels; a PNG has ``scale`` times as many."""
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
        """Load a page, with scripts disabled."""
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
