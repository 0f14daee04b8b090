"""The one worker and its Chromium under overload, and when a process is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from api.telemetry import metrics
from tests.pictures import decoded
from tests.web.rendering import processes
from web.rendering import NoBrowser, Renderer, RendererBusy, RendererTimedOut
from web.rendering.messages import Limits, Message
from web.rendering.renderer import ROOT, place_of
from web.rendering.worker import Worker

Start = Callable[..., Renderer]
FIGURE = {"data": [{"type": "scatter", "x": [1, 2], "y": [1, 3]}], "layout": {}}


# --- Limits --------------------------------------------------------------------------------------


def queue() -> float:
    """The renderer's metrics, as read in another process."""
    result = metrics.exposition(()).decode().splitlines()
    return sum(float(line.split()[1]) for line in result if line.startswith("weir_image_queue "))


def test_a_full_queue_gives_a_time_to_retry(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(metrics.FOLDER_VARIABLE, "")  # restored at the end
    metrics.share(tmp_path / "metrics")
    renderer = start(queue=2)
    renderer.render_figure(FIGURE, "png", 300, 200)  # started up: from here on the order is certain
    os.kill(processes.browser(tmp_path), signal.SIGSTOP)
    with ThreadPoolExecutor(8) as pool:
        requests = [pool.submit(renderer.render_figure, FIGURE, "png", 300, 200) for _ in range(8)]
        # One is being rendered, two wait.
        refused = list(islice(as_completed(requests, timeout=20), 5))
        assert queue() == 3
        os.kill(processes.browser(tmp_path), signal.SIGCONT)
        for each in set(requests) - set(refused):
            assert decoded(each.result()).size == (300, 200)
    for each in refused:
        error = each.exception()
        assert isinstance(error, RendererBusy)
        assert (error.status, error.retry_after_s) == (503, 5)
    assert queue() == 0


class Slow:
    """A browser that never finishes."""

    alive = True

    async def open(self) -> None:
        await asyncio.Event().wait()

    def kill(self) -> None:
        pass


async def _came_at_once(count: int, limits: Limits) -> list[bool]:
    """Which of that many concurrent jobs are refused, before any is rendered."""
    worker, nobody_left = Worker(Slow(), limits, lambda: None), asyncio.StreamReader()
    message = Message({"do": "figure", "timeout_s": 60})
    tasks = [asyncio.create_task(worker._queued(message, nobody_left)) for _ in range(count)]
    await asyncio.wait(tasks, timeout=0.2)
    refused = [each.done() and isinstance(each.exception(), RendererBusy) for each in tasks]
    for each in tasks:
        each.cancel()
    await asyncio.wait(tasks)
    return refused


def test_concurrent_jobs_are_counted_with_one_in_progress() -> None:
    assert asyncio.run(_came_at_once(5, Limits(queue=2))) == [False, False, False, True, True]


def test_a_job_that_waits_too_long_gets_a_time_to_retry(tmp_path: Path, start: Start) -> None:
    renderer = start(wait_s=0.3)
    renderer.render_figure(FIGURE, "png", 300, 200)
    os.kill(processes.browser(tmp_path), signal.SIGSTOP)
    with ThreadPoolExecutor(2) as pool:
        requests = [pool.submit(renderer.render_figure, FIGURE, "png", 300, 200) for _ in range(2)]
        first = next(as_completed(requests, timeout=20))
        os.kill(processes.browser(tmp_path), signal.SIGCONT)
    assert isinstance(first.exception(), RendererBusy)


def test_a_stuck_browser_is_replaced(tmp_path: Path, start: Start) -> None:
    renderer = start()
    renderer.render_figure(FIGURE, "png", 300, 200)
    stuck = processes.browser(tmp_path)
    os.kill(stuck, signal.SIGSTOP)
    with pytest.raises(RendererTimedOut) as result:
        renderer.render_figure(FIGURE, "png", 300, 200, timeout_s=0.5)
    assert result.value.retry_after_s is not None
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)
    assert processes.browser(tmp_path) != stuck
    processes.until(lambda: stuck not in processes.of(tmp_path), "the stuck browser's end")


class Watched(Renderer):
    """Records which worker responds."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        super().__init__(folder, limits)
        self.workers: list[int] = []

    def _exchange(self, message: bytes, timeout_s: float) -> Message:
        answer = super()._exchange(message, timeout_s)
        self.workers.append(answer.head["worker"])
        return answer


def test_the_worker_is_replaced_after_a_number_of_images(tmp_path: Path) -> None:
    with closing(Watched(tmp_path, Limits(images=2))) as renderer:
        for _ in range(3):
            renderer.render_figure(FIGURE, "svg", 300, 200)
    first, last = renderer.workers[0], renderer.workers[2]
    assert renderer.workers == [first, first, last]
    assert first != last


def test_an_idle_worker_ends_even_with_attached_processes(tmp_path: Path, start: Start) -> None:
    renderer = start(idle_s=0.5)
    renderer.render_figure(FIGURE, "svg", 300, 200)
    processes.until(lambda: processes.of(tmp_path) == [], "the idle worker's end")
    assert renderer.render_figure(FIGURE, "svg", 300, 200)


def test_without_a_browser_the_error_names_what_to_install(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chromium")
    renderer = start()
    with pytest.raises(NoBrowser, match="apt install chromium") as result:
        renderer.render_figure(FIGURE, "png", 300, 200)
    assert result.value.status == 501
    processes.until(lambda: processes.of(tmp_path) == [], "the worker's end")


# --- Ends ----------------------------------------------------------------------------------------


def test_a_killed_browser_or_worker_is_replaced(tmp_path: Path, start: Start) -> None:
    renderer = start()
    renderer.render_figure(FIGURE, "png", 300, 200)
    os.kill(processes.browser(tmp_path), signal.SIGKILL)
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)
    os.kill(processes.worker(tmp_path), signal.SIGKILL)
    processes.until(lambda: processes.of(tmp_path) == [], "the browser's end")
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)


_ASK = """
import sys
from pathlib import Path
from web.rendering import Renderer
renderer = Renderer(Path(sys.argv[1]))
renderer.render_figure({"data": [], "layout": {}}, "png", 300, 200)
print("drawn", flush=True)
sys.stdin.read()
"""


def _other_process(instance: Path) -> subprocess.Popen[bytes]:
    started = subprocess.Popen(
        [sys.executable, "-c", _ASK, str(instance)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"drawn\n"
    return started


def _killed(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def test_processes_share_a_worker_which_ends_with_the_last(tmp_path: Path) -> None:
    first, second = _other_process(tmp_path), _other_process(tmp_path)
    shared = processes.worker(tmp_path)
    browser = processes.browser(tmp_path)
    _killed(first)  # it was the one that had started the worker
    third = _other_process(tmp_path)
    assert (processes.worker(tmp_path), processes.browser(tmp_path)) == (shared, browser)
    for each in (second, third):
        _killed(each)
    processes.until(lambda: processes.of(tmp_path) == [], "the worker's and its browser's end")
    assert list(place_of(tmp_path).glob("scratch-*")) == []
