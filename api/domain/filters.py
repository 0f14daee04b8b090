"""Parses ``field:op:value`` into a condition on rows; derives the pattern that documents it.

The parser and the pattern are built from the same catalog rows and the same number format, so that
the document promises exactly what requests are checked against.
"""

from __future__ import annotations

import math
import re
from typing import Final

from api.catalog import AGGREGATED_FILTER_FIELDS, OPERATORS, RAW_FILTER_FIELDS
from api.store.base import Condition

# A sign that was decoded as a space still counts: 1e+3 in a query arrives as "1e 3".
NUMBER_PATTERN: Final = r"-?[0-9]+(\.[0-9]+)?([eE][-+ ]?[0-9]{1,3})?"
_NUMBER: Final = re.compile(NUMBER_PATTERN)

_EVERY_FIELD: Final = {**RAW_FILTER_FIELDS, **AGGREGATED_FILTER_FIELDS}


def filter_pattern() -> str:
    """Returns the anchored regular expression of a filter on any resolution."""
    fields, operators = "|".join(_EVERY_FIELD), "|".join(OPERATORS)
    return f"^({fields}):({operators}):{NUMBER_PATTERN}$"


def parse_number(text: str) -> float:
    """Parses a finite number in plain or exponent form. Raises ValueError with a message for the
    caller."""
    if _NUMBER.fullmatch(text) is None:
        raise ValueError("must be a number")
    value = float(text.replace(" ", "+"))
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def parse_filter(text: str, *, aggregated: bool | None) -> Condition:
    """Parses one condition. On aggregated rows a field without a prefix means its avg_ column.

    With ``aggregated`` None the resolution is unknown and any field is accepted. Raises ValueError
    with a message for the caller.
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
