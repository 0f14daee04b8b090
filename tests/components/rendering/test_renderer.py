"""Figures and pages drawn by a real Chromium, and what is left when something is killed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader

from components.rendering import (
    NoBrowser,
    Renderer,
    RendererBusy,
    RendererFailed,
    RendererTimedOut,
)
from components.rendering.renderer import ROOT, place_of
from components.rendering.wire import Limits, Message
from tests.components.rendering import processes
from tests.pictures import Pixel, decoded

Start = Callable[..., Renderer]
FIGURE = {
    "data": [{"type": "scatter", "x": ["2026-03-08T09:00:00", "2026-03-08T10:00:00"], "y": [1, 3]}],
    "layout": {"title": {"text": "Main supply"}, "paper_bgcolor": "#ffffff"},
}


# --- What comes out ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "height", "scale"), [(640, 360, 1), (640, 360, 2), (200, 150, 3)]
)
def test_a_png_has_its_size_times_its_scale(
    renderer: Renderer, width: int, height: int, scale: int
) -> None:
    image = decoded(renderer.render_figure(FIGURE, "png", width, height, scale))
    assert image.size == (width * scale, height * scale)


def test_an_svg_is_xml_of_its_size_that_says_the_figures_words(renderer: Renderer) -> None:
    root = ElementTree.fromstring(renderer.render_figure(FIGURE, "svg", 640, 360))
    assert (root.get("width"), root.get("height")) == ("640", "360")
    assert "Main supply" in "".join(root.itertext())


def test_a_pdf_is_one_page_of_its_size_with_text_in_it(renderer: Renderer) -> None:
    (page,) = PdfReader(io.BytesIO(renderer.render_figure(FIGURE, "pdf", 640, 360))).pages
    assert (page.mediabox.width, page.mediabox.height) == (640 * 0.75, 360 * 0.75)
    assert "Main supply" in page.extract_text()


@pytest.mark.parametrize(("paper", "points"), [("A4", (595, 842)), ("letter", (612, 792))])
def test_a_page_becomes_a_pdf_on_its_own_paper(
    renderer: Renderer, paper: str, points: tuple[int, int]
) -> None:
    html = f"<style>@page {{ size: {paper}; margin: 15mm }}</style><h1>Usage</h1>"
    html += "<p style='break-before: page'>Days</p>"
    pages = PdfReader(io.BytesIO(renderer.render_page(html))).pages
    assert [page.extract_text().strip() for page in pages] == ["Usage", "Days"]
    assert (round(pages[0].mediabox.width), round(pages[0].mediabox.height)) == points


def test_a_footer_counts_the_pages(renderer: Renderer) -> None:
    html = "<style>@page { size: A4; margin: 20mm }</style><p>one"
    footer = "<p style='font-size: 9px'>p. <span class=pageNumber></span></p>"
    pdf = renderer.render_page(html, footer=footer)
    assert "p. 1" in PdfReader(io.BytesIO(pdf)).pages[0].extract_text()


def test_a_picture_is_the_top_left_part_of_a_page(renderer: Renderer) -> None:
    html = "<body style='margin:0;background:#fff'><div style='width:50px;height:30px;"
    image = decoded(renderer.render_picture(html + "background:#f00'></div>", 80, 40, 2))
    assert image.size == (160, 80)
    assert (image.at(98, 58), image.at(102, 62)) == (Pixel(255, 0, 0), Pixel(255, 255, 255))


# --- What it never does --------------------------------------------------------------------------


@contextmanager
def listener(asked: list[str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_nothing_is_asked_of_any_network(renderer: Renderer) -> None:
    asked: list[str] = []
    with listener(asked) as address:
        image = {"source": f"{address}/figure.png", "x": 0, "y": 1, "sizex": 1, "sizey": 1}
        figure = {**FIGURE, "layout": {"images": [image], "title": {"text": "$x^2$"}}}
        page = (
            f"<link rel=stylesheet href='{address}/style.css'><img src='{address}/page.png'>"
            f"<iframe src='{address}/frame'></iframe><script>fetch('{address}/script')</script>x"
        )
        assert renderer.render_page(page)[:5] == b"%PDF-"
        assert decoded(renderer.render_picture(page, 200, 100)).size == (200, 100)
        assert renderer.render_figure(figure, "svg", 300, 200)
    assert asked == []


def test_scripts_of_a_page_dont_run(renderer: Renderer) -> None:
    html = "<p id=p>as written</p><script>document.getElementById('p').textContent='!'</script>"
    text = PdfReader(io.BytesIO(renderer.render_page(html))).pages[0].extract_text()
    assert text.strip() == "as written"


def test_a_figure_that_plotly_refuses_is_said_and_harms_nobody(renderer: Renderer) -> None:
    with pytest.raises(RendererFailed):
        renderer.render_figure({"data": 7}, "png", 300, 200)
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)


# --- Limits --------------------------------------------------------------------------------------


def test_what_finds_the_queue_full_is_told_when_to_come_again(tmp_path: Path, start: Start) -> None:
    renderer = start(queue=2)
    renderer.render_figure(FIGURE, "png", 300, 200)  # warm: from here on the order is certain
    os.kill(processes.browser(tmp_path), signal.SIGSTOP)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(renderer.render_figure, FIGURE, "png", 300, 200) for _ in range(8)]
        refused = list(islice(as_completed(asked, timeout=20), 5))  # one is at its turn, two wait
        os.kill(processes.browser(tmp_path), signal.SIGCONT)
        for each in set(asked) - set(refused):
            assert decoded(each.result()).size == (300, 200)
    for each in refused:
        error = each.exception()
        assert isinstance(error, RendererBusy)
        assert (error.status, error.retry_after_s) == (503, 5)


def test_what_waits_too_long_is_told_when_to_come_again(tmp_path: Path, start: Start) -> None:
    renderer = start(wait_s=0.3)
    renderer.render_figure(FIGURE, "png", 300, 200)
    os.kill(processes.browser(tmp_path), signal.SIGSTOP)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(renderer.render_figure, FIGURE, "png", 300, 200) for _ in range(2)]
        first = next(as_completed(asked, timeout=20))
        os.kill(processes.browser(tmp_path), signal.SIGCONT)
    assert isinstance(first.exception(), RendererBusy)


def test_a_stuck_browser_is_ended_and_the_next_image_gets_a_new_one(
    tmp_path: Path, start: Start
) -> None:
    renderer = start()
    renderer.render_figure(FIGURE, "png", 300, 200)
    stuck = processes.browser(tmp_path)
    os.kill(stuck, signal.SIGSTOP)
    with pytest.raises(RendererTimedOut) as told:
        renderer.render_figure(FIGURE, "png", 300, 200, timeout_s=0.5)
    assert told.value.retry_after_s is not None
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)
    assert processes.browser(tmp_path) != stuck
    processes.until(lambda: stuck not in processes.of(tmp_path), "the stuck browser's end")


class Watched(Renderer):
    """Notes which worker has answered."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        super().__init__(folder, limits)
        self.workers: list[int] = []

    def _exchange(self, message: bytes, timeout_s: float) -> Message:
        answer = super()._exchange(message, timeout_s)
        self.workers.append(answer.head["worker"])
        return answer


