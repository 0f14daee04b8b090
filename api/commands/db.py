"""`weir db` and `weir rollups`: the store's schema, and the verification of its rollups."""

from __future__ import annotations

import click

from api.commands.command import Group, Outcome
from api.commands.store_access import opened, settings, upgrade_store

group = Group("db", help="Schema version of the store.")
rollups = Group("rollups", help="The pre-built aggregates.")


@group.command()
def upgrade() -> object:
    """Create the store, or bring its schema up to date."""
    before, now = upgrade_store(settings().database)
    return {"before": before, "now": now}


@group.command()
def check() -> object:
    """Read every page of an embedded store and list the damage.

    A store that was marked as damaged accepts readings again once a check finds nothing.
    """
    with opened(read_only=True) as store:
        wrong = store.check_pages()
    return Outcome({"sound": not wrong, "wrong": wrong}, int(bool(wrong)))


@group.command()
def partition() -> object:
    """Partition raw readings by month (Postgres), so that `readings prune` drops whole tables.

    Existing rows stay where they are, as one partition. Run it once; a running writer notices
    within a minute.
    """
    with opened() as store:
        return {"parts": store.partition()}


@group.command()
@click.option(
    "--shards",
    type=click.IntRange(1, 1024),
    help="Number of shards. Default: one for each core of the workers, or four for each worker"
    " whose cores aren't known.",
)
def distribute(shards: int | None) -> object:
    """Distribute the store over the workers of a Citus cluster, by device.

    Run it once, on the coordinator's database. Tables already distributed stay as they are. Later
    upgrades distribute their new tables themselves.
    """
    with opened() as store:
        return {"spread": store.distribute(shards)}


@rollups.command()
@click.option("--repair", is_flag=True, help="Rebuild the rollups that are wrong.")
def verify(repair: bool) -> object:
    """Compare every rollup with a recomputation from the raw readings."""
    with opened(read_only=not repair) as store:
        verdict = store.verify(repair=repair)
    failed = verdict.wrong > 0 and not repair
    return Outcome({"buckets": verdict.buckets, "wrong": verdict.wrong}, int(failed))
