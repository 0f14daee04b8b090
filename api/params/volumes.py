"""The parameters of a query for the volumes of several devices or groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field, field_validator

from api.catalog import COARSEST_STORED, DAY, MONTH, Resolution
from api.insight.volumes import MOST_ITEMS, Item, ItemKind
from api.params.param_types import Instant, Reads, Zone, one_of
from api.params.queries import Query, in_order

_KINDS: Final[dict[str, ItemKind]] = {"device": "device", "group": "group"}
_LENGTHS: Final = {each.name: each for each in (COARSEST_STORED, DAY, MONTH)}


def _items(texts: Sequence[str]) -> tuple[Item, ...]:
    if len(texts) > MOST_ITEMS:
        raise ValueError(f"is given {len(texts)} times; at most {MOST_ITEMS} are allowed")
    return tuple(dict.fromkeys(map(_item, texts)))


def _item(text: str) -> Item:
    kind, _, name = text.partition(":")
    if kind not in _KINDS or not name:
        raise ValueError("must be device: and an identifier, or group: and a name")
    return Item(_KINDS[kind], name)


Items = Annotated[
    tuple[Item, ...],
    Reads(
        _items,
        {
            "type": "array",
            "items": {"type": "string", "pattern": "^(device|group):.+$"},
            "minItems": 1,
            "maxItems": MOST_ITEMS,
        },
        many=True,
    ),
]
Length = Annotated[Resolution, one_of(_LENGTHS)]


class VolumesQuery(Query):
    items: Items = Field(
        alias="item",
        description="device: and any identifier, or group: and its name; repeated.",
    )
    to_ms: Instant = Field(alias="to", description="Inclusive upper bound on the bucket's start.")
    from_ms: Instant = Field(
        alias="from", description="Inclusive lower bound on the bucket's start."
    )
    resolution: Length = Field(DAY, description="The length of the buckets.")
    timezone: Zone = Field(
        None, description="IANA time zone name of days and months. Default: the first device's."
    )

    _from_before_to = field_validator("from_ms")(in_order)
