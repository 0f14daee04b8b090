"""Checks whether the service still accepts a credential.

Pages may show cached data, so that a request doesn't always reach the service. The middleware
therefore checks the credential first, unless it has just done so.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from api.client import Client
from api.errors import Forbidden, TooManyRequests, Unauthorized, WeirError

TRUSTED_S: Final = 3  # with the service's own 5 s, a revoked key sees nothing after 10
OUTAGE_PAUSE_S: Final = 10  # after the service didn't respond
_MOST: Final = 10_000


class CredentialCheck:
    """When each credential was last accepted, or at least not refused. Thread-safe."""

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        self._clock_s = clock_s
        self._confirmed_s: OrderedDict[str, float] = OrderedDict()
        self._paused_until_s = float("-inf")
        self._lock = Lock()

    def confirm(self, client: Client, *, trusted_s: float = TRUSTED_S) -> None:
        """Ask the service whether it accepts the credential, unless it did within ``trusted_s``.
        The client handles a refusal (``on_unauthorized``); without an answer nobody is refused."""
        now_s = self._clock_s()
        confirmed_s = self._confirmed_s.get(client.principal, float("-inf"))
        if now_s - confirmed_s < trusted_s or now_s < self._paused_until_s:
            return
        try:
            client.organizations()
        except Unauthorized:
            self._confirmed_s.pop(client.principal, None)
        except (Forbidden, TooManyRequests):  # accepted, but limited
            self._remember(client.principal, now_s)
        except WeirError:
            self._paused_until_s = now_s + OUTAGE_PAUSE_S
        else:
            self._remember(client.principal, now_s)

    def _remember(self, principal: str, now_s: float) -> None:
        with self._lock:
            self._confirmed_s[principal] = now_s
            self._confirmed_s.move_to_end(principal)
            if len(self._confirmed_s) > _MOST:
                self._confirmed_s.popitem(last=False)
