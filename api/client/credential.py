"""The credential of a client, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.client.fields import an_object, text
from api.roles import Role

PATH: Final = f"{INSIGHT_PREFIX}/me"


@dataclass(frozen=True, slots=True)
class Me:
    """``id`` names the credential and is no secret. ``units`` and ``currency``: the organization's;
    "" if the server doesn't return them."""

    id: str
    kind: str
    organization_id: str
    role: Role
    may_embed: bool
    units: str = ""
    currency: str = ""


def me(body: Any) -> Me:
    fields = an_object(body, "answer")
    role = text(fields, "role")
    return Me(
        id=text(fields, "id"),
        kind=text(fields, "kind"),
        organization_id=text(fields, "organizationId"),
        role=Role(role) if role in tuple(Role) else Role.VIEWER,
        may_embed=fields.get("mayEmbed") is True,
        units=str(fields.get("units") or ""),
        currency=str(fields.get("currency") or ""),
    )
