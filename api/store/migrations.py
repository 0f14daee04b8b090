"""Numbered steps from an empty store to the current schema. A released step never changes.

New metrics and resolutions of the catalog need no step: an upgrade adds their columns and tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Final

from api.store.query import Dialect
from api.store.sql.insight import EVERYTHING_DUE
from api.store.tables import (
    ALERTING,
    ANNOTATION,
    AUDIT,
    BILLING,
    DEVICE_ANCESTOR,
    HOLIDAY,
    INSIGHT_SETTING,
    KEY_USE,
    LISTED_DEVICES,
    OF_DEVICES,
    ORGANIZATION_SETTING,
    READING_ORIGINAL,
    REGISTER,
    RETENTION,
    TABLES,
    TIME_SERIES,
    UNDATED,
)

VERSION_TABLE: Final = "schema_version"


_INSIGHT: Final = (
    *OF_DEVICES,
    INSIGHT_SETTING,
    HOLIDAY,
    *ALERTING,
    DEVICE_ANCESTOR,
    ANNOTATION,
    AUDIT,
    READING_ORIGINAL,
    REGISTER,
    BILLING,
    KEY_USE,
    ORGANIZATION_SETTING,
)
_LATER: Final = {RETENTION, UNDATED, *_INSIGHT}  # tables of later steps


def _first(dialect: Dialect) -> list[str]:
    first = (table for table in TABLES if table not in _LATER)
    return [statement for table in first for statement in table.ddl(dialect)]


def _retention(dialect: Dialect) -> list[str]:
    return RETENTION.ddl(dialect)


def _undated(dialect: Dialect) -> list[str]:
    return UNDATED.ddl(dialect)


def _insight(dialect: Dialect) -> list[str]:
    """Makes existing devices due from their first reading on."""
    return [
        *(statement for table in _INSIGHT for statement in table.ddl(dialect)),
        *LISTED_DEVICES,
        EVERYTHING_DUE,
    ]


STEPS: Final[tuple[Callable[[Dialect], list[str]], ...]] = (_first, _retention, _undated, _insight)
"""STEPS[n] takes a store from version n to n + 1; each runs in one transaction."""

CURRENT: Final = len(STEPS)


def growth(dialect: Dialect, there: Mapping[str, Set[str]]) -> list[str]:
    """Returns the statements that add what the catalog has gained. ``there``: existing columns by
    table."""
    grown = (table for table in TIME_SERIES if table is not UNDATED)
    return [s for table in grown for s in table.growth(dialect, there[table.name])]
