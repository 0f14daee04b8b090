"""What the web writes, on either dialect."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.store.open import open_web_store
from api.store.web.base import WebStore


@pytest.fixture
def web(store_url: str) -> Iterator[WebStore]:
    opened = open_web_store(store_url)
    opened.upgrade()
    yield opened
    opened.close()
