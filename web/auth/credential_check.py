"""Whether a credential still stands.

Pages may show what was learnt a while ago, so their own questions don't always meet the service.
The door therefore asks before it lets a request in, unless it has just done so.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from api.client import Client
from api.errors import Forbidden, TooManyRequests, Unauthorized, WeirError

BELIEVED_S: Final = 3  # with the service's own 5 s, a revoked key sees nothing after 10
SILENCE_S: Final = 10  # a service that has just not answered isn't asked for so long
_MOST: Final = 10_000


class CredentialCheck:
    """When each credential was last found good, or at least not refused. Thread-safe."""

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        self._clock_s = clock_s
        self._found_s: OrderedDict[str, float] = OrderedDict()
        self._silent_until_s = float("-inf")
        self._lock = Lock()

    def confirm(self, client: Client, *, believed_s: float = BELIEVED_S) -> None:
        """Ask the service, unless it was asked within ``believed_s``. A refusal is the client's
        to tell (``on_unauthorized``); a service that can't say refuses nobody."""
        asked_s = self._clock_s()
        found_s = self._found_s.get(client.principal, float("-inf"))
        if asked_s - found_s < believed_s or asked_s < self._silent_until_s:
            return
        try:
            client.organizations()
        except Unauthorized:
            self._found_s.pop(client.principal, None)
        except (Forbidden, TooManyRequests):  # it has answered: this one may little, or has to wait
            self._remember(client.principal, asked_s)
        except WeirError:
            self._silent_until_s = asked_s + SILENCE_S
        else:
            self._remember(client.principal, asked_s)

    def _remember(self, principal: str, asked_s: float) -> None:
        with self._lock:
            self._found_s[principal] = asked_s
            self._found_s.move_to_end(principal)
            if len(self._found_s) > _MOST:
                self._found_s.popitem(last=False)
