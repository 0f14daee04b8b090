"""Renders images and pages with one Chromium per machine.

`Renderer` sends jobs over a Unix socket (`messages`) to a `worker`, a process shared by all web
processes. The worker keeps one Chromium running (`browser`), does one job at a time, and ends when
no process is attached to it.
"""

from web.rendering.messages import (
    NoBrowser,
    RendererBusy,
    RendererFailed,
    RendererTimedOut,
    RenderingError,
)
from web.rendering.renderer import Renderer

__all__ = [
    "NoBrowser",
    "Renderer",
    "RendererBusy",
    "RendererFailed",
    "RendererTimedOut",
    "RenderingError",
]
