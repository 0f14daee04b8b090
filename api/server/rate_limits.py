"""Rate limits: a token bucket for each key, and one for the failures of each address.

Without Redis each worker has its own buckets, so the limits are per worker. With Redis they hold
for all workers of all hosts; while it is down, per worker again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from api.errors import TooManyRequests
from api.server.shared_state import Shared

BURST_S: Final = 10  # seconds for which a full bucket lasts at the permitted rate
FAILURES_PER_S: Final = 5.0
FAILURES_BURST: Final = 300.0
_MOST_BUCKETS: Final = 10_000


class Buckets:
    """A token bucket for each name. The least recently used are dropped first: they are full."""

    def __init__(
        self,
        per_s: float,
        burst: float,
        clock_s: Callable[[], float] = monotonic,
        *,
        shared: Shared | None = None,
        called: str = "",
    ) -> None:
        """``called``: prefix of these buckets' names in ``shared``."""
        self._per_s, self._burst, self._clock_s = per_s, burst, clock_s
        self._shared, self._called = shared, called
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def take(self, name: str) -> float:
        """Takes one token. Returns 0.0, or the seconds until one is available (and takes none)."""
        everywhere_s = self._everywhere_s(name, take=True)
        if everywhere_s is not None:
            return everywhere_s
        with self._lock:
            level, now_s = self._level(name), self._clock_s()
            if level < 1:
                return (1 - level) / self._per_s
            self._levels[name] = (level - 1, now_s)
            self._levels.move_to_end(name)
            if len(self._levels) > _MOST_BUCKETS:
                self._levels.popitem(last=False)
            return 0.0

    def wait(self, name: str) -> float:
        """Returns the seconds until a token is available, 0.0 if one is; takes none."""
        everywhere_s = self._everywhere_s(name, take=False)
        if everywhere_s is not None:
            return everywhere_s
        with self._lock:
            return max(0.0, (1 - self._level(name)) / self._per_s)

    def _everywhere_s(self, name: str, *, take: bool) -> float | None:
        if self._shared is None:
            return None
        bucket = f"{self._called}:{name}"
        return self._shared.wait_s(bucket, self._per_s, self._burst, take=take)

    def _level(self, name: str) -> float:
        level, at_s = self._levels.get(name, (self._burst, self._clock_s()))
        return min(self._burst, level + (self._clock_s() - at_s) * self._per_s)


class Limits:
    """The limits of network clients."""

    def __init__(
        self,
        per_key_s: float,
        clock_s: Callable[[], float] = monotonic,
        shared: Shared | None = None,
    ) -> None:
        self._keys = Buckets(per_key_s, per_key_s * BURST_S, clock_s, shared=shared, called="rate")
        self._failures = Buckets(
            FAILURES_PER_S, FAILURES_BURST, clock_s, shared=shared, called="failures"
        )

    def admit_address(self, address: str) -> None:
        """Raises TooManyRequests if an address has failed too often."""
        _refuse_for(self._failures.wait(address), "Too many failed credentials from this address.")

    def failed(self, address: str) -> None:
        self._failures.take(address)

    def admit_key(self, principal_id: str) -> None:
        """Raises TooManyRequests if a credential has made too many requests."""
        _refuse_for(self._keys.take(principal_id), "Too many requests with this credential.")


class FrameLimits:
    """The limits of embeds. All viewers of one token together get a tenth of a key's rate; all
    viewers behind one address a twentieth."""

    def __init__(
        self,
        per_key_s: float,
        clock_s: Callable[[], float] = monotonic,
        shared: Shared | None = None,
    ) -> None:
        self._tokens, self._addresses = (
            Buckets(per_s, per_s * BURST_S, clock_s, shared=shared, called=called)
            for per_s, called in ((per_key_s / 10, "token"), (per_key_s / 20, "frames"))
        )

    def wait_s(self, address: str, token: str) -> float:
        """Returns the seconds until a request from that address with that token is allowed. 0.0: it
        is allowed now, and a token is taken from both buckets. ``token``: any name for it."""
        return self._addresses.take(address) or self._tokens.take(token)


def _refuse_for(wait_s: float, detail: str) -> None:
    if wait_s > 0:
        raise TooManyRequests(detail, retry_after_s=wait_s)
