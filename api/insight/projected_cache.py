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
MOST_CACHED: Final = 2_000  # lines and strips of a fleet page, some 10 kB each
_by_store: WeakKeyDictionary[Store, dict[Hashable, tuple[Hashable, Any]]] = WeakKeyDictionary()
_lock = Lock()


def until_projected(
    store: Store,
    name: Hashable,
    token: Hashable,
    as_of_by_key: Mapping[int, int | None],
    load: Callable[[Collection[int]], Mapping[int, T]],
) -> dict[int, T]:
    """By device key. Of each ``name`` the latest is cached; ``token`` is all else that it depends
    on. ``as_of_by_key``: when each device's status was projected; of those without one nothing is
    cached. ``load`` makes it for the devices that lack it."""
    tokens = {key: (token, at) for key, at in as_of_by_key.items() if at is not None}
    with _lock:
        cache = _by_store.setdefault(store, {})
        if len(cache) > MOST_CACHED:
            cache.clear()
        entries = {key: cache.get((name, key)) for key in tokens}
    by_key = {key: each[1] for key, each in entries.items() if each and each[0] == tokens[key]}
    missing = [key for key in as_of_by_key if key not in by_key]
    if missing:
        loaded = load(missing)
        with _lock:
            cache.update({(name, k): (tokens[k], v) for k, v in loaded.items() if k in tokens})
        by_key |= loaded
    return by_key
