"""Numbered steps from no store to the present schema. A step that was released never changes.

The time series needs none of them to grow: what the catalog has gained since, a metric's columns
or a resolution's table, an upgrade adds by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Final

from api.store.sql.insight import EVERYTHING_DUE
from api.store.sql.query import Dialect
from api.store.tables import (
    ALERTING,
    ANNOTATION,
    AUDIT,
    DEVICE_ANCESTOR,
    HOLIDAY,
    INSIGHT_SETTING,
    LISTED_DEVICES,
    OF_DEVICES,
    READING_ORIGINAL,
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
)
_LATER: Final = {RETENTION, UNDATED, *_INSIGHT}  # tables that a further step makes


def _first(dialect: Dialect) -> list[str]:
    first = (table for table in TABLES if table not in _LATER)
    return [statement for table in first for statement in table.ddl(dialect)]


def _retention(dialect: Dialect) -> list[str]:
    return RETENTION.ddl(dialect)


def _undated(dialect: Dialect) -> list[str]:
    return UNDATED.ddl(dialect)


def _insight(dialect: Dialect) -> list[str]:
    """Every device that is there already is due from its first reading on."""
    return [
        *(statement for table in _INSIGHT for statement in table.ddl(dialect)),
        *LISTED_DEVICES,
        EVERYTHING_DUE,
    ]


STEPS: Final[tuple[Callable[[Dialect], list[str]], ...]] = (_first, _retention, _undated, _insight)
"""STEPS[n] takes a store from version n to n + 1; each runs in one transaction."""

CURRENT: Final = len(STEPS)


def growth(dialect: Dialect, there: Mapping[str, Set[str]]) -> list[str]:
    """What brings a time series with these columns, by table, to what the catalog says."""
    grown = (table for table in TIME_SERIES if table is not UNDATED)
    return [s for table in grown for s in table.growth(dialect, there[table.name])]
