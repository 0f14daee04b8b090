"""The principal of a request, and the 401 for requests without one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final, Generic, Literal, TypeVar

from api.catalog import KEY_HEADER
from api.errors import Unauthorized
from api.roles import Role
from api.store.base import Scope

REALM: Final = "weir"
BEARER: Final = f'Bearer realm="{REALM}"'
API_KEY: Final = f'ApiKey realm="{REALM}"'


@dataclass(frozen=True, slots=True)
class Principal:
    """A valid credential.

    ``id`` differs whenever the scope may differ, so it is part of every cache key. It is never a
    secret; a key's is its Key ID. ``may_embed``: may create and revoke embeds within its scope.
    ``embed_id``: the embed of an embed's token. ``role``: what it may do. ``sees_notes``: may see
    notes, maintenance and corrections; an embed's token only if the embed shows them.
    """

    id: str
    kind: Literal["key", "token", "embed"]
    scope: Scope
    may_embed: bool = False
    embed_id: str = ""
    role: Role = Role.VIEWER
    sees_notes: bool = True


def unauthorized(
    detail: str, *, bearer_error: bool = False, reason: str | None = None
) -> Unauthorized:
    """Returns a 401 with its challenges; ``bearer_error`` if a bearer credential was sent."""
    bearer = f'{BEARER}, error="invalid_token"' if bearer_error else BEARER
    return Unauthorized(detail, challenges=(bearer, API_KEY), reason=reason)


def no_credential() -> Unauthorized:
    return unauthorized(f"Send an API key in the {KEY_HEADER} header, or a bearer token.")


K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A cache of at most ``size`` entries, valid for ``lifetime_s`` seconds."""

    def __init__(self, lifetime_s: float, size: int, clock: Callable[[], float]) -> None:
        self._lifetime_s, self._size, self._clock = lifetime_s, size, clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        entry = self._entries.get(key)
        if entry is None or self._clock() - entry[0] > self._lifetime_s:
            return None
        return entry[1]

    def had(self, key: K) -> bool:
        """Whether it was ever cached, however long ago."""
        return key in self._entries

    def put(self, key: K, value: V, *, at_s: float) -> V:
        """Caches what was read at ``at_s``: the time before the query, not after its result."""
        with self._lock:
            self._entries[key] = (at_s, value)
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)
        return value

    def forget(self, key: K) -> None:
        with self._lock:
            self._entries.pop(key, None)
