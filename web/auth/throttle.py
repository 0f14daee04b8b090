"""How often an address may fail to sign in. A key can't be guessed; this spares the service the
load of those who try, and a log the noise."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from web.auth.session_cookie import Shared

BURST: Final = 20
SECONDS_EACH: Final = 2.0  # one more attempt after so long
_MOST_ADDRESSES: Final = 10_000


class Throttle:
    """Failures of each address, forgiven one by one. Kept in this process, and with ``shared`` for
    all hosts: whichever knows more counts."""

    def __init__(
        self, clock_s: Callable[[], float] = monotonic, shared: Shared | None = None
    ) -> None:
        self._clock_s, self._shared = clock_s, shared
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def wait_s(self, address: str) -> int:
        """Whole seconds until that address may try again; 0 for now."""
        excess = self._level(address) - (BURST - 1)
        everywhere_s = self._everywhere_s(address, take=False)
        return max(0, math.ceil(excess * SECONDS_EACH), math.ceil(everywhere_s))

    def _everywhere_s(self, address: str, *, take: bool) -> float:
        if self._shared is None:
            return 0.0
        bucket = f"sign-in:{address}"
        return self._shared.wait_s(bucket, 1 / SECONDS_EACH, BURST, take=take) or 0.0

    def failed(self, address: str) -> None:
        self._everywhere_s(address, take=True)
        with self._lock:
            self._failures[address] = (self._level(address) + 1, self._clock_s())
            self._failures.move_to_end(address)
            if len(self._failures) > _MOST_ADDRESSES:
                self._failures.popitem(last=False)

    def _level(self, address: str) -> float:
        level, at_s = self._failures.get(address, (0.0, 0.0))
        return max(0.0, level - (self._clock_s() - at_s) / SECONDS_EACH)
