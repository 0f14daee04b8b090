"""Pictures and pages drawn by one browser a machine: `Renderer` is the way to it.

`Renderer` asks a `worker`, a process of its own that all web processes share, over a Unix socket
(`wire`). The worker keeps one Chromium warm (`browser`), does one thing at a time, and lives only
as long as somebody holds on to it.
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
