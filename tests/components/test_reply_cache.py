"""The cache of the service's replies."""

from __future__ import annotations

from components.concurrent_queries import MAX_ENTRIES, SET_BACK_MS, ReplyCache


def test_after_a_clock_is_set_back_no_reply_is_from_the_future() -> None:
    cache = ReplyCache()
    cache.note_time(100_000)
    cache.put("list", 1)
    cache.note_time(100_000 - SET_BACK_MS)  # as clocks do
    assert cache.get("list") == 1
    cache.note_time(60_000)
    assert cache.get("list") is None
    cache.put("list", 2)
    cache.note_time(61_000)
    assert cache.get("list") == 2


def test_the_cache_is_bounded() -> None:
    cache = ReplyCache()
    for n in range(MAX_ENTRIES + 5):
        cache.put(n, n)
        cache.get(0)
    assert cache.get(0) == 0
    assert cache.get(1) is None
