"""Embeds as typed values, and their definitions to and from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    maybe_text,
    needed_instant,
    text,
    whole,
)
from api.embeds import EmbedDefinition, Fixed, Rolling, page_path
from api.errors import UnexpectedAnswer
from api.timez import stamp

ACTIVE: Final = "active"


@dataclass(frozen=True, slots=True)
class Embed:
    """An embed. ``state`` is active, expired, revoked or stopped (its creator's key or organization
    is no longer active); ``created_by`` a Key ID, "token" or "command"."""

    id: str
    organization_id: str
    definition: EmbedDefinition
    state: str
    created_by: str
    created_ms: int
    revoked_ms: int | None = None

    @property
    def path(self) -> str:
        """Returns the path of its page."""
        return page_path(self.id)


@dataclass(frozen=True, slots=True)
class EmbedToken:
    """``expires_ms`` None: valid as long as its embed, which has no end."""

    token: str
    expires_ms: int | None


# --- To and from JSON ----------------------------------------------------------------------------


def definition_body(definition: EmbedDefinition) -> dict[str, Any]:
    """Returns a definition as a request body, defaults included."""
    return {
        "view": definition.view,
        "devices": list(definition.devices),
        "metric": definition.metric,
        "origins": list(definition.origins),
        "window": _window_body(definition.window),
        "zone": definition.zone,
        "units": definition.units,
        "theme": definition.theme,
        "controls": list(definition.controls),
        "notes": definition.notes,
        "compare": definition.compare or None,
        "title": definition.title,
        "expires": _stamped(definition.expires_ms),
    }


def _window_body(window: Rolling | Fixed) -> dict[str, Any]:
    if isinstance(window, Rolling):
        return {"last": window.last_s}
    return {"from": _stamped(window.from_ms), "to": _stamped(window.to_ms)}


def _stamped(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else stamp(instant_ms, fraction=True)


def embeds(body: Any) -> tuple[Embed, ...]:
    return tuple(embed(each) for each in a_list(body, "answer"))


def embed(body: Any) -> Embed:
    fields = an_object(body, "embed")
    return Embed(
        id=text(fields, "id"),
        organization_id=text(fields, "organizationId"),
        definition=_definition(fields),
        state=text(fields, "state"),
        created_by=text(fields, "createdBy"),
        created_ms=needed_instant(fields, "created"),
        revoked_ms=instant(fields, "revoked"),
    )


def _definition(fields: Json) -> EmbedDefinition:
    return EmbedDefinition(
        view=text(fields, "view"),
        devices=_texts(fields, "devices"),
        metric=maybe_text(fields, "metric"),
        origins=_texts(fields, "origins"),
        window=_window(an_object(fields.get("window"), "window")),
        zone=text(fields, "zone"),
        units=text(fields, "units"),
        theme=text(fields, "theme"),
        controls=_texts(fields, "controls"),
        notes=fields.get("notes") is True,
        compare=maybe_text(fields, "compare") or "",
        title=text(fields, "title"),
        expires_ms=instant(fields, "expires"),
    )


def _window(fields: Json) -> Rolling | Fixed:
    if "last" in fields:
        return Rolling(whole(fields, "last"))
    return Fixed(needed_instant(fields, "from"), needed_instant(fields, "to"))


def _texts(fields: Json, name: str) -> tuple[str, ...]:
    values = a_list(fields.get(name), name)
    if not all(isinstance(value, str) for value in values):
        raise UnexpectedAnswer(f"{name}: must be strings")
    return tuple(values)


def token(body: Any) -> EmbedToken:
    fields: Mapping[str, Any] = an_object(body, "answer")
    return EmbedToken(text(fields, "token"), instant(fields, "expiresAt"))
