"""The desk of this request: who asks, with what is remembered for them by every page."""

from __future__ import annotations

from api.timez import now_ms
from components import session
from components.fleet.queries import Desk
from components.fleet.reply_cache import Memory


def current_desk() -> Desk:
    memory = session.kept("fleet", lambda: Memory())
    memory.look(now_ms())
    return Desk(session.current_client(), memory)
