"""Who did what, as every store promises it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

State = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """``kind`` says of what (key, note, …) and ``subject`` of which; ``author`` is a Key ID, a
    token's subject or the command line's user. ``before`` is None for what is new, ``after`` for
    what is gone."""

    at_ms: int
    organization_id: str
    author: str
    kind: str
    action: str
    subject: str
    before: State = None
    after: State = None
    reason: str = ""
    id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Newest first. None and "" ask for all; ``text`` is part of author, subject or reason."""

    organization_id: str | None = None
    kind: str | None = None
    author: str | None = None
    text: str = ""
    from_ms: int | None = None
    to_ms: int | None = None
    limit: int = 100
    offset: int = 0


class AuditLog(Protocol):
    """Entries are only added: in the transaction of what they tell of, or by `record`."""

    def record(self, entries: Sequence[AuditEntry]) -> None: ...

    def audit(self, query: AuditQuery) -> list[AuditEntry]: ...

    def count_audit(self, query: AuditQuery) -> int: ...
