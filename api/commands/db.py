"""`flask db` and `flask rollups`: the store's schema, and whether its rollups are right."""

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
    """Read every page of an embedded store and say what is wrong.

    A store that was found damaged takes readings again once a check finds nothing.
    """
    with opened(read_only=True) as store:
        wrong = store.check_pages()
    return Outcome({"sound": not wrong, "wrong": wrong}, int(bool(wrong)))


@group.command()
def partition() -> object:
    """Lay raw readings in monthly parts (Postgres), so that `readings prune` drops whole tables.

    What is there stays where it is, as one part. Once; a running writer notices within a minute.
    """
    with opened() as store:
        return {"parts": store.partition()}


@group.command()
@click.option(
    "--shards",
    type=click.IntRange(1, 1024),
    help="Number of shards. Default: one for each core of the workers, or four for each worker that"
    " doesn't let itself be asked.",
)
def distribute(shards: int | None) -> object:
    """Spread the store over the workers of a Citus cluster, by device.

    Run on the coordinator's database, once; what was spread before stays as it is. Later upgrades
    spread what they add by themselves.
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
