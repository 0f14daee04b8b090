"""Whose embed this request is for. The one file of this room that may import flask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import request

from api.client import Client
from api.client.embeds import Embed
from api.timez import now_ms
from components.fleet.queries import Desk
from components.fleet.reply_cache import Memory

EMBED_VIEWER: Final = "weir.embed"  # in the request's environment, put there by the door


@dataclass(frozen=True, slots=True)
class EmbedDesk(Desk):
    """What is remembered belongs to the embed as it sees its devices now, whichever of its tokens
    asks: a host mints a new one every few minutes."""

    embed: Embed

    @property
    def principal(self) -> str:
        return f"{self.embed.id}:{','.join(self.embed.definition.devices)}"


@dataclass(frozen=True, slots=True)
class EmbedViewer:
    """``embed`` as the service told it of the request's token; ``client`` asks with that token."""

    embed: Embed
    client: Client
    memory: Memory

    @property
    def desk(self) -> EmbedDesk:
        self.memory.look(now_ms())
        return EmbedDesk(self.client, self.memory, self.embed)


def looking() -> EmbedViewer:
    return request.environ[EMBED_VIEWER]
