"""The world behind the document, on SQLite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.store.open import open_store
from tests.world import World, build


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Read only, like the contract's."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('world') / 'weir.sqlite'}")
    store.upgrade()
    try:
        yield build(store)
    finally:
        store.close()
