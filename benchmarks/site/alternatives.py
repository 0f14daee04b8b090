"""Plain pages to compare with, served beside ours, and the browser that watches any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from selenium.webdriver import Chrome

from benchmarks.site.eye import looking
from benchmarks.site.served import await_answer, process

WINDOW_PX: Final = (1440, 1000)


@contextmanager
def watching(watched: str, wanted: Mapping[str, str]) -> Iterator[Chrome]:
    """A browser of a desk's size; ``watched`` and ``wanted`` as `looking` takes them."""
    with looking(wanted, watched) as driver:
        driver.set_window_size(*WINDOW_PX)
        yield driver


@contextmanager
def alternative(command: list[str], port: int) -> Iterator[str]:
    """A page's server, until it is no longer needed: its address."""
    url = f"http://127.0.0.1:{port}"
    with process(command) as running:
        await_answer(url, running)
        yield url
