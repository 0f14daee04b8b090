"""Numbered steps from no store to the present schema. A step that was released never changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from api.store.sql.query import Dialect
from api.store.tables import TABLES

VERSION_TABLE: Final = "schema_version"


def _first(dialect: Dialect) -> list[str]:
    return [statement for table in TABLES for statement in table.ddl(dialect)]


STEPS: Final[tuple[Callable[[Dialect], list[str]], ...]] = (_first,)
"""STEPS[n] takes a store from version n to n + 1; each runs in one transaction."""

CURRENT: Final = len(STEPS)
