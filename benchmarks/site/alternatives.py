"""Serves plain pages for comparison, and starts the browser that watches a page."""

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
    """Yields a browser with a desktop's window size; ``watched`` and ``wanted`` as for
    `looking`."""
    with looking(wanted, watched) as driver:
        driver.set_window_size(*WINDOW_PX)
        yield driver


@contextmanager
def alternative(command: list[str], port: int) -> Iterator[str]:
    """Serves a page inside the block; yields its address."""
    url = f"http://127.0.0.1:{port}"
    with process(command) as running:
        await_answer(url, running)
        yield url
