"""The local socket between web workers and the writer process."""

from __future__ import annotations

import socket
import stat
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import framing
from api.errors import Busy, Internal, Unavailable
from api.ingest.decode import Rejection
from api.ingest.ipc import IpcClient, IpcServer, messages
from api.ingest.ipc.client import MOST_AT_ONCE
from api.ingest.submission import RowResult, Submission
from api.ingest.writer import Writer
from api.store.base import RegisterRow, Span, Store
from tests.ingest.test_writer import Moody, eventually, sent
from tests.store import strategies
from tests.store.fleet import NOON_MS, new_meters, reading, steady
from tests.store.test_writing import rows_of


class WriterHouse:
    """A writer with its socket server in one process; the server has a thread per connection."""

    def __init__(self, store: Any, folder: Path, **options: Any) -> None:
        self.path = folder / "writer.sock"
        self.writer = Writer(store, **options)
        self.door = IpcServer(self.writer, self.path)
        self.door.start()
        self.knock = IpcClient(self.path)

    def close(self) -> None:
        self.door.stop()
        self.knock.close()
        self.writer.close()


@pytest.fixture
def house(sqlite_store: Store, tmp_path: Path) -> Iterator[WriterHouse]:
    house = WriterHouse(sqlite_store, tmp_path)
    yield house
    house.close()


# --- Requests and replies ------------------------------------------------------------------------


def test_rows_are_stored_once_the_reply_arrives(house: WriterHouse, sqlite_store: Store) -> None:
    [meter] = new_meters(sqlite_store, 1)
    row, refused = reading(meter, NOON_MS, quality=1), Rejection("no device", "\ud800")
    submission = Submission("acme", "http", [row, refused, row], {1: "\udfff{}"})
    assert house.knock(submission).row_results == [
        RowResult.STORED,
        RowResult.REFUSED,
        RowResult.REPEATED,
    ]
    assert len(rows_of(sqlite_store, meter)) == 1
    [stored] = sqlite_store.refusals("acme")
    assert (stored.device, stored.sample) == ("?", "?{}")


@given(drawn=strategies.readings, undated=st.frozensets(st.integers(0, 40)))
def test_numbers_and_marks_arrive_unchanged(drawn: list[Any], undated: frozenset[int]) -> None:
    rows = [(7, instant, *values) for instant, values in drawn]
    submission = Submission("acme", "http", rows, {}, undated)  # pyright: ignore[reportArgumentType]
    assert messages.to_submission(messages.of_submission(submission)) == submission


def test_a_register_reaches_the_writer_whole(house: WriterHouse, sqlite_store: Store) -> None:
    [meter] = new_meters(sqlite_store, 1)
    row = RegisterRow(meter.key, NOON_MS, 12.5, "m3", signal_strength=-80.0)
    submission = Submission("acme", "http", [row])
    assert messages.to_submission(messages.of_submission(submission)) == submission
    assert house.knock(submission).row_results == [RowResult.STORED]
    assert sqlite_store.count_registers(meter, Span()) == 1


def test_concurrent_workers_get_their_own_replies(house: WriterHouse, sqlite_store: Store) -> None:
    meters = new_meters(sqlite_store, 2 * MOST_AT_ONCE)
    workers = (house.knock, IpcClient(house.path))

    def work(number: int) -> None:
        rows = steady(meters[number], 40)
        for index, row in enumerate(rows):
            row_results = workers[number % 2](sent(row, *rows[:index])).row_results
            assert row_results == [RowResult.STORED] + [RowResult.REPEATED] * index

    with ThreadPoolExecutor(len(meters)) as pool:
        list(pool.map(work, range(len(meters))))
    assert [len(rows_of(sqlite_store, meter)) for meter in meters] == [40] * len(meters)
    workers[1].close()


@pytest.mark.parametrize("error", [Busy("full", retry_after_s=1.0), Unavailable("gone")])
def test_errors_arrive_as_raised(error: Busy | Unavailable) -> None:
    with pytest.raises(type(error), match=error.detail) as raised:
        messages.to_receipt(messages.of_error(error))
    assert raised.value.retry_after_s == error.retry_after_s


