"""`flask db` and `flask rollups`: the store's schema, and whether its rollups are right."""

from __future__ import annotations

import click

from api.commands.frame import Group, Outcome, opened, settings, upgrade_store

group = Group("db", help="The store's schema.")
rollups = Group("rollups", help="The pre-built aggregates.")


@group.command()
def upgrade() -> object:
    """Create the store, or bring its schema up to date."""
    before, now = upgrade_store(settings().database)
    return {"before": before, "now": now}


@rollups.command()
@click.option("--repair", is_flag=True, help="Rebuild what is wrong.")
def verify(repair: bool) -> object:
    """Compare every rollup with a recomputation from the raw readings."""
    with opened(read_only=not repair) as store:
        verdict = store.verify(repair=repair)
    failed = verdict.wrong > 0 and not repair
    return Outcome({"buckets": verdict.buckets, "wrong": verdict.wrong}, int(failed))
