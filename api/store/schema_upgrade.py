"""A schema in numbered steps, applied one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from api.errors import StoreMissing, Unavailable, UserError
from api.store.dialect_interface import Seam
from api.store.query import Dialect, Query
from api.store.sql import schema_version as sql


class Schema(Protocol):
    """``STEPS[n]`` takes a schema from version n to n + 1; a released step never changes."""

    @property
    def VERSION_TABLE(self) -> str: ...

    @property
    def STEPS(self) -> tuple[Callable[[Dialect], list[str]], ...]: ...

    @property
    def CURRENT(self) -> int: ...


class Versioned(Seam):
    """`upgrade` and `check` of `api.store.base.Upkeep`, for every dialect."""

    schema: ClassVar[Schema]

    def prepare(self) -> None:
        """Creates the store if the dialect can."""

    def upgrade(self) -> tuple[int, int]:
        self.prepare()
        before = version = self._step()
        while version < self.schema.CURRENT:
            version = self._step()
        return before, version

    def schema_version(self) -> int:
        return int(self.fetch(sql.version(self.schema.VERSION_TABLE))[0][0])

    def check(self) -> None:
        version = self.schema_version()
        if version < self.schema.CURRENT:
            raise StoreMissing(
                "The store's schema is older than this program: run weir db upgrade."
            )
        if version > self.schema.CURRENT:
            raise Unavailable(
                f"The store's schema has version {version}, newer than this program's"
                f" {self.schema.CURRENT}."
            )

    def _step(self) -> int:
        """Applies the next step, if any. Returns the version before it."""
        table = self.schema.VERSION_TABLE
        with self.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(sql.create_version_table(self.dialect, table))
            version = int(transaction.fetch(sql.version(table))[0][0])
            self._refuse_newer(version)
            if version < self.schema.CURRENT:
                for statement in self.schema.STEPS[version](self.dialect):
                    transaction.run(Query(statement))
                transaction.run(sql.record_version(table, version + 1))
            return version

    def _refuse_newer(self, version: int) -> None:
        if version > self.schema.CURRENT:
            raise UserError(
                f"the store has schema version {version}, newer than this program's"
                f" {self.schema.CURRENT}: use the program that made it, or a newer one"
            )
