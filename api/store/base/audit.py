"""The audit log's interface: who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import time_ns
from typing import Any, Protocol
from uuid import uuid4

State = Mapping[str, Any] | None


def _new_id() -> str:
    """Begins with the time, so that entries of one millisecond are listed in their order."""
    return f"{time_ns():016x}{uuid4().hex[:16]}"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """``kind`` is the kind of object (key, note, …) and ``subject`` its name. ``author`` is a Key
    ID, a token's subject or the command line's user. ``before`` is None for a new object, ``after``
    for a deleted one."""

    at_ms: int
    organization_id: str
    author: str
    kind: str
    action: str
    subject: str
    before: State = None
    after: State = None
    reason: str = ""
    id: str = field(default_factory=_new_id)


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """A selection, newest first. None and "" select everything; ``text`` is part of author, subject
    or reason."""

    organization_id: str | None = None
    kind: str | None = None
    author: str | None = None
    text: str = ""
    from_ms: int | None = None
    to_ms: int | None = None
    limit: int = 100
    offset: int = 0


class AuditLog(Protocol):
    """Entries are never changed. They are added in the transaction of the change that they
    describe, or by `record`."""

    def record(self, entries: Sequence[AuditEntry]) -> None: ...

    def audit(self, query: AuditQuery) -> list[AuditEntry]: ...

    def count_audit(self, query: AuditQuery) -> int: ...
