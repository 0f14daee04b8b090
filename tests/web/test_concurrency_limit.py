"""A few at a time for each reader, and every turn comes back."""

from __future__ import annotations

import pytest

from api.errors import TooManyRequests
from web.concurrency_limit import ConcurrencyLimit


def test_each_reader_has_a_few_at_a_time() -> None:
    turns = ConcurrencyLimit(2, "files")
    first, _ = turns.take("a"), turns.take("a")
    with pytest.raises(TooManyRequests, match="already have 2 files") as refused:
        turns.take("a")
    assert refused.value.retry_after_s
    turns.take("b")
    first()
    turns.take("a")


def test_a_turn_that_is_given_back_twice_frees_one() -> None:
    turns = ConcurrencyLimit(1, "files")
    give_back = turns.take("a")
    give_back()
    give_back()
    turns.take("a")
    with pytest.raises(TooManyRequests):
        turns.take("a")
