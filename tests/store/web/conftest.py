"""The web's own store, on every database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.store.open import open_web_store
from api.store.web.base import WebStore
from tests import citus


@pytest.fixture
def web(store_url: str) -> Iterator[WebStore]:
    if citus.is_ours(store_url):  # distributed if the main store is
        citus.made(store_url).close()
    opened = open_web_store(store_url)
    opened.upgrade()
    yield opened
    opened.close()
