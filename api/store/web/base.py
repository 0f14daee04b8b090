"""What a store of the web's own writes promises. `tests/store/web` holds both dialects to it.

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
    """Whose grant an embed lives by: that of the key ``key_id`` at the moment it is looked at; or,
    where no key made it, ``granted``. ``called`` is for people."""

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
        """UserError where there is one of that id."""
        ...

    def embed(self, embed_id: str) -> Embed | None: ...

    def embeds(self, organization_id: str) -> list[Embed]:
        """Newest first, those that have ended too."""
        ...

    def revoke_embed(self, embed_id: str, at_ms: int, audit: Sequence[AuditEntry] = ()) -> bool:
        """False where there is no such embed. Revoking again changes nothing."""
        ...


class WebStore(Embeds, AuditLog, Protocol):
    """Everything together. `api.store.open.open_web_store(url)` returns one."""

    def upgrade(self) -> tuple[int, int]:
        """As the store's own, over a schema that is numbered by itself."""
        ...

    def check(self) -> None: ...

    def close(self) -> None: ...
