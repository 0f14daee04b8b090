"""Distributing a store over a Citus cluster. The rest of this folder and the contract run there
too, if WEIR_TEST_CITUS names a coordinator."""

from __future__ import annotations

import re
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
from api.store.postgres import DIALECT
from api.store.query import Query
from api.store.sql import distribution as sql
from api.store.sql import ingest as ingest_sql
from api.store.sql import rollups
from api.store.sql.latest import latest
from api.store.tables import DISTRIBUTED, READING, SMALL_TABLES, TABLES
from api.store.web import migrations as web_migrations
from tests import citus
from tests.store.fleet import NOON_MS, new_meters, steady
from tests.tables import cases

AN_HOUR_AND_EDGES = Span(NOON_MS - 1, NOON_MS + HOUR_MS + 1)


@pytest.mark.parametrize(
    ("engine", "words"), [("sqlite", "Postgres with Citus"), ("postgres", "no Citus")]
)
def test_a_store_without_workers_is_refused_and_unchanged(
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


def test_every_small_table_is_a_reference_table() -> None:
    versions = {migrations.VERSION_TABLE, web_migrations.VERSION_TABLE}
    assert {table.name for table in SMALL_TABLES} | versions <= set(REFERENCES)
    assert not {table.name for table in DISTRIBUTED} & set(REFERENCES)
    assert {table.name for table in TABLES} <= {t.name for t in DISTRIBUTED} | set(REFERENCES)


class Full:
    """A coordinator without shards and without workers, as far as it is asked."""

    def fetch(self, query: Query) -> list[Any]:
        return {sql.extension(): [(1,)], sql.nodes(): [(0,)]}[query]


def test_a_cluster_without_workers_names_what_it_needs() -> None:
    with pytest.raises(UserError, match="citus_add_node"):
        distribution.spread(Full())  # pyright: ignore[reportArgumentType]


@cases(
    ("nodes", "texts", "shards"),
    [
        (2, ["one 8", "other 16"], 24),
        (2, ["one\n 4", "one\n 4"], 4),  # two nodes on one machine share its cores
        (3, ["one 2", "one 2", "one 2"], 3),
        (2, ["one 8", None], 8 + distribution.UNKNOWN_CORES),
        (1, [], distribution.UNKNOWN_CORES),
    ],
)
def test_there_is_a_shard_for_each_core(nodes: int, texts: list[str | None], shards: int) -> None:
    assert distribution.shards_for(nodes, texts) == shards


# --- On a real cluster ---------------------------------------------------------------------------


def shards(store: Any) -> int:
    """The number of shards of the readings."""
    count = "SELECT COUNT(*) FROM pg_dist_shard WHERE logicalrelid = ?::text::regclass"
    return store.fetch(Query(count, (READING.name,)))[0][0]


def plan(store: Any, query: Query) -> str:
    """A statement's plan, in a transaction that changes nothing."""
    with store.transaction() as transaction:
        return "\n".join(
            r[0] for r in transaction.fetch(Query(f"EXPLAIN {query.sql}", query.params))
        )


def colocations(store: Any) -> set[int]:
    """The colocation groups of this schema's distributed tables."""
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


def test_a_stores_rows_are_distributed_with_it(cluster_url: str) -> None:
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
    assert store.rows_a_commit() == DISTRIBUTED_ROWS_A_COMMIT
    store.close()


def test_the_default_is_a_shard_for_each_core(cluster_url: str) -> None:
    store: Any = open_store(cluster_url)
    store.upgrade()
    messages = [each for (each,) in store.fetch(sql.cores())]
    [(nodes,)] = store.fetch(sql.nodes())
    store.distribute()
    assert shards(store) == distribution.shards_for(nodes, messages)
    store.close()


def test_a_batch_of_one_device_uses_one_shard(cluster_url: str) -> None:
    store: Any = citus.made(cluster_url)
    hour = (NOON_MS, NOON_MS + HOUR_MS)
    for keys, tasks in (([7], 1), (range(1, 101), citus.SHARDS)):
        ranges = [(key, *hour) for key in keys]
        for query in (
            ingest_sql.last_hours(DIALECT, ranges),
            ingest_sql.stored_at(DIALECT, [(key, NOON_MS) for key in keys]),
            *(rollups.recompute(DIALECT, resolution, ranges) for resolution in STORED),
            rollups.recompute(DIALECT, STORED[0], ranges, single=True),
            rollups.recount(DIALECT, ranges),
        ):
            assert f"Task Count: {tasks}\n" in plan(store, query)
    store.close()


def test_workers_have_the_sessions_planner_settings(cluster_url: str) -> None:
    """Otherwise a worker with few readings scans and hashes its whole shard."""
    store: Any = citus.made(cluster_url)
    ranges = [(key, NOON_MS, NOON_MS + HOUR_MS) for key in range(1, 1_001)]
    planned = plan(store, rollups.recompute(DIALECT, STORED[0], ranges))
    assert "Nested Loop" in planned
    assert not re.search("(Hash|Merge) Join|Seq Scan|Bitmap", planned)
    store.close()


def test_one_device_lies_on_one_worker(cluster_url: str) -> None:
    store: Any = citus.made(cluster_url)
    kinds = dict(store.fetch(sql.spread()))
    assert {name for name, kind in kinds.items() if kind == "h"} == {t.name for t in DISTRIBUTED}
    assert len(colocations(store)) == 1
    store.close()


def test_distributing_again_and_an_upgrade_change_nothing(cluster_url: str) -> None:
    store: Store = citus.made(cluster_url)
    assert store.distribute(citus.SHARDS) == []
    assert store.upgrade() == (migrations.CURRENT, migrations.CURRENT)
    store.close()


def test_later_tables_are_distributed_by_their_upgrade(cluster_url: str) -> None:
    citus.made(cluster_url).close()
    web: Any = open_web_store(cluster_url)
    web.upgrade()
    kinds = dict(web.fetch(sql.spread()))
    assert (kinds["embed"], kinds[web_migrations.VERSION_TABLE]) == ("n", "n")
    web.close()


def test_latest_of_many_is_one_query_to_the_workers(cluster_url: str) -> None:
    store: Any = citus.made(cluster_url)
    requests = latest(
        range(1, 51), LatestQuery(AN_HOUR_AND_EDGES, STORED[0], STORED[-1], last=True)
    )
    assert requests is not None
    plan = "\n".join(
        row[0] for row in store.fetch(Query(f"EXPLAIN {requests.sql}", requests.params))
    )
    assert "Task Count" in plan
    assert "Subplan" not in plan
    store.close()
