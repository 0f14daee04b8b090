"""The endpoint that describes all endpoints, including itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from api.catalog import PATH_PREFIX
from api.openapi import Operation, assemble
from api.openapi.document import INTERFACE_INFO, Info
from api.params import Query
from api.routes.endpoint import Action, Call, Reply, Route


def document_route(
    others: Sequence[Route | Action],
    prefix: str = PATH_PREFIX,
    id: str = "getApiJson",
    info: Info = INTERFACE_INFO,
    served_elsewhere: Sequence[Operation] = (),
) -> Route:
    """The document is assembled at the first request, then cached."""
    operation = Operation(
        id=id,
        path=f"{prefix}/api-json",
        tag=info.document_tag,
        summary="This document",
        answer={"type": "object", "additionalProperties": True},
        query=Query,
    )

    @cache
    def document(root: str) -> dict[str, Any]:
        operations = [*(route.operation for route in others), *served_elsewhere, operation]
        return assemble(operations, root, info)

    def answer(call: Call[Query]) -> Reply:
        return Reply(document(call.root))

    return Route(operation, answer, cacheable=True)
