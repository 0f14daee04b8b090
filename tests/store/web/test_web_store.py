"""The web's own store: its schema has a version of its own, and imports don't block it."""

from __future__ import annotations

import threading
import time
from pathlib import Path, PurePath

import pytest

from api.embeds import EmbedDefinition
from api.errors import ConfigurationError, StoreMissing, UserError
from api.store.base import Store
from api.store.open import beside, open_web_store
from api.store.web import migrations
from api.store.web.base import Embed, Maker, WebStore

EMBED = Embed("e-1", "org-1", Maker("command"), EmbedDefinition("tile", ("d-1",)), 1)


def test_an_upgrade_makes_the_present_schema_once(web: WebStore) -> None:
    assert web.upgrade() == (migrations.CURRENT, migrations.CURRENT)
    web.check()


def test_without_an_upgrade_there_are_no_tables(store_url: str) -> None:
    web = open_web_store(store_url)
    with pytest.raises(StoreMissing, match="weir db upgrade"):
        web.check()
    with pytest.raises(StoreMissing, match="weir db upgrade"):
        web.create_embed(EMBED)
    web.close()


def test_it_coexists_with_a_store(store: Store, web: WebStore) -> None:
    web.create_embed(EMBED)
    assert store.upgrade()[0] == store.upgrade()[1]
    store.check()
    assert web.embed("e-1") == EMBED


def test_a_newer_schema_is_refused(web: WebStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "CURRENT", 0)
    with pytest.raises(UserError, match="newer than this program"):
        web.upgrade()


def test_a_read_only_store_cannot_write(store_url: str, web: WebStore) -> None:
    reader = open_web_store(store_url, read_only=True)
    with pytest.raises(UserError, match="reading only"):
        reader.create_embed(EMBED)
    assert reader.embeds("org-1") == []
    reader.close()


def test_it_is_written_while_an_import_locks_the_store(store_url: str, store: Store) -> None:
    """An import's transaction is open; a write of the web completes meanwhile."""
    web = open_web_store(store_url)
    web.upgrade()
    begun, done = threading.Event(), threading.Event()

    def hold() -> None:
        with store.transaction() as transaction:  # pyright: ignore[reportAttributeAccessIssue]
            transaction.lock_devices([1])
            begun.set()
            done.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert begun.wait(30)
        started = time.monotonic()
        web.create_embed(EMBED)
        took_s = time.monotonic() - started
    finally:
        done.set()
        holder.join()
        web.close()
    assert took_s < 20


@pytest.mark.parametrize(
    ("store", "web"),
    [
        ("instance/weir.sqlite", "instance/weir.web.sqlite"),
        ("/srv/readings", "/srv/readings.web"),
        ("a.b/c.d.sqlite", "a.b/c.d.web.sqlite"),
    ],
)
def test_the_file_lies_beside_the_stores(store: str, web: str) -> None:
    assert beside(PurePath(store)) == PurePath(web)


def test_the_files_on_disk(tmp_path: Path) -> None:
    web = open_web_store(f"sqlite:///{tmp_path / 'weir.sqlite'}")
    web.upgrade()
    web.close()
    assert [path.name for path in tmp_path.iterdir()] == ["weir.web.sqlite"]


def test_another_kind_of_address_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="WEIR_DATABASE"):
        open_web_store("mysql://somewhere")
