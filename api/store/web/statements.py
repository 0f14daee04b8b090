"""Statements for embeds."""

from __future__ import annotations

from api.store.query import Query
from api.store.web.tables import EMBED

_EMBED = ", ".join(EMBED.names)


def embed(embed_id: str) -> Query:
    return Query(f"SELECT {_EMBED} FROM {EMBED.name} WHERE id = ?", (embed_id,))


def embeds(organization_id: str) -> Query:
    """Returns embeds, newest first."""
    return Query(
        f"SELECT {_EMBED} FROM {EMBED.name} WHERE organization_id = ? ORDER BY created_ms DESC, id",
        (organization_id,),
    )


def revoke(embed_id: str, at_ms: int) -> Query:
    return Query(
        f"UPDATE {EMBED.name} SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL",
        (at_ms, embed_id),
    )
