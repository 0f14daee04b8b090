"""Opens the store of the settings for a command: checks it, locks it for writing, closes it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from flask import Flask, current_app

from api.errors import (
    ConfigurationError,
    StoreMissing,
    Unavailable,
)
from api.ingest.file_lock import writing

if TYPE_CHECKING:
    from api.settings import Settings
    from api.store.base import Store
    from api.store.web.base import WebStore

Load = Callable[[], "Settings"]


_EXTENSION: Final = "weir-settings"


def remember(app: Flask, load: Load) -> None:
    app.extensions[_EXTENSION] = load


def settings() -> Settings:
    """Raises ConfigurationError at the first bad value."""
    return current_app.extensions[_EXTENSION]()


@contextmanager
def opened(*, read_only: bool = False) -> Generator[Store]:
    """Yields the store of the settings, after checking that it exists and has this schema."""
    from api.store.open import open_store

    url = settings().database
    with nullcontext() if read_only else writing(url):
        store = open_store(url, read_only=read_only)
        try:
            store.check()
            yield store
        finally:
            store.close()


@contextmanager
def opened_web(*, read_only: bool = False) -> Generator[WebStore]:
    """Yields the web's own store in the same way."""
    from api.store.open import open_web_store

    url = settings().database
    with nullcontext() if read_only else writing(url):
        web = open_web_store(url, read_only=read_only)
        try:
            web.check()
            yield web
        finally:
            web.close()


def ensure_store(url: str) -> None:
    """Creates the embedded store, and the web's beside it, where there is none yet; leaves a
    server's database alone."""
    from api.store.open import open_store, open_web_store

    if not url.startswith("sqlite:"):
        return
    stores: tuple[_Upgradable, ...] = (open_store(url), open_web_store(url))
    for each in stores:
        with _connected(each) as store:
            try:
                store.check()
            except StoreMissing:
                store.upgrade()


def upgrade_store(url: str) -> tuple[int, int]:
    """Creates the store or brings its schema up to date. Returns (version before, version now). The
    web's schema has version numbers of its own."""
    from api.store.open import open_store, open_web_store

    with writing(url), _connected(open_store(url)) as store:
        versions = store.upgrade()
    with _connected(open_web_store(url)) as web:
        web.upgrade()
    return versions


class _Upgradable(Protocol):
    def check(self) -> None: ...
    def upgrade(self) -> tuple[int, int]: ...
    def close(self) -> None: ...


S = TypeVar("S", bound=_Upgradable)


@contextmanager
def _connected(store: S) -> Generator[S]:
    """Yields the store, existing or not. Raises ConfigurationError where its path or address can't
    be used."""
    try:
        yield store
    except StoreMissing:
        raise
    except Unavailable as error:
        raise ConfigurationError(f"WEIR_DATABASE can't be used: {error.detail}") from error
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise ConfigurationError(f"WEIR_DATABASE can't be used: {reason}") from None
    finally:
        store.close()
