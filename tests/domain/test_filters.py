"""The filter parser and the pattern of the OpenAPI document agree on every text."""

from __future__ import annotations

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import AGGREGATED_FILTER_FIELDS, OPERATORS, RAW_FILTER_FIELDS
from api.domain.filters import filter_pattern, parse_filter
from tests.tables import cases

PATTERN = re.compile(filter_pattern())
FIELDS = sorted({*RAW_FILTER_FIELDS, *AGGREGATED_FILTER_FIELDS})


def parses(text: str) -> bool:
    try:
        return math.isfinite(parse_filter(text, aggregated=None).value)
    except ValueError:
        return False


@given(st.from_regex(PATTERN))
def test_the_pattern_allows_only_readable_filters_except_for_huge_numbers(text: str) -> None:
    number = text.rsplit(":", 1)[1].replace(" ", "+")
    assert parses(text.rstrip("\n")) == math.isfinite(float(number))


@given(
    st.text()
    | st.builds(
        ":".join,
        st.lists(
            st.sampled_from([*FIELDS, *OPERATORS, "1", "-1.5", "1e5", "", " 1", "１"]), max_size=4
        ),
    )
)
def test_every_readable_filter_matches_the_pattern(text: str) -> None:
    assert not parses(text) or PATTERN.search(text)


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_that_a_client_may_print_is_read_exactly(value: float) -> None:
    assert parse_filter(f"flowRate:eq:{value!r}", aggregated=False).value == value


@cases(("field", "column"), AGGREGATED_FILTER_FIELDS.items())
def test_an_unprefixed_field_means_the_average(field: str, column: object) -> None:
    condition = parse_filter(f"{field}:gt:1", aggregated=True)
    assert condition.column == column
    if field in RAW_FILTER_FIELDS:
        assert condition.column.name == f"avg_{RAW_FILTER_FIELDS[field].name}"
