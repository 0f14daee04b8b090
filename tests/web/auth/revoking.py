"""Keys to revoke, and waiting for the effect."""

from __future__ import annotations

import time
from typing import Any

from api.store.base import Grant
from tests.world import World

REVOKED_WITHIN_S = 10


def revocable(world: World, grant: Grant | None = None) -> tuple[str, str]:
    return world.new_key(grant or Grant(everything=True))


def eventually(done: Any, within_s: float) -> float:
    """Seconds until ``done()`` is true; fails if it takes longer."""
    start_s = time.monotonic()
    while not done():
        assert time.monotonic() - start_s < within_s, f"not within {within_s} s"
        time.sleep(0.1)
    return time.monotonic() - start_s
