"""Embeds, for every dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from api.embeds import EmbedDefinition, Fixed, Rolling
from api.errors import UserError
from api.store.audit import AuditPart
from api.store.base import AuditEntry, Grant, Row
from api.store.dialect_interface import Taken
from api.store.schema_upgrade import Versioned
from api.store.web import statements as sql
from api.store.web.base import Embed, Maker
from api.store.web.tables import EMBED, WEB_AUDIT


class EmbedsPart(Versioned, AuditPart):
    """`api.store.web.base.Embeds`, for every dialect."""

    audit_table = WEB_AUDIT

    def create_embed(self, embed: Embed, audit: Sequence[AuditEntry] = ()) -> None:
        values = _values(embed)
        row = tuple(values[name] for name in EMBED.names)
        try:
            with self.transaction() as transaction:
                transaction.insert(EMBED, EMBED.names, [row])
                self.record_in(transaction, audit)
        except Taken:
            raise UserError(f"embed {embed.id} already exists") from None

    def embed(self, embed_id: str) -> Embed | None:
        rows = self.fetch(sql.embed(embed_id))
        return _embed(rows[0]) if rows else None

    def embeds(self, organization_id: str) -> list[Embed]:
        return [_embed(row) for row in self.fetch(sql.embeds(organization_id))]

    def revoke_embed(self, embed_id: str, at_ms: int, audit: Sequence[AuditEntry] = ()) -> bool:
        with self.transaction() as transaction:
            rows = transaction.fetch(sql.embed(embed_id))
            if rows and _embed(rows[0]).revoked_ms is None:
                transaction.run(sql.revoke(embed_id, at_ms))
                self.record_in(transaction, audit)
            return bool(rows)


def _values(embed: Embed) -> dict[str, Any]:
    definition, maker = embed.definition, embed.maker
    window = definition.window
    rolling = isinstance(window, Rolling)
    return {
        "id": embed.id,
        "organization_id": embed.organization_id,
        "maker": maker.called,
        "key_id": maker.key_id,
        "granted": None if maker.granted is None else _granted_text(maker.granted),
        "view_name": definition.view,
        "devices": _text(definition.devices),
        "metric": definition.metric,
        "origins": _text(definition.origins),
        "window_s": window.last_s if rolling else None,
        "from_ms": None if rolling else window.from_ms,
        "to_ms": None if rolling else window.to_ms,
        "zone": definition.zone,
        "units": definition.units,
        "theme": definition.theme,
        "controls": _text(definition.controls),
        "title": definition.title,
        "created_ms": embed.created_ms,
        "expires_ms": definition.expires_ms,
        "revoked_ms": embed.revoked_ms,
        "notes": int(definition.notes),
        "compare": definition.compare,
    }


def _embed(row: Row) -> Embed:
    of = dict(zip(EMBED.names, row, strict=True))
    rolling = of["window_s"] is not None
    return Embed(
        id=of["id"],
        organization_id=of["organization_id"],
        maker=Maker(of["maker"], of["key_id"], _granted(of["granted"])),
        definition=EmbedDefinition(
            view=of["view_name"],
            devices=_texts(of["devices"]),
            metric=of["metric"],
            origins=_texts(of["origins"]),
            window=Rolling(of["window_s"]) if rolling else Fixed(of["from_ms"], of["to_ms"]),
            zone=of["zone"],
            units=of["units"],
            theme=of["theme"],
            controls=_texts(of["controls"]),
            notes=bool(of["notes"]),
            compare=of["compare"],
            title=of["title"],
            expires_ms=of["expires_ms"],
        ),
        created_ms=of["created_ms"],
        revoked_ms=of["revoked_ms"],
    )


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


def _texts(text: str) -> tuple[str, ...]:
    return tuple(orjson.loads(text))


def _granted_text(grant: Grant) -> str:
    return _text(
        {
            "everything": grant.everything,
            "groups": sorted(grant.groups),
            "devices": sorted(grant.devices),
        }
    )


def _granted(text: str | None) -> Grant | None:
    if text is None:
        return None
    granted = orjson.loads(text)
    return Grant(granted["everything"], frozenset(granted["groups"]), frozenset(granted["devices"]))
