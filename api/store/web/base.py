"""The interface of the web's own store. `tests/store/web` runs one suite on both dialects.

Errors are those of `api.store.base`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from api.embeds import EmbedDefinition
from api.store.base import AuditEntry, AuditLog, Grant


@dataclass(frozen=True, slots=True)
class Maker:
    """The grant that an embed uses: the current grant of the key ``key_id``, or ``granted`` if no
    key created it. ``called``: a name for people."""

    called: str
    key_id: str | None = None
    granted: Grant | None = None


@dataclass(frozen=True, slots=True)
class Embed:
    """``definition.devices`` are UUIDs in lower case."""

    id: str
    organization_id: str
    maker: Maker
    definition: EmbedDefinition
    created_ms: int
    revoked_ms: int | None = None


class Embeds(Protocol):
    def create_embed(self, embed: Embed, audit: Sequence[AuditEntry] = ()) -> None:
        """Raises UserError if the id exists."""
        ...

    def embed(self, embed_id: str) -> Embed | None: ...

    def embeds(self, organization_id: str) -> list[Embed]:
        """Returns embeds, newest first, including expired and revoked ones."""
        ...

    def revoke_embed(self, embed_id: str, at_ms: int, audit: Sequence[AuditEntry] = ()) -> bool:
        """Returns False if there is no such embed. Revoking again changes nothing."""
        ...


class WebStore(Embeds, AuditLog, Protocol):
    """The complete store. `api.store.open.open_web_store(url)` returns one."""

    def upgrade(self) -> tuple[int, int]:
        """As for the main store, with a schema version of its own."""
        ...

    def check(self) -> None: ...

    def close(self) -> None: ...
