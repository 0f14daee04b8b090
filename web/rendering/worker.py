"""The worker process with the machine's one browser; it receives jobs over a Unix socket.

It does one job at a time and lets a few wait. It isn't repaired but replaced: it ends, with its
browser, after a job that took too long, when the browser ends, after many images (Chromium grows),
after a long idle time, and when no process is attached. Waiting clients then lose their connection
and use the next worker.

    python -m web.rendering.worker FOLDER LIMITS
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

from api.telemetry import metrics
from web.rendering import messages
from web.rendering.messages import (
    ATTACH,
    SOCKET,
    Gone,
    Limits,
    Message,
    RendererFailed,
    RenderingError,
    packed,
    read_message,
)

SCRATCH: Final = "scratch-"  # followed by the process id: Chromium's profile and the like
LOOK_S: Final = 0.25
LAST_WORD_S: Final = 0.2


class Worker:
    def __init__(self, browser: Any, limits: Limits, end: Callable[[], None]) -> None:
        """``browser``: a `browser.Browser`, opened when first needed. ``end`` ends the process."""
        self.browser, self._limits, self._end = browser, limits, end
        self._lock = asyncio.Lock()
        self._over = asyncio.Event()
        self._waiting = self._made = self._holders = 0
        self._opened = False
        self._used_s = time.monotonic()

    async def serve(self, socket_path: Path) -> None:
        """Serve until there is a reason to end."""
        socket_path.unlink(missing_ok=True)  # left by a dead worker
        server = await asyncio.start_unix_server(self._meet, socket_path)
        socket_path.chmod(0o600)
        loop = asyncio.get_running_loop()
        for stop in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(stop, self._over.set)
        alone = loop.call_later(self._limits.alone_s, self._unless_held)
        while not self._over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), LOOK_S)
            if self._waiting == 0 and time.monotonic() - self._used_s > self._limits.idle_s:
                break
        alone.cancel()
        server.close()

    def _unless_held(self) -> None:
        if not self._holders:
            self._over.set()

    # --- Connections -----------------------------------------------------------------------------

    async def _meet(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(Gone, ConnectionError):
            message = await read_message(reader)
            if message.head["do"] == ATTACH:
                await self._held(reader, writer)
            else:
                await self._answer(message, reader, writer)
        writer.close()

    async def _held(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._holders += 1
        writer.write(packed(Message({"held": True})))
        await reader.read()  # until the other side disconnects
        self._holders -= 1
        self._unless_held()

    async def _answer(self, message: Message, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            answer = await self._queued(message, reader)
        except RenderingError as error:
            answer = Message(messages.written(error))
        if answer is None:
            self._over.set()  # no response: the client uses the next worker
            return
        writer.transport.set_write_buffer_limits(high=0)  # drained means sent: we may end next
        writer.write(packed(answer))
        await writer.drain()
        if self._made >= self._limits.images or not self._sound(answer):
            self._over.set()

    @staticmethod
    def _sound(answer: Message) -> bool:
        """Whether the browser is still usable."""
        return answer.head.get("error") not in (
            messages.RendererTimedOut.code,
            messages.NoBrowser.code,
        )

    async def _queued(self, message: Message, reader: StreamReader) -> Message | None:
        """Do a job in its turn; None if the browser ended meanwhile. Raises RenderingError."""
        if self._waiting > self._limits.queue:  # one of them is being rendered
            raise messages.busy(self._waiting)
        self._wait(1)
        try:
            try:
                await asyncio.wait_for(self._lock.acquire(), self._limits.wait_s)
            except TimeoutError:
                raise messages.busy(self._waiting) from None
            try:
                if reader.at_eof():
                    raise Gone
                return await self._make(message)
            finally:
                self._lock.release()
                self._used_s = time.monotonic()
        finally:
            self._wait(-1)

    def _wait(self, more: int) -> None:
        self._waiting += more
        metrics.images_waiting(self._waiting)

    # --- The current job -------------------------------------------------------------------------

    async def _make(self, message: Message) -> Message | None:
        timeout_s = float(message.head["timeout_s"])
        if self._over.is_set():
            return None
        task = asyncio.ensure_future(self._drawn(message.head))
        done, _ = await asyncio.wait({task}, timeout=timeout_s)
        if not done:
            self.browser.kill()
            task.cancel()
            raise messages.timed_out(timeout_s)
        if task.cancelled():
            return None
        error = task.exception()
        if isinstance(error, RenderingError):
            raise error
        if error is not None or not self.browser.alive:
            return None
        self._made += 1
        return Message({"made": self._made, "worker": os.getpid()}, task.result())

    async def _drawn(self, job: dict[str, Any]) -> bytes:
        if not self._opened:
            await self.browser.open()
            self._opened = True
            Thread(target=self._end_with_browser, daemon=True).start()
        return await self._job(job)

    def _end_with_browser(self) -> None:
        """End when the browser does. Runs in a thread, since the libraries block the event loop
        then; pauses so that a response can still be sent."""
        self.browser.wait()
        time.sleep(LAST_WORD_S)
        self._end()

    def _job(self, job: dict[str, Any]) -> Awaitable[bytes]:
        browser, do = self.browser, job["do"]
        size = (job.get("width"), job.get("height"), job.get("scale"))
        if do == "figure":
            return browser.figure(job["figure"], job["format"], *size)
        if do == "picture":
            return browser.picture(job["html"], *size)
        if do == "page":
            return browser.page(job["html"], job["paper"])
        raise RendererFailed(f"The worker can't do {do!r}.")


def main(folder: Path, limits: Limits) -> None:
    """Run the worker; never returns."""
    os.umask(0o077)
    metrics.begin()
    _sweep(folder)
    scratch = folder / f"{SCRATCH}{os.getpid()}"
    scratch.mkdir()
    tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)
    from web.rendering.browser import Browser

    for noisy in ("choreographer", "kaleido", "logistro"):
        # They report that the browser was killed.
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    browser = Browser()

    def end() -> None:
        browser.kill()
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)  # without waiting for the libraries' threads

    asyncio.run(_live(Worker(browser, limits, end), folder / SOCKET, end))


def _sweep(folder: Path) -> None:
    """Delete the scratch folders of killed workers. A worker that is ending deletes its own."""
    for left in folder.glob(f"{SCRATCH}*"):
        try:
            os.kill(int(left.name.removeprefix(SCRATCH)), 0)
        except (ProcessLookupError, ValueError):
            shutil.rmtree(left, ignore_errors=True)


async def _live(worker: Worker, socket_path: Path, end: Callable[[], None]) -> None:
    try:
        await worker.serve(socket_path)
    except Exception:  # noqa: BLE001 – the end would swallow it
        traceback.print_exc()
    finally:
        end()  # before asyncio waits for the libraries' threads


if __name__ == "__main__":
    main(Path(sys.argv[1]), Limits(**json.loads(sys.argv[2])))
