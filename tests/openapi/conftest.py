"""The world behind the document, on SQLite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.world import World, opened


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Read only, like the contract's."""
    with opened(f"sqlite:///{tmp_path_factory.mktemp('world') / 'weir.sqlite'}") as world:
        yield world
