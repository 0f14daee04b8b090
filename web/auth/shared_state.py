"""What several hosts know together about sign-in, where there is something to keep it."""

from __future__ import annotations

from typing import Protocol


class Shared(Protocol):
    """Answers None where it can't be asked now: then each process goes by what it knows."""

    def wait_s(self, bucket: str, per_s: float, burst: float, *, take: bool) -> float | None:
        """The seconds until the bucket has a token, 0.0 where it has one, which ``take`` takes."""
        ...

    def note(self, name: str, lifetime_s: int) -> None: ...

    def is_noted(self, name: str) -> bool | None: ...