def test_an_unstorable_row_is_an_internal_error(sqlite_store: Store, tmp_path: Path) -> None:
    [meter] = new_meters(sqlite_store, 1)
    house = WriterHouse(Moody(sqlite_store, ValueError("poison")), tmp_path)
    with pytest.raises(Internal):
        house.knock(sent(*steady(meter, 1)))
    assert house.knock(sent(*steady(meter, 1))).row_results == [RowResult.STORED]
    house.close()


# --- Connections ---------------------------------------------------------------------------------


def test_without_a_writer_there_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="No writer") as raised:
        IpcClient(tmp_path / "writer.sock")(sent())
    assert raised.value.retry_after_s


def test_a_client_reconnects_to_a_new_writer(sqlite_store: Store, tmp_path: Path) -> None:
    first = WriterHouse(sqlite_store, tmp_path)
    assert first.knock(sent()).row_results == []
    first.close()
    with pytest.raises(Unavailable):
        first.knock(sent())
    with socket.socket(socket.AF_UNIX) as dead:  # which left its socket file
        dead.bind(str(tmp_path / "writer.sock"))
    second = WriterHouse(sqlite_store, tmp_path)
    assert first.knock(sent()).row_results == []
    first.knock.close()
    second.close()


def test_running_requests_get_replies_before_the_socket_closes(
    sqlite_store: Store, tmp_path: Path
) -> None:
    [meter] = new_meters(sqlite_store, 1)
    begin = threading.Event()
    house = WriterHouse(Moody(sqlite_store, begin), tmp_path)
    with ThreadPoolExecutor(1) as pool:
        requests = pool.submit(house.knock, sent(*steady(meter, 3)))
        eventually(lambda: house.writer.committing_s)
        threading.Timer(0.1, begin.set).start()
        house.close()
        assert requests.result(10).row_results == [RowResult.STORED] * 3
    house.knock.close()


def test_while_the_store_is_blocked_all_but_a_few_are_refused_at_once(
    sqlite_store: Store, tmp_path: Path
) -> None:
    """Fewer threads wait than a web worker has."""
    [meter] = new_meters(sqlite_store, 1)
    begin = threading.Event()
    house = WriterHouse(Moody(sqlite_store, begin), tmp_path)
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        requests = [pool.submit(house.knock, sent(*steady(meter, 3))) for _ in range(MOST_AT_ONCE)]
        eventually(lambda: len(house.door._connections) == MOST_AT_ONCE)
        with pytest.raises(Busy) as busy:
            house.knock(sent(*steady(meter, 3)))
        assert busy.value.retry_after_s
        eventually(lambda: house.writer.stalled)
        stranger = IpcClient(house.path)  # of another worker
        with pytest.raises(Unavailable, match="too slow"):
            stranger(sent(*steady(meter, 3)))
        begin.set()
        row_results = [each.result(10).row_results for each in requests]
    assert sorted(row_results) == [[RowResult.REPEATED] * 3] * (MOST_AT_ONCE - 1) + [
        [RowResult.STORED] * 3
    ]
    stranger.close()
    house.close()


def test_a_deleted_socket_is_made_again(house: WriterHouse) -> None:
    assert house.knock(sent()).row_results == []
    house.path.unlink()
    eventually(house.path.exists)
    another = IpcClient(house.path)
    assert another(sent()).row_results == []
    another.close()


def test_a_disconnected_worker_does_not_affect_others(
    house: WriterHouse, sqlite_store: Store
) -> None:
    new_meters(sqlite_store, 1)
    for rubbish in (b"", b"\0\0", struct.pack("!I", 1 << 31), struct.pack("!I", 9) + b"{"):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(house.path))
            stranger.sendall(rubbish)
    assert house.knock(sent()).row_results == []


def test_only_its_owner_may_connect_at_any_path_length(sqlite_store: Store, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    house = WriterHouse(sqlite_store, deep)
    assert stat.S_IMODE(house.path.stat().st_mode) == 0o600
    assert house.knock(sent()).row_results == []
    house.close()
    assert not house.path.exists()


def test_a_frame_is_bounded() -> None:
    here, there = socket.socketpair()
    with here, there:
        with pytest.raises(framing.BrokenFrame):
            framing.send(here, bytes(framing.LONGEST + 1))
        here.sendall(struct.pack("!I", framing.LONGEST + 1))
        with pytest.raises(framing.BrokenFrame):
            framing.receive(there)
