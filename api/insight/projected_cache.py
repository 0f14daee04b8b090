"""What this process loaded for a device, for as long as the device's status is the same.

Whatever is stored of a device, or corrected, projects its status anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from threading import Lock
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from api.store.base import Store

T = TypeVar("T")
MOST_CACHED: Final = 5_000  # lines and strips of a fleet page, some 10 kB each
_by_store: WeakKeyDictionary[Store, dict[Hashable, Any]] = WeakKeyDictionary()
_lock = Lock()


def until_projected(
    store: Store,
    what: Hashable,
    as_of_by_key: Mapping[int, int | None],
    load: Callable[[Collection[int]], Mapping[int, T]],
) -> dict[int, T]:
    """By device key. ``what`` names all else that it depends on. ``as_of_by_key``: when each
    device's status was projected; of those without one nothing is cached. ``load`` makes it for
    the devices that lack it."""
    places = {key: (what, key, at) for key, at in as_of_by_key.items() if at is not None}
    with _lock:
        cache = _by_store.setdefault(store, {})
        if len(cache) > MOST_CACHED:
            cache.clear()
        by_key = {key: cache[place] for key, place in places.items() if place in cache}
    missing = [key for key in as_of_by_key if key not in by_key]
    if missing:
        loaded = load(missing)
        with _lock:
            cache.update({places[key]: each for key, each in loaded.items() if key in places})
        by_key |= loaded
    return by_key
