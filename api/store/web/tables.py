"""The tables of the web's own store. On Postgres they are in the same database as the store's."""

from __future__ import annotations

from typing import Final

from api.store.annotation_tables import audit_table
from api.store.table_definition import Column, Table

# Lists are JSON. A window is either window_s, or from_ms and to_ms. granted is JSON, null where a
# key's grant counts.
EMBED: Final = Table(
    "embed",
    (
        Column("id", "text"),
        Column("organization_id", "text"),
        Column("maker", "text"),
        Column("key_id", "text", required=False),
        Column("granted", "text", required=False),
        Column("view_name", "text"),
        Column("devices", "text"),
        Column("metric", "text", required=False),
        Column("origins", "text"),
        Column("window_s", "int", required=False),
        Column("from_ms", "int", required=False),
        Column("to_ms", "int", required=False),
        Column("zone", "text"),
        Column("units", "text"),
        Column("theme", "text"),
        Column("controls", "text"),
        Column("title", "text"),
        Column("created_ms", "int"),
        Column("expires_ms", "int", required=False),
        Column("revoked_ms", "int", required=False),
        Column("notes", "int", default="0"),
        Column("compare", "text", default="''"),
    ),
    key=("id",),
    indexes=("CREATE INDEX embed_by_organization ON embed (organization_id, created_ms)",),
)
WEB_AUDIT: Final = audit_table("web_audit")
WEB_TABLES: Final = (EMBED, WEB_AUDIT)
