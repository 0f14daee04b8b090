"""Describes the credential of a request, and what it may do."""

from __future__ import annotations

from typing import Final

from api.catalog import INSIGHT_PREFIX
from api.domain.organization import currency_of, units_of
from api.openapi import Operation, ref
from api.params import Query
from api.routes.endpoint import Call, Reply, Route


def get_me(call: Call[Query]) -> Reply:
    assert call.principal is not None  # the route isn't public
    return Reply(
        {
            "id": call.principal.id,
            "kind": call.principal.kind,
            "organizationId": call.scope.organization_id,
            "role": call.principal.role.value,
            "mayEmbed": call.principal.may_embed,
            "units": units_of(call.store, call.scope.organization_id),
            "currency": currency_of(call.store, call.scope.organization_id),
        }
    )


CREDENTIAL_ROUTES: Final = (
    Route(
        Operation(
            id="getMe",
            path=f"{INSIGHT_PREFIX}/me",
            tag="service",
            summary="The credential of this request, and what it may do",
            answer=ref("Me"),
            query=Query,
        ),
        get_me,
    ),
)
