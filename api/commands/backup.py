"""`weir backup` and `weir restore`: an embedded store to one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from flask.cli import with_appcontext

from api.catalog import BACKEND_VERSION
from api.commands.command import Command, warn
from api.commands.progress import bar
from api.commands.store_access import settings
from api.errors import UserError
from api.ingest.file_lock import only_writer, replaced
from api.timez import now_ms, stamp

if TYPE_CHECKING:
    from api.store.backup import Backup

_POSTGRES: Final = (
    "back up a Postgres database with its own tools, also while it is in use:"
    " pg_dump --format=custom --file=FILE, and pg_restore; see docs/operations.md"
)
_File = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=Command)
@click.argument("file", type=_File)
@with_appcontext
def backup(file: Path) -> object:
    """Copy the store, and the web's own data, into FILE (.tar or .tar.gz) while both are in use.

    The copy is of one instant and verified. FILE appears only once it is complete.
    """
    from api.store.backup import back_up

    store = _store()
    with bar(store.name, total=0, unit="pages") as progress:

        def on_progress(remaining: int, of: int) -> None:
            progress.total = of
            progress.update(of - remaining - progress.n)

        return _summary(back_up(store, file, stamp(now_ms()), BACKEND_VERSION, on_progress))


@click.command(cls=Command)
@click.argument("file", type=_File)
@click.option("--check", is_flag=True, help="Only verify FILE; change nothing.")
@click.option("--force", is_flag=True, help="Overwrite the existing store.")
@with_appcontext
def restore(file: Path, check: bool, force: bool) -> object:
    """Replace the store of WEIR_DATABASE with that of FILE, while nothing writes to it.

    Web workers may keep running: they read the restored store from their next request on.
    """
    from api.store import backup as backups

    if check:
        return _summary(backups.check(file))
    store = _store()
    if store.exists() and not force:
        raise UserError(f"{store} already exists: use --force to overwrite it")
    store.parent.mkdir(parents=True, exist_ok=True)
    with only_writer(settings()), replaced(settings().database):
        done = backups.restore(file, store)
    from api.store.migrations import CURRENT

    if done.parts["store.sqlite"].version < CURRENT:
        warn("the restored store has an older schema: run weir db upgrade")
    return _summary(done)


def _store() -> Path:
    url = settings().database
    if not url.startswith("sqlite:///"):
        raise UserError(_POSTGRES)
    return Path(url.removeprefix("sqlite:///"))


def _summary(backup: Backup) -> object:
    store = backup.parts["store.sqlite"]
    web = backup.parts.get("web.sqlite")
    return {
        "made": backup.made,
        "schema": store.version,
        "devices": store.rows["device"],
        "readings": store.rows["reading"],
        "embeds": web.rows["embed"] if web else 0,
        "bytes": sum(part.size for part in backup.parts.values()),
    }
