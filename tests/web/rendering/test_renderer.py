"""Figures and pages rendered by a real Chromium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader

from tests.pictures import Pixel, decoded
from web.rendering import Renderer, RendererFailed

FIGURE = {
    "data": [{"type": "scatter", "x": ["2026-03-08T09:00:00", "2026-03-08T10:00:00"], "y": [1, 3]}],
    "layout": {"title": {"text": "Main supply"}, "paper_bgcolor": "#ffffff"},
}


# --- Results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "height", "scale"), [(640, 360, 1), (640, 360, 2), (200, 150, 3)]
)
def test_a_png_has_its_size_times_its_scale(
    renderer: Renderer, width: int, height: int, scale: int
) -> None:
    image = decoded(renderer.render_figure(FIGURE, "png", width, height, scale))
    assert image.size == (width * scale, height * scale)


def test_an_svg_is_xml_of_its_size_with_the_figures_texts(renderer: Renderer) -> None:
    root = ElementTree.fromstring(renderer.render_figure(FIGURE, "svg", 640, 360))
    assert (root.get("width"), root.get("height")) == ("640", "360")
    assert "Main supply" in "".join(root.itertext())


def test_a_pdf_is_one_page_of_its_size_with_text_in_it(renderer: Renderer) -> None:
    (page,) = PdfReader(io.BytesIO(renderer.render_figure(FIGURE, "pdf", 640, 360))).pages
    assert (page.mediabox.width, page.mediabox.height) == (640 * 0.75, 360 * 0.75)
    assert "Main supply" in page.extract_text()


@pytest.mark.parametrize(("paper", "points"), [("A4", (595, 842)), ("letter", (612, 792))])
def test_a_pages_pdf_has_its_own_paper_size(
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
def listener(requests: list[str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_nothing_is_requested_from_any_network(renderer: Renderer) -> None:
    query: list[str] = []
    with listener(query) as address:
        image = {"source": f"{address}/figure.png", "x": 0, "y": 1, "sizex": 1, "sizey": 1}
        figure = {**FIGURE, "layout": {"images": [image], "title": {"text": "$x^2$"}}}
        page = (
            f"<link rel=stylesheet href='{address}/style.css'><img src='{address}/page.png'>"
            f"<iframe src='{address}/frame'></iframe><script>fetch('{address}/script')</script>x"
        )
        assert renderer.render_page(page)[:5] == b"%PDF-"
        assert decoded(renderer.render_picture(page, 200, 100)).size == (200, 100)
        assert renderer.render_figure(figure, "svg", 300, 200)
    assert query == []


def test_scripts_of_a_page_dont_run(renderer: Renderer) -> None:
    html = "<p id=p>as written</p><script>document.getElementById('p').textContent='!'</script>"
    text = PdfReader(io.BytesIO(renderer.render_page(html))).pages[0].extract_text()
    assert text.strip() == "as written"


def test_an_invalid_figure_is_an_error_and_affects_no_other(renderer: Renderer) -> None:
    with pytest.raises(RendererFailed):
        renderer.render_figure({"data": 7}, "png", 300, 200)
    assert decoded(renderer.render_figure(FIGURE, "png", 300, 200)).size == (300, 200)
