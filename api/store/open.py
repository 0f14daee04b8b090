"""Opens the store of a database URL."""

from __future__ import annotations

from pathlib import PurePath

from api.errors import ConfigurationError
from api.store.base import Store
from api.store.web.base import WebStore


def open_store(url: str, *, read_only: bool = False) -> Store:
    """Opens the store at ``sqlite:///path`` or ``postgresql://…``. Connects at first use.

    ``read_only`` stores (web workers) open the file with mode=ro and refuse writes.
    """
    if url.startswith("sqlite:///"):
        from api.store.sqlite import SqliteStore  # each driver is imported only where it is used

        return SqliteStore(url.removeprefix("sqlite:///"), read_only=read_only)
    if url.startswith(("postgresql://", "postgres://")):
        from api.store.postgres import PostgresStore

        return PostgresStore(url, read_only=read_only)
    raise ConfigurationError("WEIR_DATABASE must be sqlite:///path or postgresql://…")


def open_web_store(url: str, *, read_only: bool = False) -> WebStore:
    """Opens the web's own store beside the store at ``url``: ``weir.web.sqlite`` beside
    ``weir.sqlite``, or the same database. Connects at first use. Web workers write here."""
    if url.startswith("sqlite:///"):
        from api.store.sqlite import SqliteWebStore

        path = PurePath(url.removeprefix("sqlite:///"))
        return SqliteWebStore(str(beside(path)), read_only=read_only)
    if url.startswith(("postgresql://", "postgres://")):
        from api.store.postgres import PostgresWebStore

        return PostgresWebStore(url, read_only=read_only)
    raise ConfigurationError("WEIR_DATABASE must be sqlite:///path or postgresql://…")


def beside(store: PurePath) -> PurePath:
    """Returns the path of the web's file beside a store's file."""
    return store.with_name(f"{store.stem}.web{store.suffix}")
