"""State shared by several hosts in Redis: rate limits and ended sessions.

Optional. While Redis can't be reached, each process uses its own state; the log says so once, and
Redis is tried again after a few seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from redis import Redis

PREFIX: Final = "weir:"
ANSWER_S: Final = 0.25  # seconds that a request waits for Redis at most
AGAIN_S: Final = 5.0

T = TypeVar("T")
_log = logging.getLogger(__name__)

# A token bucket on the clock of Redis: returns the seconds until a token is available, 0 if one is.
# Takes it if the last argument is 1.
_BUCKET: Final = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local per_s, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = burst
if kept[1] then
  level = math.min(burst, tonumber(kept[1]) + math.max(0, now - tonumber(kept[2])) * per_s)
end
if level < 1 then return string.format('%.6f', (1 - level) / per_s) end
if ARGV[3] == '1' then
  redis.call('HSET', KEYS[1],
    'level', string.format('%.6f', level - 1), 'at', string.format('%.6f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil(burst / per_s * 1000) + 1000)
end
return '0'
"""


class Shared:
    """Thread-safe. Methods return None while Redis can't be reached."""

    def __init__(self, url: str, clock_s: Callable[[], float] = monotonic) -> None:
        self._url, self._clock_s = url, clock_s
        self._redis: Redis | None = None
        self._again_s = 0.0  # time before which Redis isn't tried again
        self._away = False
        self._lock = Lock()

    def wait_s(self, bucket: str, per_s: float, burst: float, *, take: bool) -> float | None:
        """Returns the seconds until the bucket has a token, 0.0 if it has one; ``take`` takes
        it."""
        arguments = (PREFIX + bucket, per_s, burst, int(take))
        reply = self._run(lambda redis: redis.eval(_BUCKET, 1, *arguments))
        return None if reply is None else float(reply)

    def note(self, name: str, lifetime_s: int) -> None:
        self._run(lambda redis: redis.set(PREFIX + name, 1, ex=lifetime_s))

    def is_noted(self, name: str) -> bool | None:
        reply = self._run(lambda redis: redis.exists(PREFIX + name))
        return None if reply is None else bool(reply)

    def _run(self, command: Callable[[Any], T]) -> T | None:
        from redis.exceptions import RedisError

        if self._away and self._clock_s() < self._again_s:
            return None
        try:
            reply = command(self._client())
        except (RedisError, OSError) as error:
            self._lost(error)
            return None
        if self._away:
            self._away = False
            _log.warning("Redis responds again")
        return reply

    def _client(self) -> Redis:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        with self._lock:
            if self._redis is None:
                self._redis = Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
                    self._url,
                    socket_timeout=ANSWER_S,
                    socket_connect_timeout=ANSWER_S,
                    retry=Retry(NoBackoff(), 1),  # replaces an idle connection that was closed
                )
            return self._redis

    def _lost(self, error: Exception) -> None:
        self._again_s = self._clock_s() + AGAIN_S
        if not self._away:
            self._away = True
            _log.warning("Redis can't be used; limits hold per process: %s", error)

    def close(self) -> None:
        with self._lock:
            if self._redis is not None:
                self._redis.close()
            self._redis = None
