"""What the web writes, on every engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.store.open import open_web_store
from api.store.web.base import WebStore
from tests import citus


@pytest.fixture
def web(store_url: str) -> Iterator[WebStore]:
    if citus.is_ours(store_url):  # beside a store that is distributed, it is too
        citus.made(store_url).close()
    opened = open_web_store(store_url)
    opened.upgrade()
    yield opened
    opened.close()
