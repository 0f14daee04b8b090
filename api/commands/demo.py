"""`weir demo`: the simulated fleet, its history and its live readings."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from api.commands.alert_arguments import author as alert_author
from api.commands.arguments import audited, author, everything, organization
from api.commands.command import Group, warn
from api.commands.keys import new_key
from api.commands.progress import bar
from api.commands.serve import serve
from api.commands.stop_signal import StopSignal
from api.commands.store_access import ensure_store, opened, opened_web, settings
from api.errors import Conflict, StoreMissing, Unavailable, UserError, WeirError
from api.ingest.demo import fleet as demo
from api.ingest.file_lock import Held, only_writer
from api.private_files import write_private
from api.roles import Role
from api.store.base import Grant, Organization, Store
from api.timez import now_ms

if TYPE_CHECKING:
    from api.domain.demo_fleet import Trial
    from api.settings import Settings

STORE: Final = "demo.sqlite"  # in the instance folder


@click.group("demo", cls=Group, invoke_without_command=True)
@click.pass_context
def group(context: click.Context) -> None:
    """The demo fleet. Without a command: `run`."""
    if context.invoked_subcommand is None:
        context.invoke(run)


RETRY_S = 5.0


# --- Serving -------------------------------------------------------------------------------------


@group.command()
@click.option("--port", type=click.IntRange(0, 65_535), help="Default: WEIR_PORT.")
@click.pass_context
def run(context: click.Context, port: int | None) -> None:
    """Serve the demo fleet from a store of its own, filled if necessary.

    The store is demo.sqlite in the instance folder, whatever WEIR_DATABASE is: simulated meters are
    never mixed with real ones.
    """
    config = settings()
    folder = Path(config.instance)
    own, usual = (f"sqlite:///{folder / name}" for name in (STORE, "weir.sqlite"))
    if os.environ.get("WEIR_DATABASE") not in (None, own, usual):
        warn(f"the demo uses its own store, {own}; WEIR_DATABASE is ignored")
    os.environ["WEIR_DATABASE"] = own
    for name in ("WEIR_DATABASE_READ", "WEIR_API_KEY"):  # for another store
        os.environ.pop(name, None)
    context.invoke(seed, if_missing=True)
    context.invoke(serve, port=port, demo=True)


# --- Seeding -------------------------------------------------------------------------------------


@group.command()
@click.option("--if-missing", is_flag=True, help="Do nothing if the demo fleet exists.")
@click.option(
    "--into-existing", is_flag=True, help="Add the demo fleet to a store that holds real meters."
)
@click.option("--org", "organization_id", help="Into this organization of an empty store.")
def seed(if_missing: bool, into_existing: bool, organization_id: str | None) -> object:
    """Create sixty simulated meters with thirty days of history, in a new store if necessary."""
    ensure_store(settings().database)
    with opened() as store:
        if organization_id is not None:
            return _into(store, organization_id)
        others = _others(store)
        if others and not into_existing:
            raise UserError(
                f"the store of WEIR_DATABASE holds {_named(others)}: the demo fleet belongs in its"
                " own store (weir demo run); use --into-existing to add it here"
            )
        if if_missing and _complete(store):
            return _answer(store, stored=0)
        _ensure_devices(store)
        _ensure_key(store, settings())
        return _answer(store, stored=_fill(store))


def _into(store: Store, organization_id: str) -> object:
    """Creates the fleet in the same way as the button of the empty fleet page."""
    from api.domain import demo_fleet
    from api.domain.device_changes import Editor
    from api.ingest.demo.keeper import make

    organization(store, organization_id)
    scope = everything(organization_id)
    try:
        demo_fleet.begin(store, scope, Editor(author(), now_ms()))
    except Conflict as error:
        raise UserError(str(error)) from None
    trial = demo_fleet.Trial.of(store, organization_id)
    if trial is not None and not trial.removing and not trial.complete(store):
        with bar("demo fleet", total=demo.ABOUT_ROWS, unit=" readings") as progress:
            make(store, trial, lambda batch: progress.update(batch.read))
    return {"organizationId": organization_id, **demo_fleet.status(store, scope)}


# --- From the sign-in page of an empty store ---


def lacks_demo(store: Store, config: Settings) -> bool:
    """Returns whether the store is empty, or creating its demo fleet stopped before the key."""
    from api.domain.demo_fleet import Trial, is_empty

    try:
        if any(each.id != demo.ORGANIZATION_ID for each in store.organizations()):
            return False
        started = Trial.of(store, demo.ORGANIZATION_ID) is not None
        return not _key_works(store, config) and (started or is_empty(store))
    except WeirError:
        return False


def create_alone(config: Settings) -> None:
    """Requests the demo fleet in an organization of its own, which opens at this machine without
    signing in. A second call changes nothing. Raises WeirError."""
    from api.domain import demo_fleet
    from api.domain.device_changes import Editor
    from api.ingest.file_lock import held
    from api.store.open import open_store

    config.prepare()
    store = open_store(config.database)
    try:
        # Where another worker holds the lock, it creates the fleet.
        with suppress(Held), held(config.demo_key_path.with_suffix(".lock"), "the demo fleet"):
            if not lacks_demo(store, config):
                return
            own = store.organization(demo.ORGANIZATION_ID) or store.create_organization(
                demo.ORGANIZATION_NAME,
                organization_id=demo.ORGANIZATION_ID,
                cost_per_gallon=demo.COST_PER_GALLON,
            )
            editor = Editor("sign-in page", own.created_ms)
            demo_fleet.begin(store, everything(own.id), editor)
            _ensure_key(store, config)
    finally:
        store.close()


def _others(store: Store) -> list[Organization]:
    return [each for each in store.organizations() if each.id != demo.ORGANIZATION_ID]


def _named(organizations: Sequence[Organization]) -> str:
    """Returns ``the organization Acme``, or ``the organization Acme and 3 more``."""
    more = f" and {len(organizations) - 1:,} more" if len(organizations) > 1 else ""
    return f"the organization {organizations[0].name}{more}"


def _complete(store: Store) -> bool:
    progress = store.progress(demo.MARK, demo.ORGANIZATION_ID)
    return progress is not None and progress.complete and _key_works(store, settings())


def _ensure_devices(store: Store) -> None:
    own = store.organization(demo.ORGANIZATION_ID) or _organization(store)
    devices = [demo.device(one, own.created_ms) for one in demo.FLEET]
    store.import_devices(own.id, devices)


def _organization(store: Store) -> Organization:
    from api.domain.demo_fleet import Trial
    from api.ingest.demo.billing import ensure_billing
    from api.ingest.demo.keeper import RULES
    from api.insight.alerts.management import create_rule

    made = store.create_organization(
        demo.ORGANIZATION_NAME,
        organization_id=demo.ORGANIZATION_ID,
        cost_per_gallon=demo.COST_PER_GALLON,
    )
    for rule in RULES:
        create_rule(store, alert_author(store, made.id), rule)
    ensure_billing(store, Trial(made.id, made.created_ms, author()))
    return made


def _ensure_key(store: Store, config: Settings) -> None:
    if not _key_works(store, config):
        made = new_key(
            store,
            demo.ORGANIZATION_ID,
            "Demo dashboard",
            Grant(everything=True),
            role=Role.ADMINISTRATOR,
        )
        write_private(config.demo_key_path, json.dumps(made))


def _key_works(store: Store, config: Settings) -> bool:
    try:
        made: dict[str, str] = json.loads(config.demo_key_path.read_text("utf-8"))
        wanted = made["keyId"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    keys = store.keys()
    return any(key.key_id == wanted and key.revoked_ms is None for key in keys)


def _fill(store: Store) -> int:
    from api.ingest.demo.feed import Fleet, catch_up
    from api.ingest.demo.feed import seed as bring_in

    fleet = Fleet.of(store)
    assert fleet is not None  # its devices were imported above
    before = store.progress(demo.MARK, demo.ORGANIZATION_ID)
    stored = 0
    if before is None or not before.complete:
        with bar("demo fleet", total=demo.ABOUT_ROWS, unit=" readings") as progress:
            stored = bring_in(store, fleet, lambda batch: progress.update(batch.read)).stored
    return stored + catch_up(store, fleet, now_ms()).stored


def _answer(store: Store, *, stored: int) -> dict[str, Any]:
    from api.store.base import DeviceQuery

    devices = store.count_devices(everything(demo.ORGANIZATION_ID), DeviceQuery(active=None))
    return {"organizationId": demo.ORGANIZATION_ID, "devices": devices, "stored": stored}


# --- Removing ------------------------------------------------------------------------------------


@group.command()
def remove() -> object:
    """Delete the demo fleet from the store of WEIR_DATABASE: its meters, readings, keys and embeds.

    Other organizations, and other data of its own organization, stay. While a server runs, its
    writer removes a fleet that was created in the browser; stop the server before removing any
    other.
    """
    trial = _trial()
    if trial is not None:
        return _remove_trial(trial)
    with only_writer(settings()), opened() as store, opened_web() as web:
        if store.organization(demo.ORGANIZATION_ID) is None:
            raise UserError("the store of WEIR_DATABASE has no demo fleet")
        devices = _answer(store, stored=0)["devices"]
        for embed in web.embeds(demo.ORGANIZATION_ID):
            audit = audited(demo.ORGANIZATION_ID, "embed", "revoke", embed.id)
            web.revoke_embed(embed.id, now_ms(), audit)
        audit = audited(demo.ORGANIZATION_ID, "organization", "delete", demo.ORGANIZATION_ID)
        readings = store.delete_organization(demo.ORGANIZATION_ID, audit)
    settings().demo_key_path.unlink(missing_ok=True)
    return {"devices": devices, "readings": readings}


def _trial() -> Trial | None:
    from api.domain.demo_fleet import Trial

    with opened(read_only=True) as store:
        return Trial.anywhere(store)


def _remove_trial(trial: Trial) -> object:
    from api.domain.demo_fleet import CONFIRMATION
    from api.domain.demo_fleet import remove as wish
    from api.domain.device_changes import Editor
    from api.ingest.demo.keeper import remove as carry_out

    with opened() as store, opened_web() as web:
        wish(store, trial.scope, CONFIRMATION, Editor(author(), now_ms()))
        try:
            with only_writer(settings()):
                carry_out(store, web, trial, settings().demo_key_path)
        except Held:
            return {"organizationId": trial.organization_id, "state": "removing"}
    return {"organizationId": trial.organization_id, "state": "none"}


# --- Live ----------------------------------------------------------------------------------------


@group.command()
def feed() -> None:
    """Send the fleet's readings as they fall due until stopped, beginning with missed ones."""
    with opened() as store:
        stop = StopSignal(signal.SIGTERM, signal.SIGINT)
        while not stop.wait(0):
            try:
                _feed(store, stop.wait)
                return
            except StoreMissing:
                raise
            except Unavailable as error:  # a long import has locked the store, or it restarts
                warn(f"{error} Retrying in {RETRY_S:.0f} s.")
                if stop.wait(RETRY_S):
                    return


def _feed(store: Store, wait: Callable[[float], bool]) -> None:
    from api.ingest.demo.feed import Fleet, catch_up, live

    fleet = Fleet.of(store)
    if fleet is None:
        raise UserError("there is no demo fleet: run weir demo seed")
    start = now_ms()
    catch_up(store, fleet, start)
    live(store, fleet, start, wait)
