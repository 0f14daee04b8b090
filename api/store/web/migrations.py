"""Numbered steps to the current schema of the web's own store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from api.store.sql.query import Dialect
from api.store.web.tables import EMBED, WEB_AUDIT

VERSION_TABLE: Final = "web_schema_version"


_NOTES: Final = EMBED.columns[-1]  # of the second step


def _first(dialect: Dialect) -> list[str]:
    return replace(EMBED, columns=EMBED.columns[:-1]).ddl(dialect)


def _audit_and_notes(dialect: Dialect) -> list[str]:
    add = f"ALTER TABLE {EMBED.name} ADD COLUMN {_NOTES.ddl(dialect)}"
    return [*WEB_AUDIT.ddl(dialect), add]


STEPS: Final[tuple[Callable[[Dialect], list[str]], ...]] = (_first, _audit_and_notes)
"""STEPS[n] takes a schema from version n to n + 1; a step that was released never changes."""

CURRENT: Final = len(STEPS)
