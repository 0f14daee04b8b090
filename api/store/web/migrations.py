"""Numbered steps to the current schema of the web's own store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from api.store.sql.query import Dialect
from api.store.web.tables import EMBED, WEB_AUDIT

VERSION_TABLE: Final = "web_schema_version"


def _first(dialect: Dialect) -> list[str]:
    return EMBED.ddl(dialect)


def _audit(dialect: Dialect) -> list[str]:
    return WEB_AUDIT.ddl(dialect)


STEPS: Final[tuple[Callable[[Dialect], list[str]], ...]] = (_first, _audit)
"""STEPS[n] takes a schema from version n to n + 1; a step that was released never changes."""

CURRENT: Final = len(STEPS)
