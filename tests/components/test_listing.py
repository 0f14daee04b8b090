"""Lists of devices in addresses."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import DEVICE_FIELDS
from components.listing import COLUMNS, PAGE_SIZE, STATUSES, Listing, pages, read_listing

LISTINGS = st.builds(
    Listing,
    status=st.sampled_from(sorted(STATUSES)),
    sort=st.sampled_from([column.field for column in COLUMNS]),
    order=st.sampled_from(["asc", "desc"]),
    page=st.integers(1, 10_000),
)


@given(LISTINGS)
def test_an_address_opens_the_list_that_wrote_it(listing: Listing) -> None:
    assert read_listing(dict(parse_qsl(listing.address()[1:]))) == listing


def test_the_usual_list_has_the_bare_address() -> None:
    assert Listing().address() == "?"


@pytest.mark.parametrize(
    "said",
    [{}, {"page": "0"}, {"page": "1.5"}, {"page": "٣"}, {"page": ["2", "3"]}, {"sort": "id; --"},
     {"order": "ASC"}, {"status": "deleted"}, {"status": None}],
)  # fmt: skip
def test_what_cannot_be_understood_counts_as_not_said(said: dict[str, Any]) -> None:
    assert read_listing(said) == Listing()


def test_sorting_by_the_same_column_turns_the_order() -> None:
    listing = Listing(sort="model", page=4)
    assert listing.sorted_by("model") == "?sort=model&order=desc"
    assert Listing(sort="model", order="desc").sorted_by("model") == "?sort=model"
    assert listing.sorted_by("category") == "?sort=category"


def test_columns_are_fields_of_the_interface() -> None:
    known = {field.name for field in DEVICE_FIELDS}
    assert {column.field for column in COLUMNS} <= known


@pytest.mark.parametrize(
    ("total", "count"), [(0, 1), (1, 1), (PAGE_SIZE, 1), (PAGE_SIZE + 1, 2), (10_000, 200)]
)
def test_pages(total: int, count: int) -> None:
    assert pages(total) == count
    assert Listing(page=count).offset < max(1, total)
