"""Definition of a table: columns, key, and the statements that create it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from api.store.query import Dialect, Kind


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    required: bool = True
    default: str | None = None

    def ddl(self, dialect: Dialect) -> str:
        required = " NOT NULL" if self.required else ""
        default = "" if self.default is None else f" DEFAULT {self.default}"
        return f"{self.name} {dialect.types[self.kind]}{required}{default}"


@dataclass(frozen=True, slots=True)
class Table:
    """``covering``: the primary key's index includes the other columns, if the dialect can."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    indexes: tuple[str, ...] = ()
    covering: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def ddl(self, dialect: Dialect) -> list[str]:
        """Returns the statements that create the table and its indexes."""
        columns = ", ".join(column.ddl(dialect) for column in self.columns)
        rest = [name for name in self.names if name not in self.key]
        include = f" INCLUDE ({', '.join(rest)})" if self.covering and dialect.covering_keys else ""
        key = f"PRIMARY KEY ({', '.join(self.key)}){include}"
        create = f"CREATE TABLE {self.name} ({columns}, {key}){dialect.table_suffix}"
        return [create, *self.indexes]

    def growth(self, dialect: Dialect, there: Set[str]) -> list[str]:
        """Returns the statements that add the columns missing from ``there`` (none: the whole
        table). Counts begin at 0."""
        if not there:
            return self.ddl(dialect)
        missing = [column for column in self.columns if column.name not in there]
        filled = [replace(c, default="0") if c.required else c for c in missing]
        return [f"ALTER TABLE {self.name} ADD COLUMN {column.ddl(dialect)}" for column in filled]
