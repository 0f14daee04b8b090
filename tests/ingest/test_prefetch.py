"""A second process that works ahead: the same items, the same errors, and no process left
behind."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator

import pytest

from api.errors import UserError
from api.ingest import prefetch as module
from api.ingest.prefetch import prefetched


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_processors", lambda: 2)


def numbers(end: int) -> Iterator[tuple[int, int]]:
    for number in range(end):
        yield number, os.getpid()


def failing(error: Exception) -> Iterator[int]:
    yield 1
    raise error


def dying() -> Iterator[int]:
    yield 1
    os._exit(3)


def no_children_left() -> bool:
    deadline = time.monotonic() + 20
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not multiprocessing.active_children()


def test_the_items_are_the_same_and_made_in_another_process() -> None:
    results = list(prefetched(numbers, 50))
    assert [number for number, _ in results] == list(range(50))
    assert {pid for _, pid in results}.isdisjoint({os.getpid()})
    assert no_children_left()


@pytest.mark.parametrize("error", [UserError("a line"), ValueError("a bug")], ids=repr)
def test_an_error_is_raised_in_order(error: Exception) -> None:
    items = prefetched(failing, error)
    assert next(items) == 1
    with pytest.raises(type(error), match=str(error)):
        next(items)
    assert no_children_left()


def test_a_process_that_dies_is_an_error() -> None:
    items = prefetched(dying)
    assert next(items) == 1
    with pytest.raises(UserError, match="ended unexpectedly"):
        next(items)


def test_stopping_early_leaves_no_process() -> None:
    items = prefetched(numbers, 10**9)
    assert next(items)[0] == 0
    items.close()
    assert no_children_left()


def test_with_one_processor_there_is_no_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_processors", lambda: 1)
    assert {pid for _, pid in prefetched(numbers, 3)} == {os.getpid()}
