"""What a query may say: the vocabulary, one model an endpoint, and the way from text to model."""

from api.params.queries import (
    AdaptiveQuery,
    DatapointsQuery,
    DeviceListQuery,
    LatestQuery,
    Query,
)
from api.params.reading import read
from api.params.vocabulary import ZONE_FORMAT

__all__ = [
    "ZONE_FORMAT",
    "AdaptiveQuery",
    "DatapointsQuery",
    "DeviceListQuery",
    "LatestQuery",
    "Query",
    "read",
]
