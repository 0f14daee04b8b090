"""The demo fleet of an organization's own: asked for, made, cut off, fed and removed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from api.catalog import HOUR_MS, RAW
from api.domain import demo_fleet
from api.domain.demo_fleet import Trial
from api.domain.device_changes import Editor
from api.embeds import EmbedDefinition
from api.errors import BadRequest, Conflict, Forbidden
from api.ingest.demo import keeper as keeping
from api.ingest.demo.feed import Fleet
from api.ingest.demo.fleet import FLEET
from api.ingest.demo.keeper import DemoKeeper, Interrupted
from api.ingest.writer import Writer
from api.store.base import DeviceQuery, Grant, NewDevice, Scope, Span, Store
from api.store.open import open_web_store
from api.store.web.base import Embed, Maker, WebStore
from api.timez import now_ms

ACME, OTHER = "org-acme", "org-other"
ALL = Scope(ACME, Grant(everything=True))
KEY_FILE = Path("no-key")
ADA = Editor("key_ada", now_ms())


@pytest.fixture
def store(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """With two organizations and no device; a history is six hours long."""
    for name in ("HISTORY_MS", "LONG_HISTORY_MS"):
        monkeypatch.setattr(f"api.ingest.demo.fleet.{name}", 6 * HOUR_MS)
    monkeypatch.setattr("api.ingest.demo.feed.BATCH_ROWS", 8_000)
    for organization_id in (ACME, OTHER):
        sqlite_store.create_organization(organization_id, organization_id=organization_id)
    return sqlite_store


@pytest.fixture
def web(store: Store, sqlite_url: str) -> Iterator[WebStore]:
    web = open_web_store(sqlite_url)
    web.upgrade()
    yield web
    web.close()


class _NoFeed:
    """In place of the live source."""

    running = 0

    def __init__(self, *_: object) -> None: ...

    def start(self) -> None:
        type(self).running += 1

    def stop(self) -> None:
        type(self).running -= 1


@pytest.fixture
def keeper(store: Store, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> DemoKeeper:
    monkeypatch.setattr(keeping, "DemoSource", _NoFeed)
    return DemoKeeper(store, partial(open_web_store, sqlite_url), cast("Writer", None), KEY_FILE)


def status(store: Store) -> dict[str, Any]:
    return demo_fleet.status(store, ALL)


def devices(store: Store) -> int:
    return store.count_devices(ALL, DeviceQuery(active=None))


def test_it_is_for_an_empty_store_and_for_whoever_sees_all_of_it(store: Store) -> None:
    some = Scope(ACME, Grant(groups=frozenset({"north"})))
    with pytest.raises(Forbidden):
        demo_fleet.begin(store, some, ADA)
    store.import_devices(OTHER, [NewDevice("M-1")])
    assert (status(store)["state"], status(store)["possible"]) == ("none", False)
    with pytest.raises(Conflict, match="empty store"):
        demo_fleet.begin(store, ALL, ADA)
    assert Trial.anywhere(store) is None


def test_whoever_asks_again_or_at_once_changes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert status(store)["possible"]
    demo_fleet.begin(store, ALL, ADA)
    first = Trial.of(store, ACME)
    assert first is not None
    demo_fleet.begin(store, ALL, Editor("key_bob", ADA.at_ms + 5))
    assert Trial.of(store, ACME) == first
    with pytest.raises(Conflict):
        demo_fleet.begin(store, Scope(OTHER, Grant(everything=True)), ADA)
    # Another worker was first between the look and the write: `updated` decides.
    read = store.organization(ACME)
    demo_fleet.removed(store, first)
    monkeypatch.setattr(store, "organization", lambda _: read)
    with pytest.raises(Conflict):
        demo_fleet.begin(store, ALL, ADA)


def test_it_is_made_again_from_where_it_was_cut_off(
    store: Store, sqlite_url: str, keeper: DemoKeeper
) -> None:
    demo_fleet.begin(store, ALL, ADA)
    keeper._stopping.set()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(Interrupted):
        keeper.step()
    begun = store.progress(demo_fleet.MARK, ACME)
    assert begun is not None
    assert begun.position > 0
    assert status(store)["state"] == "filling"
    again = DemoKeeper(store, partial(open_web_store, sqlite_url), cast("Writer", None), KEY_FILE)
    again.step()
    assert (status(store)["state"], status(store)["share"]) == ("complete", 1.0)
    assert devices(store) == len(FLEET)
    assert len(store.alert_rules(ACME)) == len(keeping.RULES)
    done = store.progress(demo_fleet.MARK, ACME)
    assert done is not None
    assert (done.repeated, done.stored) == (0, done.position)
    again.step()
    again.step()
    assert _NoFeed.running == 1
    again._end_feed()  # pyright: ignore[reportPrivateUsage]


def test_a_meter_that_somebody_deleted_stays_away(store: Store, keeper: DemoKeeper) -> None:
    demo_fleet.begin(store, ALL, ADA)
    keeper.step()
    (gone,) = store.resolve(ALL, [FLEET[0].id])
    assert gone is not None
    store.delete_device(gone, ())
    keeper.step()
    fleet = Fleet.of(store, Trial.of(store, ACME))
    assert fleet is not None
    assert len(fleet.meters) == devices(store) == len(FLEET) - 1
    keeper._end_feed()  # pyright: ignore[reportPrivateUsage]


def test_it_is_removed_whole_and_what_else_came_in_stays(
    store: Store, web: WebStore, keeper: DemoKeeper
) -> None:
    demo_fleet.begin(store, ALL, ADA)
    keeper.step()
    keeper.step()
    store.import_devices(ACME, [NewDevice("M-1")])
    (own,) = store.resolve(ALL, ["M-1"])
    assert own is not None
    store.write([(own.key, ADA.at_ms, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)])
    for id, device_id in (("emb_demo", FLEET[0].id), ("emb_own", own.id)):
        definition = EmbedDefinition("chart", (device_id,), metric="flow_rate")
        web.create_embed(Embed(id, ACME, Maker("key_ada"), definition, ADA.at_ms), ())
    for confirmation in ("", "DEMO", "yes"):
        with pytest.raises(BadRequest, match="Type demo"):
            demo_fleet.remove(store, ALL, confirmation, ADA)
    demo_fleet.remove(store, ALL, "demo", ADA)
    demo_fleet.remove(store, ALL, "demo", ADA)  # pressed twice
    assert status(store)["state"] == "removing"
    keeper.step()
    assert _NoFeed.running == 0
    assert (status(store)["state"], status(store)["possible"]) == ("none", False)
    assert [each.serial_number for each in store.devices(ALL, DeviceQuery(active=None))] == ["M-1"]
    assert store.count(own, RAW, Span()) == 1
    assert store.alert_rules(ACME) == []
    assert store.billing_rows(organization_id=ACME) == []
    assert store.alert_receivers(ACME) == []
    assert {e.id: e.revoked_ms is None for e in web.embeds(ACME)} == {
        "emb_demo": False, "emb_own": True,
    }  # fmt: skip
    with pytest.raises(Conflict, match="no demo fleet"):
        demo_fleet.remove(store, ALL, "demo", ADA)
    store.delete_device(own, ())
    assert status(store)["possible"]  # and it can come again
    demo_fleet.begin(store, ALL, Editor("key_ada", ADA.at_ms + HOUR_MS))
    keeper.step()
    assert status(store)["state"] == "complete"
