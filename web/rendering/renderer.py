"""Sends jobs to the machine's one renderer; finds or starts its worker, waits and retries."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final

from web.rendering import messages
from web.rendering.messages import (
    ATTACH,
    SOCKET,
    Format,
    Gone,
    Limits,
    Message,
    RendererFailed,
    packed,
    receive,
)

TIMEOUT_S: Final = 15.0
START_S: Final = 15.0  # for the worker's process; its browser starts within the first job's time
ATTEMPTS: Final = 3  # a worker may reach its limit of images when a job arrives
ROOT: Final = Path(__file__).resolve().parents[2]
# Bytes. Names of sockets end at 108 (on some systems 104), and Chromium's own one has a name of 60
# below the worker's folder.
_LONGEST_PLACE: Final = 40
_LOCK: Final = "lock"


class Renderer:
    """Thread-safe; one per process. The worker ends when no process is attached."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        """Renderers of one ``folder`` share a worker; the one that starts it sets its limits."""
        self._folder = folder
        self._limits = limits or Limits()
        self._lock = Lock()
        self._attachment: socket.socket | None = None
        self._owner = os.getpid()

    def render_figure(
        self,
        figure: Mapping[str, Any],
        format: Format,
        width: int,
        height: int,
        scale: float = 1,
        timeout_s: float = TIMEOUT_S,
    ) -> bytes:
        """A plotly figure as an image. ``width`` and ``height`` are CSS pixels; a PNG has ``scale``
        times as many, a PDF is one page of that size. Raises RenderingError."""
        return self._request({"do": "figure", "figure": figure, "format": format, "width": width,
                          "height": height, "scale": scale, "timeout_s": timeout_s})  # fmt: skip

    def render_picture(
        self,
        html: str,
        width: int,
        height: int,
        scale: float = 1,
        timeout_s: float = TIMEOUT_S,
    ) -> bytes:
        """The top left part of a page as a PNG. ``html``: as for ``render_page``."""
        return self._request({"do": "picture", "html": html, "width": width, "height": height,
                          "scale": scale, "timeout_s": timeout_s})  # fmt: skip

    def render_page(
        self,
        html: str,
        *,
        landscape: bool = False,
        header: str = "",
        footer: str = "",
        timeout_s: float = TIMEOUT_S,
    ) -> bytes:
        """A page as PDF, with backgrounds, tagged, text as text.

        ``html`` is self-contained: styles inline, pictures as inline SVG or data: addresses. No
        address is fetched and no script is run. Its ``@page`` sets paper and margins. ``header``
        and ``footer`` are Chromium's templates: HTML whose elements of class ``pageNumber``,
        ``totalPages``, ``date`` and ``title`` are filled in. Raises RenderingError.
        """
        paper = {
            "printBackground": True,
            "preferCSSPageSize": True,
            "landscape": landscape,
            "displayHeaderFooter": bool(header or footer),
            "headerTemplate": header or "<span></span>",
            "footerTemplate": footer or "<span></span>",
            "generateTaggedPDF": True,
        }
        return self._request({"do": "page", "html": html, "paper": paper, "timeout_s": timeout_s})

    def close(self) -> None:
        """Detach from the worker."""
        with self._lock:
            if self._attachment is not None:
                self._attachment.close()
                self._attachment = None

    def __del__(self) -> None:
        self.close()

    # --- Jobs ------------------------------------------------------------------------------------

    def _request(self, job: dict[str, Any]) -> bytes:
        message = packed(Message(job))
        for _ in range(ATTEMPTS):
            self._attach()
            try:
                answer = self._exchange(message, job["timeout_s"])
            except (Gone, ConnectionError, FileNotFoundError):
                self.close()  # that worker is ending
                continue
            if "error" in answer.head:
                raise messages.read(answer.head)
            return answer.body
        raise RendererFailed("Chromium stopped each time it drew this image.")

    def _exchange(self, message: bytes, timeout_s: float) -> Message:
        patience_s = self._limits.wait_s + timeout_s + 5
        try:
            with _connected(self._folder, patience_s) as connection:
                connection.sendall(message)
                return receive(connection)
        except TimeoutError:
            raise messages.timed_out(patience_s) from None

    # --- Attaching -------------------------------------------------------------------------------

    def _attach(self) -> None:
        """Attach to a worker, starting one if needed. A forked process attaches by itself."""
        with self._lock:
            if self._attachment is not None:
                if self._owner == os.getpid() and _open(self._attachment):
                    return
                self._attachment.close()
            self._owner = os.getpid()
            self._attachment = _attached(self._folder) or self._start()

    def _start(self) -> socket.socket:
        """Start the worker, unless another process has just done so."""
        place = place_of(self._folder)
        with _alone(place / _LOCK):
            attachment = _attached(self._folder)
            if attachment is not None:
                return attachment
            limits = json.dumps(asdict(self._limits))
            command = [sys.executable, "-m", "web.rendering.worker", str(place), limits]
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the server, which then detaches
            )
            Thread(target=process.wait, daemon=True).start()
            end_s = time.monotonic() + START_S
            while time.monotonic() < end_s and process.poll() is None:
                attachment = _attached(self._folder)
                if attachment is not None:
                    return attachment
                time.sleep(0.02)
        raise RendererFailed("The rendering process doesn't start.")


def _attached(folder: Path) -> socket.socket | None:
    """A connection that keeps the worker running; None if there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(START_S)
        connection.connect(str(place_of(folder) / SOCKET))
        connection.sendall(packed(Message({"do": ATTACH})))
        receive(connection)
        connection.setblocking(False)
    except (OSError, Gone):
        connection.close()
        return None
    return connection


def _open(connection: socket.socket) -> bool:
    """Whether the worker is still connected; it sends nothing after its first message."""
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


@contextmanager
def _connected(folder: Path, timeout_s: float) -> Generator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(place_of(folder) / SOCKET))
        yield connection


def place_of(folder: Path) -> Path:
    """The worker's folder, private to its owner. Socket paths must be short: if the folder's path
    is too long, one in the system's temporary folder is used."""
    place = folder.resolve() / "renderer"
    if len(str(place).encode()) > _LONGEST_PLACE:
        name = hashlib.sha256(str(place).encode()).hexdigest()[:16]
        place = Path(tempfile.gettempdir()) / f"weir-{name}"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place.stat().st_uid != os.getuid():
        raise RendererFailed(f"{place} belongs to another user.")
    return place


@contextmanager
def _alone(path: Path) -> Generator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
