"""Renderers with a real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from web.rendering import Renderer
from web.rendering.messages import Limits


@pytest.fixture(scope="module")
def renderer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Renderer]:
    """One renderer for all tests that don't disturb it."""
    made = Renderer(tmp_path_factory.mktemp("instance"))
    yield made
    made.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Renderer]]:
    """Starts renderers in the test's own folder and closes them at the end."""
    started: list[Renderer] = []

    def start(**limits: float) -> Renderer:
        started.append(Renderer(tmp_path, Limits(**limits)))  # pyright: ignore[reportArgumentType]
        return started[-1]

    yield start
    for each in started:
        each.close()
