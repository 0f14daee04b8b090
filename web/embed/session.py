"""The embed of the current request. The only file of this folder that may import flask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import request

from api.client import Client
from api.client.embeds import Embed
from api.timez import now_ms
from components.fleet.queries import ReplyCache, ServiceAccess

EMBED_VIEWER: Final = "weir.embed"  # environ key, set by the middleware


@dataclass(frozen=True, slots=True)
class EmbedAccess(ServiceAccess):
    """Caches by embed and devices, not by token: a host creates a new token every few minutes."""

    embed: Embed

    @property
    def principal(self) -> str:
        return f"{self.embed.id}:{','.join(self.embed.definition.devices)}"


@dataclass(frozen=True, slots=True)
class EmbedViewer:
    """``embed``: of the request's token. ``client``: uses that token."""

    embed: Embed
    client: Client
    cache: ReplyCache

    @property
    def access(self) -> EmbedAccess:
        self.cache.note_time(now_ms())
        return EmbedAccess(self.client, self.cache, self.embed)


def current_viewer() -> EmbedViewer:
    return request.environ[EMBED_VIEWER]
