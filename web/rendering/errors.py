"""Why a picture couldn't be made, as errors with a status and as they cross the socket."""

from __future__ import annotations

from typing import Final

from api.errors import ServiceError

BUSY_AGAIN_S: Final = 5


class RenderingError(ServiceError):
    """No picture. ``detail`` says in words what to do about it."""

    status, code, title = 500, "rendering-failed", "The picture couldn't be made"


class RendererBusy(RenderingError):
    """The queue is full, or moved too slowly; carries retry_after_s."""

    status, code, title = 503, "renderer-busy", "Too many pictures are being made"


class RendererTimedOut(RenderingError):
    """The browser didn't finish in time and was ended; carries retry_after_s."""

    status, code, title = 503, "renderer-timed-out", "The picture took too long"


class NoBrowser(RenderingError):
    """There is no Chromium on the machine."""

    status, code, title = 501, "no-browser", "This server can't make pictures"


class RendererFailed(RenderingError):
    """The browser refused what it was given, or can't be started."""


_BY_CODE: Final = {
    error.code: error for error in (RendererBusy, RendererTimedOut, NoBrowser, RendererFailed)
}


def busy(waiting: int) -> RendererBusy:
    return RendererBusy(
        f"{waiting} others wait for this machine's one browser: try again in a few seconds.",
        retry_after_s=BUSY_AGAIN_S,
    )


def timed_out(timeout_s: float) -> RendererTimedOut:
    return RendererTimedOut(
        f"It wasn't there after {timeout_s:g} s, so it was given up: try again, or smaller.",
        retry_after_s=BUSY_AGAIN_S,
    )


def no_browser() -> NoBrowser:
    return NoBrowser(
        "There is no Chromium on this machine. Install one (Debian, Ubuntu: apt install chromium;"
        " anywhere: kaleido_get_chrome), or say where it is by BROWSER_PATH."
    )


def written(error: RenderingError) -> dict[str, object]:
    return {"error": error.code, "detail": error.detail, "retry_after_s": error.retry_after_s}


def read(said: dict[str, object]) -> RenderingError:
    """The error that ``written`` wrote in the other process."""
    again = said.get("retry_after_s")
    kind = _BY_CODE.get(str(said["error"]), RendererFailed)
    return kind(
        str(said.get("detail", "")),
        retry_after_s=float(again) if isinstance(again, int | float) else None,
    )
