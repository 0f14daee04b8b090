"""The replication state of a Postgres server."""

from __future__ import annotations

from api.store.query import Query


def status() -> Query:
    """Returns (in recovery, receiving from its primary, age of the last replayed write in seconds).

    A standby that has replayed everything it received isn't behind, however old the last write is.
    Without a connection to its primary it can't know, so that age counts as its lag.
    """
    return Query(
        "SELECT pg_is_in_recovery(), r.receiving, CASE"
        " WHEN r.receiving AND pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0.0"
        " ELSE EXTRACT(EPOCH FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END"
        "::double precision"
        " FROM (SELECT EXISTS (SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming')"
        " AS receiving) AS r"
    )
