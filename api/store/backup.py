"""Backs up an embedded store while it is in use, and restores it.

A backup is a tar file with a manifest (``manifest.json``), the store and the web's file. Each
database is copied from one snapshot, which blocks no writer.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Final, cast

import apsw
import orjson

from api.errors import UserError
from api.store import migrations
from api.store.open import beside
from api.store.schema_upgrade import Schema
from api.store.web import migrations as web_migrations

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
PAGES: Final = 4_096  # pages copied between two reports of progress: 16 MiB
PACKED: Final = (".gz", ".tgz")
ENDINGS: Final = (".tar", ".tar.gz", ".tgz")
_ENDINGS: Final = ".tar, .tar.gz or .tgz"
_PIECE: Final = 1 << 20
SCHEMAS: Final[Mapping[str, Schema]] = {
    "store.sqlite": cast(Schema, migrations),
    "web.sqlite": cast(Schema, web_migrations),
}
OnProgress = Callable[[int, int], None]
"""Called with (pages remaining, pages in total)."""


@dataclass(frozen=True, slots=True)
class Part:
    """One database of a backup: schema version, rows by table, size in bytes, digest."""

    version: int
    rows: Mapping[str, int]
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Backup:
    made: str
    program: str
    parts: Mapping[str, Part] = field(default_factory=dict[str, Part])


def back_up(store: Path, target: Path, made: str, program: str, on_progress: OnProgress) -> Backup:
    """Copies the store at ``store`` and the web's file beside it into ``target``, compressed if its
    name ends in .gz or .tgz. ``target`` appears only once the copy is complete and verified. Raises
    UserError on failure."""
    if not target.name.endswith(ENDINGS):
        raise UserError(f"{target}: a backup is a tar file, so its name must end in {_ENDINGS}")
    with _translated(), _scratch(target) as folder:
        parts: dict[str, Part] = {}
        for name, source in _sources(store).items():
            if source.exists():
                parts[name] = _copied(source, folder / name, SCHEMAS[name], on_progress)
        if "store.sqlite" not in parts:
            raise UserError(f"no store at {store}")
        backup = Backup(made, program, parts)
        draft = folder / "draft"
        _pack(backup, folder, draft, packed=target.suffix in PACKED)
        draft.replace(target)
        _sync_folder(target.parent)
        return backup


def check(file: Path) -> Backup:
    """Verifies a backup in a temporary folder beside it. Raises UserError if it is invalid."""
    with _translated(), _scratch(file) as folder:
        return _unpacked(file, folder)


def restore(file: Path, store: Path) -> Backup:
    """Replaces the store's databases with those of a backup. Readers may stay connected: they
    notice the new file and open it. The caller makes sure that nothing writes."""
    store.parent.mkdir(parents=True, exist_ok=True)
    with _translated(), _scratch(store) as folder:
        backup = _unpacked(file, folder)
        for name, place in _sources(store).items():
            if name in backup.parts:
                _replace(folder / name, place)
            elif place.exists():
                place.unlink()
        _sync_folder(store.parent)
        return backup


# --- Copying -------------------------------------------------------------------------------------


def _sources(store: Path) -> dict[str, Path]:
    return {"store.sqlite": store, "web.sqlite": Path(beside(store))}


def _copied(source: Path, target: Path, schema: Schema, on_progress: OnProgress) -> Part:
    """Copies a snapshot of the source in one read transaction, and compares the row counts of
    both."""
    with closing(_opened(source)) as original, closing(apsw.Connection(str(target))) as copy:
        _run(original, "BEGIN")
        expected = _inspected(original, schema)
        if expected.version > schema.CURRENT:  # this program couldn't restore it
            raise UserError(
                f"{source.name} has schema version {expected.version}, newer than this program's"
                f" {schema.CURRENT}: back it up with the program that made it, or a newer one"
            )
        with copy.backup("main", original, "main") as copying:
            while not copying.done:
                copying.step(PAGES)
                on_progress(copying.remaining, copying.page_count)
        _run(original, "COMMIT")
        _run(copy, "PRAGMA journal_mode=DELETE")  # one file, without a WAL
    copied = _verified(target, schema)
    if copied != expected:
        raise UserError(f"the copy of {source.name} doesn't match the original")
    return Part(copied.version, copied.rows, target.stat().st_size, _digest(target))


def _opened(path: Path) -> apsw.Connection:
    uri = path.absolute().as_uri() + "?mode=ro"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(60_000)
    return connection


def _run(connection: apsw.Connection, sql: str) -> Any:
    """`execute`; apsw annotates it with a type that our oldest Python lacks."""
    return cast(Any, connection).execute(sql)


def _inspected(connection: apsw.Connection, schema: Schema) -> Part:
    tables = _run(
        connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ).fetchall()
    rows = {name: int(_run(connection, f'SELECT count(*) FROM "{name}"').get) for (name,) in tables}  # noqa: S608
    if schema.VERSION_TABLE not in rows:
        raise UserError("it contains no Weir store")
    version = int(_run(connection, f"SELECT max(version) FROM {schema.VERSION_TABLE}").get)  # noqa: S608
    return Part(version, rows)


def _verified(path: Path, schema: Schema) -> Part:
    with closing(_opened(path)) as connection:
        result = _run(connection, "PRAGMA integrity_check").get
        if result != "ok":
            raise UserError(f"{path.name} is damaged: {str(result).splitlines()[0]}")
        return _inspected(connection, schema)


# --- Packing -------------------------------------------------------------------------------------


def _pack(backup: Backup, folder: Path, draft: Path, *, packed: bool) -> None:
    manifest = orjson.dumps({"format": FORMAT, **asdict(backup)}, option=orjson.OPT_INDENT_2)
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "wb") as plain:
        with _into(plain, packed) as out, tarfile.open(fileobj=out, mode="w|") as tar:
            head = tarfile.TarInfo(MANIFEST)
            head.size, head.mode = len(manifest), 0o600
            tar.addfile(head, io.BytesIO(manifest))
            for name in backup.parts:
                tar.add(folder / name, arcname=name)
                (folder / name).unlink()
        plain.flush()
        os.fsync(plain.fileno())


@contextmanager
def _into(plain: IO[bytes], packed: bool) -> Generator[IO[bytes]]:
    if not packed:
        yield plain
        return
    with gzip.GzipFile(fileobj=plain, mode="wb", compresslevel=3, mtime=0) as out:
        yield cast("IO[bytes]", out)


def _unpacked(file: Path, folder: Path) -> Backup:
    """Extracts the databases of a backup into ``folder`` and verifies them."""
    try:
        with tarfile.open(file, "r:*") as tar:
            for member in tar:
                if member.isfile() and member.name in (MANIFEST, *SCHEMAS):
                    _take_out(tar, member, folder / member.name)
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        if manifest.pop("format") != FORMAT:
            raise UserError(f"{file} is a backup made by a newer program")
        parts = {name: Part(**part) for name, part in manifest.pop("parts").items()}
        backup = Backup(parts=parts, **manifest)
    except FileNotFoundError as error:
        missing = error.filename if str(error.filename) == str(file) else f"{file} is not a backup"
        raise UserError(f"{missing}: nothing to restore") from None
    except (
        tarfile.TarError,
        EOFError,
        gzip.BadGzipFile,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        manifest = str(error).splitlines()[0].partition(":")[0]
        raise UserError(f"{file} is not a complete backup: {manifest}") from None
    for name, part in backup.parts.items():
        _compare(folder / name, part, SCHEMAS[name], file)
    return backup


def _take_out(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    source = tar.extractfile(member)
    if source is not None:
        with source, place.open("xb") as out:
            shutil.copyfileobj(source, out, _PIECE)


def _compare(path: Path, part: Part, schema: Schema, file: Path) -> None:
    if not path.exists() or _digest(path) != part.sha256:
        raise UserError(f"{file} was changed after it was written: {path.name} differs")
    actual = _verified(path, schema)
    if (actual.version, actual.rows) != (part.version, part.rows):
        raise UserError(f"{file} doesn't match its manifest: {path.name} differs")
    if part.version > schema.CURRENT:
        raise UserError(
            f"{file} has schema version {part.version}, newer than this program's {schema.CURRENT}"
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- Restoring -----------------------------------------------------------------------------------


def _replace(new: Path, place: Path) -> None:
    """Puts ``new`` in place of a database. The old WAL must never meet the new file, so it is
    checkpointed and removed first. WAL mode is stored in the file, so it is set before the
    rename."""
    with closing(apsw.Connection(str(new))) as connection:
        _run(connection, "PRAGMA journal_mode=WAL")
    with new.open("rb") as written:
        os.fsync(written.fileno())
    if place.exists():
        before = place.stat()  # same owner and mode as before
        os.chown(new, before.st_uid, before.st_gid)
        new.chmod(before.st_mode & 0o777)
        with suppress(apsw.Error), closing(apsw.Connection(str(place))) as old:
            old.set_busy_timeout(5_000)
            _run(old, "PRAGMA wal_checkpoint(TRUNCATE)")
    for log in ("-wal", "-shm"):
        place.with_name(place.name + log).unlink(missing_ok=True)
    new.replace(place)


@contextmanager
def _scratch(target: Path) -> Generator[Path]:
    """Yields a temporary folder on the target's disk, so that a rename completes the work."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        yield Path(folder)


def _sync_folder(folder: Path) -> None:
    """Makes a rename durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except apsw.Error as error:
        raise UserError(f"a database can't be copied: {error}") from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise UserError(f"it can't be written or read: {where}{error.strerror or error}") from None
