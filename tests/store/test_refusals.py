"""Refused rows: one row for each cause, bounded in number and length, all counted."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from api.store.base import Refusal, Store
from api.store.refusals import (
    MAX_NAME,
    MAX_SAMPLE,
    OTHERS,
    cause,
    merged,
    within_cap,
)
from tests.store.fleet import NOON_MS

LETTER = Refusal("acme", "file.csv", "unknown device", "S-1", "S-1,…", NOON_MS)

letters = st.builds(
    Refusal,
    organization_id=st.just("acme"),
    source=st.sampled_from(("mqtt", "file")),
    reason=st.sampled_from(("a", "b")),
    device=st.sampled_from([f"S-{index}" for index in range(6)]),
    sample=st.text(max_size=3),
    at_ms=st.integers(0, 9),
    count=st.integers(1, 5),
)


@given(batches=st.lists(st.lists(letters, max_size=12), max_size=4), cap=st.integers(0, 8))
def test_the_number_of_rows_is_limited_and_all_are_counted(
    batches: list[list[Refusal]], cap: int
) -> None:
    stored: dict[tuple[str, str, str], int] = {}
    for batch in batches:
        for letter in within_cap(merged(batch), set(stored), cap):
            stored[cause(letter)] = stored.get(cause(letter), 0) + letter.count
    assert sum(stored.values()) == sum(letter.count for batch in batches for letter in batch)
    assert sum(1 for _, _, device in stored if device != OTHERS) <= cap


def test_texts_are_cut_and_cleaned() -> None:
    (cut,) = merged([replace(LETTER, device="\x00\ud800" + "d" * 999, sample="s" * 99_999)])
    assert cut.device.startswith("\ufffd?ddd")
    assert (len(cut.device), len(cut.sample)) == (MAX_NAME, MAX_SAMPLE)


def test_a_cause_is_one_row_with_a_count_and_its_last_sample(empty_store: Store) -> None:
    first = [LETTER, replace(LETTER, at_ms=NOON_MS + 5, sample="newer", count=3)]
    empty_store.write([], refusals=first)
    empty_store.write([], refusals=[replace(LETTER, at_ms=NOON_MS - 5, sample="late")])
    (stored,) = empty_store.refusals("acme")
    assert (stored.count, stored.sample) == (5, "late")
    assert (stored.first_seen_ms, stored.last_seen_ms) == (NOON_MS - 5, NOON_MS + 5)


def test_refusals_are_listed_newest_first_and_by_organization(empty_store: Store) -> None:
    empty_store.write(
        [],
        refusals=[
            LETTER,
            replace(LETTER, reason="not JSON", at_ms=NOON_MS + 2),
            replace(LETTER, organization_id="other", at_ms=NOON_MS + 1),
        ],
    )
    assert [r.last_seen_ms for r in empty_store.refusals()] == [NOON_MS + 2, NOON_MS + 1, NOON_MS]
    assert [r.reason for r in empty_store.refusals("acme")] == ["not JSON", "unknown device"]
    assert empty_store.refusals("nobody") == []


def test_a_storm_of_unknown_names_stays_bounded(empty_store: Store) -> None:
    for start in range(0, 12_000, 4_000):
        storm = [replace(LETTER, device=f"S-{start + index}") for index in range(4_000)]
        empty_store.write([], refusals=storm)
    stored = empty_store.refusals("acme")
    assert len(stored) == 5_001
    assert sum(row.count for row in stored) == 12_000
