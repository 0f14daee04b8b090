"""The parameters of queries and bodies: the types, one model per endpoint, and the parsers."""

from api.params.body_parser import Body, checked, read_body
from api.params.embeds import EmbedBody, NoBody, TokenBody
from api.params.param_types import ZONE_FORMAT
from api.params.queries import (
    AdaptiveQuery,
    DatapointsQuery,
    DeviceListQuery,
    LatestQuery,
    Query,
)
from api.params.query_parser import read

__all__ = [
    "ZONE_FORMAT",
    "AdaptiveQuery",
    "Body",
    "DatapointsQuery",
    "DeviceListQuery",
    "EmbedBody",
    "LatestQuery",
    "NoBody",
    "Query",
    "TokenBody",
    "checked",
    "read",
    "read_body",
]
