"""Distributes a Postgres database over the workers of a Citus cluster, by device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.errors import UserError
from api.store import migrations
from api.store.dialect_interface import Seam, Transaction
from api.store.sql import distribution as sql
from api.store.tables import DISTRIBUTED, SMALL_TABLES, TIME_SERIES
from api.store.web import migrations as web_migrations
from api.store.web.tables import WEB_TABLES

UNKNOWN_CORES: Final = 4
"""Assumed for a node that doesn't report its cores."""

REFERENCES: Final = (
    *(table.name for table in (*SMALL_TABLES, *WEB_TABLES)),
    migrations.VERSION_TABLE,
    web_migrations.VERSION_TABLE,
)
"""Tables copied to every worker."""


def is_spread(store: Seam) -> bool:
    """Whether the time series is distributed."""
    if not store.fetch(sql.extension()):
        return False
    methods = {name: kind for name, kind in store.fetch(sql.spread())}
    return TIME_SERIES[0].name in methods


def spread(store: Seam, shards: int | None = None) -> list[str]:
    """Distributes the time series by device and makes the small tables reference tables, in one
    transaction. Existing data is moved too. Returns the names of the tables that weren't
    distributed before.

    ``shards``: default one for each core of the nodes that hold shards. Raises UserError where the
    database or its cluster can't.
    """
    if not store.fetch(sql.extension()):
        raise UserError(
            "this database has no Citus: CREATE EXTENSION citus, on the coordinator and on each"
            " worker, and add the workers with citus_add_node"
        )
    [(nodes,)] = store.fetch(sql.nodes())
    if not nodes:
        raise UserError(
            "no node of this cluster can hold shards: add workers with citus_add_node, or let"
            " the coordinator hold them with citus_set_node_property(…, 'shouldhaveshards', true)"
        )
    shards = shards or shards_for(nodes, [reply for (reply,) in store.fetch(sql.cores())])
    with store.transaction() as transaction:
        transaction.lock_directory()
        done = {name for name, _ in transaction.fetch(sql.spread())}
        there = {name for (name,) in transaction.fetch(sql.tables())}
        return [
            *_spread_series(transaction, done, shards),
            *_refer(transaction, [name for name in REFERENCES if name in there - done]),
        ]


def shards_for(nodes: int, replies: Sequence[str | None]) -> int:
    """Returns one shard for each core, and at least one for each node. ``replies``: see
    `sql.cores`. Each statement of a commit goes to every shard, which searches for all devices of
    the batch: more shards than cores cost work and gain nothing."""
    cores_of = dict(each.split() for each in replies if each)
    unknown = nodes - sum(1 for each in replies if each)
    return max(nodes, sum(map(int, cores_of.values())) + unknown * UNKNOWN_CORES)


def _spread_series(transaction: Transaction, done: set[str], shards: int) -> list[str]:
    missing = [table for table in DISTRIBUTED if table.name not in done]
    for table in missing:
        for query in sql.distribute(table, shards):
            transaction.run(query)
    return [table.name for table in missing]


def _refer(transaction: Transaction, names: Sequence[str]) -> list[str]:
    for name in names:
        for query in sql.refer(name):
            transaction.run(query)
    return list(names)
