"""The endpoint that describes all endpoints, itself included."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from api.catalog import PATH_PREFIX
from api.openapi import Operation, assemble
from api.params import Query
from api.routes.endpoint import Call, Reply, Route

_OPERATION = Operation(
    id="getApiJson",
    path=f"{PATH_PREFIX}/api-json",
    tag="management",
    summary="This document",
    answer={"type": "object", "additionalProperties": True},
    query=Query,
)


def document_route(others: Sequence[Route]) -> Route:
    """Assembled when it is first asked for, then cached."""

    @cache
    def document(root: str) -> dict[str, Any]:
        return assemble([*(route.operation for route in others), _OPERATION], root)

    def answer(call: Call[Query]) -> Reply:
        return Reply(document(call.root))

    return Route(_OPERATION, answer, cacheable=True)
