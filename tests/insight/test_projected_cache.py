"""A device's cached rows last until its status changes; rows without a status version aren't
cached."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from api.insight.projected_cache import until_projected
from api.store.base import Store


class Loader:
    """Counts its loads."""

    def __init__(self) -> None:
        self.loaded: list[int] = []

    def __call__(self, keys: Collection[int]) -> dict[int, str]:
        self.loaded += keys
        return {key: f"rows of {key}, load {len(self.loaded)}" for key in keys}


class AnyStore:
    """Compared by identity, as stores are."""


def test_rows_are_loaded_again_when_the_status_changed_and_not_before() -> None:
    store, load = cast("Store", AnyStore()), Loader()
    first = until_projected(store, "line", 0, {1: 10, 2: 10}, load)
    assert until_projected(store, "line", 0, {1: 10, 2: 10}, load) == first
    assert load.loaded == [1, 2]
    second = until_projected(store, "line", 0, {1: 10, 2: 11}, load)
    assert (second[1], second[2] != first[2]) == (first[1], True)
    until_projected(store, "strip", 0, {1: 10}, load)
    until_projected(cast("Store", AnyStore()), "line", 0, {1: 10}, load)
    assert load.loaded == [1, 2, 2, 1, 1]
    until_projected(store, "line", "an hour later", {1: 10}, load)
    until_projected(store, "line", 0, {1: 10}, load)  # only the latest row of a name stays
    assert load.loaded == [1, 2, 2, 1, 1, 1, 1]


def test_a_device_without_a_status_is_not_cached() -> None:
    store, load = cast("Store", AnyStore()), Loader()
    for _ in range(2):
        until_projected(store, "line", 0, {3: None}, load)
    assert load.loaded == [3, 3]