def test_the_worker_is_replaced_after_so_many_images(tmp_path: Path) -> None:
    with closing(Watched(tmp_path, Limits(images=3))) as renderer:
        for _ in range(7):
            renderer.render_figure(FIGURE, "svg", 300, 200)
    a, b, c = renderer.workers[0], renderer.workers[3], renderer.workers[6]
    assert renderer.workers == [a, a, a, b, b, b, c]
    assert len({a, b, c}) == 3


def test_a_worker_that_nobody_asks_any_more_ends_though_it_is_held(
    tmp_path: Path, start: Start
) -> None:
    renderer = start(idle_s=0.5)
    renderer.render_figure(FIGURE, "svg", 300, 200)
    processes.until(lambda: processes.of(tmp_path) == [], "the idle worker's end")
    assert renderer.render_figure(FIGURE, "svg", 300, 200)


def test_without_a_browser_it_says_what_to_install(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chromium")
    renderer = start()
    with pytest.raises(NoBrowser, match="apt install chromium") as told:
        renderer.render_figure(FIGURE, "png", 300, 200)
    assert told.value.status == 501
    processes.until(lambda: processes.of(tmp_path) == [], "the worker's end")


# --- Ends ----------------------------------------------------------------------------------------


def test_a_browser_that_is_killed_comes_back(tmp_path: Path, start: Start) -> None:
    renderer = start()
    renderer.render_figure(FIGURE, "png", 300, 200)
    os.kill(processes.browser(tmp_path), signal.SIGKILL)
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)


def test_a_worker_that_is_killed_takes_its_browser_along_and_comes_back(
    tmp_path: Path, start: Start
) -> None:
    renderer = start()
    renderer.render_figure(FIGURE, "png", 300, 200)
    os.kill(processes.worker(tmp_path), signal.SIGKILL)
    processes.until(lambda: processes.of(tmp_path) == [], "the browser's end")
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)


_ASK = """
import sys
from pathlib import Path
from components.rendering import Renderer
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


def test_processes_share_a_worker_and_the_last_one_takes_it_along(tmp_path: Path) -> None:
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
