"""Schema upgrades and verification, for every dialect."""

from __future__ import annotations

from api.errors import StoreMissing, UserError
from api.store import migrations
from api.store.base import Verdict
from api.store.core import Seam
from api.store.sql import upkeep as sql
from api.store.sql.query import Query


class UpkeepPart(Seam):
    """`api.store.base.Upkeep` but for opening and closing, for every dialect."""

    def upgrade(self) -> tuple[int, int]:
        self.prepare()
        before: int | None = None
        while True:
            with self.transaction() as transaction:
                transaction.lock_directory()
                transaction.run(sql.create_version_table(self.dialect))
                version = int(transaction.fetch(sql.version())[0][0])
                before = version if before is None else before
                _refuse_newer(version)
                if version == migrations.CURRENT:
                    return before, version
                for statement in migrations.STEPS[version](self.dialect):
                    transaction.run(Query(statement))
                transaction.run(sql.record_version(version + 1))

    def prepare(self) -> None:
        """Make sure there is something to upgrade. Dialects that can create a store do it here."""

    def check(self) -> None:
        version = int(self.fetch(sql.version())[0][0])
        _refuse_newer(version)
        if version < migrations.CURRENT:
            raise StoreMissing("The store's schema is older than this program: flask db upgrade.")

    def verify(self, *, repair: bool = False) -> Verdict:
        raise NotImplementedError


def _refuse_newer(version: int) -> None:
    if version > migrations.CURRENT:
        raise UserError(
            f"the store has schema version {version}, newer than this program's"
            f" {migrations.CURRENT}: use the program that made it, or a newer one"
        )
