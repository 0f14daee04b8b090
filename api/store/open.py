"""Opens the store of a database URL."""

from __future__ import annotations

from pathlib import PurePath

from api.errors import ConfigurationError
from api.store.base import Store
from api.store.web.base import WebStore


def open_store(url: str, *, read_only: bool = False) -> Store:
    """The store behind ``sqlite:///path`` or ``postgresql://…``. Connects at first need.

    ``read_only`` stores (web workers) open the file mode=ro and refuse writes.
    """
    if url.startswith("sqlite:///"):
        from api.store.sqlite import SqliteStore  # a driver is imported only if it is used

        return SqliteStore(url.removeprefix("sqlite:///"), read_only=read_only)
    if url.startswith(("postgresql://", "postgres://")):
        from api.store.postgres import PostgresStore

        return PostgresStore(url, read_only=read_only)
    raise ConfigurationError("WEIR_DATABASE must be sqlite:///path or postgresql://…")


def open_web_store(url: str, *, read_only: bool = False) -> WebStore:
    """The web's own store for the store behind ``url``: ``weir.web.sqlite`` beside
    ``weir.sqlite``, or the same database. Connects at first need. Web workers write here."""
    if url.startswith("sqlite:///"):
        from api.store.sqlite import SqliteWebStore

        path = PurePath(url.removeprefix("sqlite:///"))
        return SqliteWebStore(str(beside(path)), read_only=read_only)
    if url.startswith(("postgresql://", "postgres://")):
        from api.store.postgres import PostgresWebStore

        return PostgresWebStore(url, read_only=read_only)
    raise ConfigurationError("WEIR_DATABASE must be sqlite:///path or postgresql://…")


def beside(store: PurePath) -> PurePath:
    """The path of the web's file beside a store's file."""
    return store.with_name(f"{store.stem}.web{store.suffix}")
