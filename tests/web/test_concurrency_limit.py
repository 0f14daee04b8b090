"""A limited number of concurrent requests per reader; each finished one frees its place."""

from __future__ import annotations

import pytest

from api.errors import TooManyRequests
from web.responses import ConcurrencyLimit


def test_each_reader_has_a_limit_of_their_own() -> None:
    limit = ConcurrencyLimit(2, "files")
    first, _ = limit.take("a"), limit.take("a")
    with pytest.raises(TooManyRequests, match="already have 2 files") as refused:
        limit.take("a")
    assert refused.value.retry_after_s
    limit.take("b")
    first()
    limit.take("a")


def test_ending_a_request_twice_frees_one_place() -> None:
    limit = ConcurrencyLimit(1, "files")
    give_back = limit.take("a")
    give_back()
    give_back()
    limit.take("a")
    with pytest.raises(TooManyRequests):
        limit.take("a")
