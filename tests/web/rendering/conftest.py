"""Renderers with a real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from web.rendering import Renderer
from web.rendering.messages import Limits


@pytest.fixture(scope="module")
def renderer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Renderer]:
    """One for all tests that do it no harm."""
    made = Renderer(tmp_path_factory.mktemp("instance"))
    yield made
    made.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Renderer]]:
    """Starts renderers over the test's own folder and lets go of them in the end."""
    started: list[Renderer] = []

    def start(**limits: float) -> Renderer:
        started.append(Renderer(tmp_path, Limits(**limits)))  # pyright: ignore[reportArgumentType]
        return started[-1]

    yield start
    for each in started:
        each.close()
