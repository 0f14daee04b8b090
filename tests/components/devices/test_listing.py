"""The device list: its address, and the grid's requests for rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.metering.status import State
from api.store.sql.insight import ORDERS
from components.devices.columns import COLUMNS, USUAL
from components.devices.queries import (
    BLOCK,
    CONTEXT,
    LONGEST_SEARCH,
    SORTS,
    STATUSES,
    Listing,
    Question,
    list_texts,
    read_listing,
    read_request,
    write_listing,
)
from components.units import UNITS
from tests.tables import cases

WORDS = st.lists(st.text("abcÅ-7:.", min_size=1, max_size=8), max_size=4).map(" ".join)
LISTINGS = st.builds(
    Listing,
    status=st.sampled_from(sorted(STATUSES)),
    search=WORDS,
    sort=st.sampled_from(SORTS),
    order=st.sampled_from(["asc", "desc"]),
    group=WORDS,
    kind=st.sampled_from(["", "burst", "frost"]),
    columns=st.sets(st.sampled_from([c.name for c in COLUMNS if not c.fixed])).map(
        lambda some: tuple(c.name for c in COLUMNS if c.name in some)
    ),
    units=st.sampled_from(UNITS),
    zone=st.sampled_from([None, "Asia/Kathmandu"]),
)


@given(LISTINGS)
def test_an_address_opens_the_same_list(listing: Listing) -> None:
    assert read_listing(write_listing(listing)) == listing


@given(LISTINGS)
def test_the_grids_request_equals_its_address(listing: Listing) -> None:
    """An address gives the grid's sort and context, and its first request gives the same list.
    Visible columns concern the grid alone: every row has all of them."""
    result = write_listing(listing)
    request = {
        "startRow": 0,
        "endRow": BLOCK,
        "sortModel": [{"colId": listing.sort, "sort": listing.order, "type": "default"}],
        "filterModel": {},
        "context": {name: result[name] for name in CONTEXT},
    }
    assert read_request(request) == Question(replace(listing, columns=USUAL), 0, BLOCK)


def test_the_default_list_has_no_query() -> None:
    assert set(write_listing(Listing()).values()) == {None}


@cases(
    "fields",
    [
        {},
        {"sort": "id; --"},
        {"sort": "config"},
        {"sort": ["label"]},
        {"order": "ASC"},
        {"order": None},
        {"status": "deleted"},
        {"status": ["all"]},
        {"q": "  \t "},
        {"q": {"$ne": ""}},
        {"page": "3"},
        {"kind": "leak"},
        {"columns": "secret,"},
        {"columns": ["flow"]},
        {"units": "furlongs", "zone": "Mars/Base"},
    ],
)
def test_invalid_parameters_are_ignored(fields: dict[str, Any]) -> None:
    assert read_listing(fields) == Listing()


def test_a_search_is_cut_and_its_spaces_are_merged() -> None:
    assert read_listing({"q": " tower \n b  "}).search == "tower b"
    assert len(read_listing({"q": "x" * 10_000}).search) == LONGEST_SEARCH


@cases(
    ("request_", "first", "many"),
    [
        ({"startRow": 0, "endRow": 100}, 0, 100),
        ({"startRow": 9_900, "endRow": 10_000}, 9_900, 100),
        ({"startRow": 40, "endRow": 65}, 40, 25),
        ({"startRow": 100, "endRow": 100}, 100, BLOCK),
        ({"startRow": 200, "endRow": 100}, 200, BLOCK),
        ({"startRow": 0, "endRow": 1_000_000}, 0, BLOCK),
        ({"startRow": -1, "endRow": 50}, 0, 50),
        ({"startRow": True, "endRow": 2.5}, 0, BLOCK),
        ({"startRow": "0", "endRow": None}, 0, BLOCK),
        ({"startRow": 10**18}, 0, BLOCK),
        ({}, 0, BLOCK),
    ],
)
def test_rows_are_requested_in_bounded_blocks(
    request_: dict[str, Any], first: int, many: int
) -> None:
    assert read_request(request_) == Question(Listing(), first, many)


@cases(
    ("model", "sort", "order"),
    [
        ([{"colId": "model", "sort": "desc"}], "model", "desc"),
        ([{"colId": "installedOn", "sort": "asc"}, {"colId": "label"}], "installedOn", "asc"),
        ([{"colId": "volumeToday", "sort": "desc"}], "volumeToday", "desc"),
        ([{"colId": "groups", "sort": "desc"}], "label", "desc"),
        ([{"colId": "label", "sort": "sideways"}], "label", "asc"),
        ([], "label", "asc"),
        ([None], "label", "asc"),
        ("label", "label", "asc"),
        (None, "label", "asc"),
    ],
)
def test_one_column_orders_the_list(model: Any, sort: str, order: str) -> None:
    requests = read_request({"sortModel": model, "context": {"status": "all"}})
    assert requests.listing == Listing("all", sort=sort, order=order)


@cases("context", [None, [], "all", {"status": 1, "q": None}])
def test_an_empty_context_requests_the_default_list(context: Any) -> None:
    assert read_request({"context": context}).listing == Listing()


def test_every_column_but_groups_is_sorted_by_the_service() -> None:
    assert {column.name for column in COLUMNS if not column.order} == {"groups"}
    assert {column.order for column in COLUMNS if column.order} <= ORDERS.keys()
    assert Listing().sort in SORTS


def test_every_state_can_be_chosen() -> None:
    named = {state for _, states in STATUSES.values() for state in states}
    assert named == set(State)


@cases(
    ("listing", "total", "result", "empty", "filtered"),
    [
        (Listing(), 10_000, "10,000 active devices", "", False),
        (Listing("all"), 1, "1 device", "", False),
        (Listing("all", "x"), 1, "1 device matches", "", True),
        (Listing("active", "x"), 7, "7 active devices match", "", True),
        (Listing("silent"), 2, "2 silent devices", "", True),
        (Listing("no-data"), 1, "1 device without data", "", True),
        (Listing("no-data"), 0, "0 devices without data", "No device without data.", True),
        (
            Listing(), 0, "0 active devices",
            "No active device yet, or none that you have access to.", False,
        ),
        (
            Listing("inactive"), 0, "0 inactive devices",
            "No inactive device.", True,
        ),
        (
            Listing("inactive", "x"), 0, "0 inactive devices match",
            "No inactive device matches “x”.", True,
        ),
        (Listing("all", "<b>"), 0, "0 devices match", "No device matches “<b>”.", True),
        (Listing(group="north"), 0, "0 active devices", "No active device in north.", True),
        (
            Listing(kind="burst"), 0, "0 active devices",
            "No active device has an open finding “Burst”.", True,
        ),
    ],
)  # fmt: skip
def test_the_page_has_the_count_or_the_reason_for_none(
    listing: Listing, total: int, result: str, empty: str, filtered: bool
) -> None:
    assert list_texts(listing, total) == {
        "count_text": result,
        "empty": empty,
        "filtered": filtered,
    }
