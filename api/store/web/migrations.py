"""Numbered steps to the current schema of the web's own store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from api.store.query import Dialect
from api.store.web.tables import EMBED, WEB_AUDIT

VERSION_TABLE: Final = "web_schema_version"


_ADDED: Final = EMBED.columns[-2:]  # by the second step


def _first(dialect: Dialect) -> list[str]:
    return replace(EMBED, columns=EMBED.columns[: -len(_ADDED)]).ddl(dialect)


def _audit_and_charts(dialect: Dialect) -> list[str]:
    added = (f"ALTER TABLE {EMBED.name} ADD COLUMN {each.ddl(dialect)}" for each in _ADDED)
    return [*WEB_AUDIT.ddl(dialect), *added]


STEPS: Final[tuple[Callable[[Dialect], list[str]], ...]] = (_first, _audit_and_charts)
"""STEPS[n] takes a schema from version n to n + 1; a step that was released never changes."""

CURRENT: Final = len(STEPS)
