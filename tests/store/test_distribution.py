"""Spreading a store over a Citus cluster. That everything else works there as well is what the
rest of this folder and the contract show, where WEIR_TEST_CITUS names a coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from api.catalog import HOUR_MS, RAW, STORED
from api.errors import UserError
from api.store import distribution, migrations
from api.store.base import (
    DISTRIBUTED_ROWS_A_COMMIT,
    ROWS_A_COMMIT,
    LatestQuery,
    Span,
    Store,
)
from api.store.distribution import REFERENCES
from api.store.open import open_store, open_web_store
from api.store.sql import distribution as sql
from api.store.sql.latest import latest
from api.store.sql.query import Query
from api.store.tables import DISTRIBUTED, SMALL_TABLES, TABLES
from api.store.web import migrations as web_migrations
from tests import citus
from tests.store.fleet import NOON_MS, new_meters, steady

AN_HOUR_AND_EDGES = Span(NOON_MS - 1, NOON_MS + HOUR_MS + 1)


@pytest.mark.parametrize(
    ("engine", "words"), [("sqlite", "Postgres with Citus"), ("postgres", "no Citus")]
)
def test_a_store_without_workers_says_so_and_stays_as_it_is(
    request: pytest.FixtureRequest, engine: str, words: str
) -> None:
    store = open_store(request.getfixturevalue(f"{engine}_url"))
    store.upgrade()
    (meter,) = new_meters(store, 1)
    store.write(steady(meter, 5))
    with pytest.raises(UserError, match=words):
        store.distribute(4)
    assert store.count(meter, RAW, Span()) == 5
    store.close()


def test_every_small_table_is_one_that_workers_get_a_copy_of() -> None:
    versions = {migrations.VERSION_TABLE, web_migrations.VERSION_TABLE}
    assert {table.name for table in SMALL_TABLES} | versions <= set(REFERENCES)
    assert not {table.name for table in DISTRIBUTED} & set(REFERENCES)
    assert {table.name for table in TABLES} <= {t.name for t in DISTRIBUTED} | set(REFERENCES)


class Full:
    """As far as it is asked: a coordinator that takes no shards, and no workers."""

    def fetch(self, query: Query) -> list[tuple[object, ...]]:
        return {sql.extension(): [(1,)], sql.nodes(): [(0,)]}[query]


def test_a_cluster_without_room_says_what_it_needs() -> None:
    with pytest.raises(UserError, match="citus_add_node"):
        distribution.spread(Full())  # pyright: ignore[reportArgumentType]


class Nodes(Full):
    """A coordinator of so many nodes, which notes in how many shards it is told to spread."""

    def __init__(self, nodes: int) -> None:
        self.nodes, self.told = nodes, list[Query]()

    def fetch(self, query: Query) -> list[tuple[object, ...]]:
        return {sql.extension(): [(1,)], sql.nodes(): [(self.nodes,)]}.get(query, [])

    def run(self, query: Query) -> None:
        self.told.append(query)

    def lock_directory(self) -> None:
        pass

    @contextmanager
    def transaction(self) -> Iterator[Nodes]:
        yield self


@pytest.mark.parametrize(("nodes", "asked", "shards"), [(1, None, 4), (2, None, 8), (2, 3, 3)])
def test_each_node_gets_four_shards_unless_it_is_said_otherwise(
    nodes: int, asked: int | None, shards: int
) -> None:
    cluster = Nodes(nodes)
    distribution.spread(cluster, asked)  # pyright: ignore[reportArgumentType]
    assert cluster.told[0] == sql.distribute(DISTRIBUTED[0], shards)[0]


# --- On a real cluster ---------------------------------------------------------------------------


def colocations(store: Any) -> set[int]:
    """The groups that this schema's distributed tables share their places in."""
    return {
        row[0]
        for row in store.fetch(
            Query(
                "SELECT p.colocationid FROM pg_dist_partition AS p"
                " JOIN pg_class AS c ON c.oid = p.logicalrelid"
                " WHERE c.relnamespace = current_schema()::regnamespace AND p.partmethod = 'h'"
            )
        )
    }


def test_what_a_store_holds_goes_with_it(cluster_url: str) -> None:
    store = open_store(cluster_url)
    store.upgrade()
    meters = new_meters(store, 3)
    for meter in meters:
        store.write(steady(meter, 200))
    before = store.verify()
    assert set(store.distribute(citus.SHARDS)) >= {table.name for table in TABLES}
    assert [store.count(meter, RAW, Span()) for meter in meters] == [200] * 3
    assert store.verify() == before
    assert before.wrong == 0
    store.close()


def test_a_commit_takes_more_rows_once_the_store_is_distributed(cluster_url: str) -> None:
    store: Any = open_store(cluster_url)
    store.upgrade()
    assert store.rows_a_commit() == ROWS_A_COMMIT
    store.distribute()
    store._looked_s = float("-inf")  # a minute later
    assert store.rows_a_commit() == DISTRIBUTED_ROWS_A_COMMIT
    store.close()


def test_one_device_lies_on_one_worker(cluster_url: str) -> None:
    store: Any = citus.made(cluster_url)
    kinds = dict(store.fetch(sql.spread()))
    assert {name for name, kind in kinds.items() if kind == "h"} == {t.name for t in DISTRIBUTED}
    assert len(colocations(store)) == 1
    store.close()


def test_a_second_time_and_an_upgrade_change_nothing(cluster_url: str) -> None:
    store: Store = citus.made(cluster_url)
    assert store.distribute(citus.SHARDS) == []
    assert store.upgrade() == (migrations.CURRENT, migrations.CURRENT)
    store.close()


def test_tables_that_come_later_are_spread_by_their_upgrade(cluster_url: str) -> None:
    citus.made(cluster_url).close()
    web: Any = open_web_store(cluster_url)
    web.upgrade()
    kinds = dict(web.fetch(sql.spread()))
    assert (kinds["embed"], kinds[web_migrations.VERSION_TABLE]) == ("n", "n")
    web.close()


def test_latest_of_many_is_one_round_to_the_workers(cluster_url: str) -> None:
    store: Any = citus.made(cluster_url)
    asked = latest(range(1, 51), LatestQuery(AN_HOUR_AND_EDGES, STORED[0], STORED[-1], last=True))
    assert asked is not None
    plan = "\n".join(row[0] for row in store.fetch(Query(f"EXPLAIN {asked.sql}", asked.params)))
    assert "Task Count" in plan
    assert "Subplan" not in plan
    store.close()
