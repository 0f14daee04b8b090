"""``field:op:value`` as a condition on rows, and the pattern that describes it.

The pattern and the parser are made from the same rows of the catalog and the same form of a
number, so that the document promises exactly what a request is held to.
"""

from __future__ import annotations

import math
import re
from typing import Final

from api.catalog import AGGREGATED_FILTER_FIELDS, OPERATORS, RAW_FILTER_FIELDS
from api.store.base import Condition

# A sign that was decoded as a space is still a sign: 1e+3 in a query arrives as "1e 3".
NUMBER_PATTERN: Final = r"-?[0-9]+(\.[0-9]+)?([eE][-+ ]?[0-9]{1,3})?"
_NUMBER: Final = re.compile(NUMBER_PATTERN)

_EVERY_FIELD: Final = {**RAW_FILTER_FIELDS, **AGGREGATED_FILTER_FIELDS}


def filter_pattern() -> str:
    """The anchored regular expression of a filter on any resolution."""
    fields, operators = "|".join(_EVERY_FIELD), "|".join(OPERATORS)
    return f"^({fields}):({operators}):{NUMBER_PATTERN}$"


def parse_number(text: str) -> float:
    """A finite number in plain or exponent form. Raises ValueError, in words for the caller."""
    if _NUMBER.fullmatch(text) is None:
        raise ValueError("must be a number")
    value = float(text.replace(" ", "+"))
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def parse_filter(text: str, *, aggregated: bool | None) -> Condition:
    """One condition. An unprefixed field of an aggregated row means its avg_ column.

    ``aggregated`` None stands for a resolution that isn't known: then any field will do.
    Raises ValueError, in words for the caller.
    """
    field, _, rest = text.partition(":")
    operator, _, value = rest.partition(":")
    fields = {None: _EVERY_FIELD, True: AGGREGATED_FILTER_FIELDS, False: RAW_FILTER_FIELDS}
    column = fields[aggregated].get(field)
    if column is None:
        raise ValueError(
            f"{text[:80]!r}: the field must be one of {', '.join(fields[aggregated])}"
            + ("" if aggregated is None else " at this resolution")
        )
    if operator not in OPERATORS:
        raise ValueError(f"{text[:80]!r}: the operator must be one of {', '.join(OPERATORS)}")
    try:
        return Condition(column, OPERATORS[operator], parse_number(value))
    except ValueError as error:
        raise ValueError(f"{text[:80]!r}: the value {error}") from None
