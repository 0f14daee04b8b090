"""Statements that distribute tables over the workers of a Citus cluster."""

from __future__ import annotations

from typing import Final

from api.store.query import Query
from api.store.tables import TIME_SERIES, Table

BY: Final = "device_id"  # first part of every key of the time series
_ANCHOR = TIME_SERIES[0]
_CORES: Final = (
    "SELECT pg_read_file('/proc/sys/kernel/random/boot_id') || ' ' || COUNT(*)"
    " FROM regexp_matches(pg_read_file('/proc/cpuinfo'), '^processor', 'gn')"
)


def extension() -> Query:
    """Returns a row where the database has the extension."""
    return Query("SELECT 1 FROM pg_extension WHERE extname = 'citus'")


def nodes() -> Query:
    """Returns (number of nodes that hold shards). A coordinator without any node registers itself
    as one that does."""
    return Query(
        "SELECT CASE WHEN COUNT(*) = 0 THEN 1 ELSE COUNT(*) FILTER (WHERE shouldhaveshards) END"
        " FROM pg_dist_node WHERE noderole = 'primary'"
    )


def cores() -> Query:
    """Returns ("<machine> <its cores>", or null where the role may not read it) of each node that
    holds shards; no row for a coordinator without any node. Nodes on one machine give the same
    name."""
    return Query(
        "SELECT CASE WHEN r.success THEN r.result END FROM pg_dist_node AS n"
        " JOIN run_command_on_all_nodes(?) AS r ON r.nodeid = n.nodeid"
        " WHERE n.noderole = 'primary' AND n.shouldhaveshards",
        (_CORES,),
    )


def spread() -> Query:
    """Returns (table, 'h' where distributed by hash or 'n' for a reference table) of this
    schema."""
    return Query(
        "SELECT c.relname::text, p.partmethod::text FROM pg_dist_partition AS p"
        " JOIN pg_class AS c ON c.oid = p.logicalrelid"
        " WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition"
        " AND (p.partmethod = 'h' OR p.repmodel = 't')"
    )


def tables() -> Query:
    """Returns (table) for each table of this schema, distributed or not."""
    return Query(
        "SELECT c.relname::text FROM pg_class AS c"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')"
    )


def distribute(table: Table, shards: int) -> list[Query]:
    """Distributes a table of the time series by device. All tables are colocated, so that the rows
    of one device are on one worker."""
    if table is _ANCHOR:
        create = Query(
            "SELECT create_distributed_table(?, ?, shard_count => ?::int, colocate_with => 'none')",
            (table.name, BY, shards),
        )
    else:
        create = Query(
            "SELECT create_distributed_table(?, ?, colocate_with => ?)",
            (table.name, BY, _ANCHOR.name),
        )
    return [create, _forget_local(table.name)]


def refer(table: str) -> list[Query]:
    """Copies a small table to every worker; two-phase commits keep the copies equal."""
    return [Query("SELECT create_reference_table(?)", (table,)), _forget_local(table)]


def _forget_local(table: str) -> Query:
    """Deletes the local rows that remain, unused, after a table was distributed."""
    return Query("SELECT truncate_local_data_after_distributing_table(?)", (table,))
