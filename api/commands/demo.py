"""`flask demo`: the simulated fleet, its history and its live readings."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from threading import Event
from typing import Any

import click

from api.commands.command_base import Group, ensure_store, everything, opened, settings, warn
from api.commands.keys import new_key
from api.commands.progress import bar
from api.errors import StoreMissing, Unavailable, UserError
from api.ingest.demo import fleet as demo
from api.settings import Settings, write_private
from api.store.base import Grant, Store

group = Group("demo", help="The demo fleet.")

RETRY_S = 5.0


# --- Seeding -------------------------------------------------------------------------------------


@group.command()
@click.option("--if-missing", is_flag=True, help="Do nothing where it is there.")
def seed(if_missing: bool) -> object:
    """Make sixty simulated meters with thirty days of history, in a store created if need be."""
    ensure_store(settings().database)
    with opened() as store:
        if if_missing and _complete(store):
            return _answer(store, stored=0)
        _ensure_devices(store)
        _ensure_key(store, settings())
        return _answer(store, stored=_fill(store))


def _complete(store: Store) -> bool:
    progress = store.progress(demo.MARK, demo.ORGANIZATION_ID)
    return progress is not None and progress.complete and _key_works(store, settings())


def _ensure_devices(store: Store) -> None:
    organization = store.organization(demo.ORGANIZATION_ID) or store.create_organization(
        demo.ORGANIZATION_NAME,
        organization_id=demo.ORGANIZATION_ID,
        cost_per_gallon=demo.COST_PER_GALLON,
    )
    devices = [demo.device(one, organization.created_ms) for one in demo.FLEET]
    store.import_devices(organization.id, devices)


def _ensure_key(store: Store, known: Settings) -> None:
    if not _key_works(store, known):
        made = new_key(store, demo.ORGANIZATION_ID, "Demo dashboard", Grant(everything=True))
        write_private(known.demo_key_path, json.dumps(made))


def _key_works(store: Store, known: Settings) -> bool:
    try:
        made: dict[str, str] = json.loads(known.demo_key_path.read_text("utf-8"))
        wanted = made["keyId"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    keys = store.keys()
    return any(key.key_id == wanted and key.revoked_ms is None for key in keys)


def _fill(store: Store) -> int:
    from api.ingest.demo.feed import Fleet, catch_up
    from api.ingest.demo.feed import seed as bring_in
    from api.timez import now_ms

    fleet = Fleet.of(store)
    assert fleet is not None  # its devices were imported above
    before = store.progress(demo.MARK, demo.ORGANIZATION_ID)
    stored = 0
    if before is None or not before.complete:
        with bar("demo fleet", total=demo.ABOUT_ROWS, unit=" readings") as shown:
            stored = bring_in(store, fleet, lambda batch: shown.update(batch.read)).stored
    return stored + catch_up(store, fleet, now_ms()).stored


def _answer(store: Store, *, stored: int) -> dict[str, Any]:
    from api.store.base import DeviceQuery

    devices = store.count_devices(everything(demo.ORGANIZATION_ID), DeviceQuery(active=None))
    return {"organizationId": demo.ORGANIZATION_ID, "devices": devices, "stored": stored}


# --- Live ----------------------------------------------------------------------------------------


@group.command()
def feed() -> None:
    """Send the fleet's readings as they fall due, what was missed first, until stopped."""
    stop = Event()
    with opened() as store:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: stop.set())
        while not stop.is_set():
            try:
                _feed(store, stop.wait)
                return
            except StoreMissing:
                raise
            except Unavailable as error:  # a long import holds the store, or it restarts
                warn(f"{error} Trying again in {RETRY_S:.0f} s.")
                if stop.wait(RETRY_S):
                    return


def _feed(store: Store, wait: Callable[[float], bool]) -> None:
    from api.ingest.demo.feed import Fleet, catch_up, live
    from api.timez import now_ms

    fleet = Fleet.of(store)
    if fleet is None:
        raise UserError("the demo fleet is not there: flask demo seed")
    start = now_ms()
    catch_up(store, fleet, start)
    live(store, fleet, start, wait)
