"""Caches what this process loaded for a device, as long as the device's status is the same.

Anything stored or corrected for a device recomputes its status.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from threading import Lock
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from api.store.base import Store

T = TypeVar("T")
MOST_CACHED: Final = 2_000  # lines and strips of a fleet page, about 10 kB each
_by_store: WeakKeyDictionary[Store, dict[Hashable, tuple[Hashable, Any]]] = WeakKeyDictionary()
_lock = Lock()


def until_projected(
    store: Store,
    name: Hashable,
    token: Hashable,
    as_of_by_key: Mapping[int, int | None],
    load: Callable[[Collection[int]], Mapping[int, T]],
) -> dict[int, T]:
    """Returns values by device key.

    The latest value of each ``name`` is cached; ``token`` is everything else that it depends on.
    ``as_of_by_key``: when each device's status was computed; nothing is cached for devices without
    one. ``load`` computes the values of devices that lack one.
    """
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
