"""What a Postgres server knows of being a standby."""

from __future__ import annotations

from api.store.sql.query import Query


def standing() -> Query:
    """(in recovery, receiving from its primary, seconds of what was replayed last behind now).

    A standby that has replayed all it was sent is not behind, however long ago the last write was;
    but one that hears nothing from its primary can't know, so its age counts then as well.
    """
    return Query(
        "SELECT pg_is_in_recovery(), r.receiving, CASE"
        " WHEN r.receiving AND pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0.0"
        " ELSE EXTRACT(EPOCH FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END"
        "::double precision"
        " FROM (SELECT EXISTS (SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming')"
        " AS receiving) AS r"
    )
