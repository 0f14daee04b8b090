"""The types of parameters: how each text is parsed, and how the document describes it.

Every type here is an ``Annotated`` one whose ``Reads`` holds both, so that validation and the
OpenAPI document come from the same line. Parsers raise ValueError with a message for the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from api import timez
from api.catalog import (
    DEVICE_LIMIT,
    DEVICE_ORDER_FIELDS,
    LATEST_METRICS,
    LIMIT,
    MAX_DATAPOINTS,
    MAX_FILTERS,
    MAX_IDS,
    OFFSET,
    ORDERS,
    RESOLUTIONS,
    STORED,
    Limit,
    Resolution,
)
from api.domain.filters import filter_pattern, parse_number
from api.store.base import Condition

Schema = dict[str, Any]


def _itself(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Reads:
    """``parse`` turns a parameter's text into its value, or with ``many`` the list of all its
    texts. ``show`` turns a default back into the document's form."""

    parse: Callable[[Any], Any]
    schema: Schema
    many: bool = False
    show: Callable[[Any], Any] = _itself

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> Schema:
        return dict(self.schema)


def one_of(values: Mapping[str, Any]) -> Reads:
    """Accepts one of a few exact words; the value is what the word stands for."""
    words = {value: word for word, value in values.items()}

    def parse(text: str) -> Any:
        if text not in values:
            raise ValueError(f"must be one of {', '.join(values)}")
        return values[text]

    return Reads(parse, {"type": "string", "enum": list(values)}, show=words.__getitem__)


def _named(resolutions: Iterable[Resolution]) -> dict[str, Resolution]:
    return {resolution.name: resolution for resolution in resolutions}


# Any size is legal, but the integers of JSON and of databases are limited. No real value is this
# large.
_FARTHEST: Final = 2**62


def within(limit: Limit) -> Reads:
    """Accepts a whole number within bounds, also as ``1000.0``, which generated clients send."""
    schema: Schema = {"type": "number", "multipleOf": 1, "minimum": limit.minimum}
    if limit.maximum is not None:
        schema["maximum"] = limit.maximum

    def parse(text: str) -> int:
        number = parse_number(text)
        if not number.is_integer():
            raise ValueError("must be a whole number")
        if number < limit.minimum:
            raise ValueError(f"must be {limit.minimum} or more")
        if limit.maximum is not None and number > limit.maximum:
            raise ValueError(f"must be {limit.maximum} or less")
        return min(_FARTHEST, int(text) if text.isdigit() else int(number))

    return Reads(parse, schema)


def _order(text: str) -> bool:
    if text.lower() not in ORDERS:
        raise ValueError(f"must be {' or '.join(ORDERS)}")
    return text.lower() == ORDERS[1]


def _order_word(descending: bool) -> str:
    return ORDERS[descending]


def _any_case(words: Sequence[str]) -> str:
    cased = ("".join(f"[{c.lower()}{c.upper()}]" for c in word) for word in words)
    return f"^({'|'.join(cased)})$"


def listed(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the entries of a list that may be comma-separated, repeated, or both."""
    entries = tuple(entry for text in texts for entry in text.split(","))
    if not all(entries):
        raise ValueError("has an empty entry")
    return entries


def _ids(texts: Sequence[str]) -> tuple[str, ...]:
    entries = listed(texts)
    if len(entries) > MAX_IDS:
        raise ValueError(f"has {len(entries)} entries; at most {MAX_IDS} are allowed")
    return entries


def _latest_metrics(texts: Sequence[str]) -> frozenset[str]:
    entries = frozenset(listed(texts))
    if unknown := sorted(entries.difference(LATEST_METRICS)):
        choices = ", ".join(LATEST_METRICS)
        raise ValueError(f"{unknown[0][:80]!r} is not a metric; the metrics are {choices}")
    return entries


def _filters(texts: Sequence[str]) -> tuple[str, ...]:
    if len(texts) > MAX_FILTERS:
        raise ValueError(f"is given {len(texts)} times; at most {MAX_FILTERS} are allowed")
    return tuple(texts)


Text = Annotated[str | None, Reads(str, {"type": "string", "minLength": 1})]
Flag = Annotated[
    bool,
    Reads(one_of({"true": True, "false": False}).parse, {"type": "boolean"}),
]
Instant = Annotated[int, Reads(timez.parse_instant, {"type": "string", "format": "date-time"})]
OptionalInstant = Annotated[
    int | None, Reads(timez.parse_instant, {"type": "string", "format": "date-time"})
]
# A format, not an enum: an enum of 599 names crashes client generators.
ZONE_FORMAT: Final = "iana-time-zone"
ZONE_PATTERN: Final = r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$"
_ZONE_SCHEMA: Final = {
    "type": "string",
    "format": ZONE_FORMAT,
    "pattern": ZONE_PATTERN,
    "example": "America/Denver",
}
Zone = Annotated[ZoneInfo | None, Reads(timez.zone, _ZONE_SCHEMA)]

AnyResolution = Annotated[Resolution, one_of(_named(RESOLUTIONS))]
StoredResolution = Annotated[Resolution, one_of(_named(STORED))]
Conditions = Annotated[
    tuple[Condition, ...],
    Reads(
        _filters,
        {
            "type": "array",
            "items": {"type": "string", "pattern": filter_pattern()},
            "maxItems": MAX_FILTERS,
        },
        many=True,
    ),
]

PageLimit = Annotated[int, within(LIMIT)]
Offset = Annotated[int, within(OFFSET)]
Budget = Annotated[int, within(MAX_DATAPOINTS)]
DeviceLimit = Annotated[int | None, within(DEVICE_LIMIT)]
Order = Annotated[
    bool,
    Reads(
        _order,
        {"type": "string", "pattern": _any_case(ORDERS)},
        show=_order_word,
    ),
]
OrderBy = Annotated[str, one_of({name: name for name in DEVICE_ORDER_FIELDS})]
Active = Annotated[bool | None, one_of({"true": True, "false": False, "null": None})]
Identifiers = Annotated[
    tuple[str, ...],
    Reads(
        _ids,
        {"type": "string", "pattern": f"^[^,]+(,[^,]+){{0,{MAX_IDS - 1}}}$"},
        many=True,
    ),
]
LatestMetrics = Annotated[
    frozenset[str],
    Reads(
        _latest_metrics,
        {"type": "array", "items": {"type": "string", "enum": list(LATEST_METRICS)}, "minItems": 1},
        many=True,
    ),
]
