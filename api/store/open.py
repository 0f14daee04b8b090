"""From a database URL to its store."""

from __future__ import annotations

from api.errors import ConfigurationError
from api.store.base import Store


def open_store(url: str, *, read_only: bool = False) -> Store:
    """The store behind ``sqlite:///path`` or ``postgresql://…``. Connects at first need.

    ``read_only`` stores (web workers) open the file mode=ro and refuse writes.
    """
    if url.startswith("sqlite:///"):
        from api.store.sqlite import SqliteStore  # each driver loads only where it is used

        return SqliteStore(url.removeprefix("sqlite:///"), read_only=read_only)
    if url.startswith(("postgresql://", "postgres://")):
        from api.store.postgres import PostgresStore

        return PostgresStore(url, read_only=read_only)
    raise ConfigurationError("WEIR_DATABASE must be sqlite:///path or postgresql://…")
