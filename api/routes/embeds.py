"""Endpoints of embeds: creating, listing and revoking them, their tokens, and the definition for a
token's own embed.

They are Weir's own, not part of the interface or its document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from api.auth import EMBED, Principal, issue_embed_token, require
from api.auth.principal import BEARER
from api.catalog import EMBEDS_PREFIX
from api.domain.embeds import ENDED, State, find, make, reason_of, states, visible
from api.embeds import Fixed, Rolling, page_path
from api.errors import Conflict, Forbidden, Unauthorized
from api.params import Body, EmbedBody, NoBody, TokenBody
from api.roles import Role
from api.routes.endpoint import Reply
from api.routes.serialize import instant
from api.settings import Settings
from api.store.base import AuditEntry, Store
from api.store.web.base import Embed, Maker, WebStore

B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class EmbedCall(Generic[B]):
    """One request, after its credential and its body were checked."""

    store: Store
    web: WebStore
    settings: Settings
    principal: Principal
    body: B
    embed_id: str
    now_ms: int

    @property
    def key_id(self) -> str | None:
        return self.principal.id if self.principal.kind == "key" else None


@dataclass(frozen=True, slots=True)
class EmbedRoute:
    """``path`` may hold ``{id}``, the embed's. ``managing`` ones need the right to create
    embeds."""

    id: str
    method: str
    path: str
    answer: Callable[[EmbedCall[Any]], Reply]
    body: type[Body] = NoBody
    status: int = 200
    managing: bool = False


def list_embeds(call: EmbedCall[NoBody]) -> Reply:
    embeds = visible(call.store, call.web, call.principal.scope, call.key_id)
    pairs = zip(embeds, states(call.store, embeds, call.now_ms), strict=True)
    return Reply([embed_object(embed, state) for embed, state in pairs])


def create_embed(call: EmbedCall[EmbedBody]) -> Reply:
    made = make(
        call.store,
        call.web,
        call.principal.scope,
        _maker(call),
        call.body.definition,
        call.now_ms,
        call.principal.id,
    )
    return Reply(embed_object(made, State.ACTIVE))


def get_embed(call: EmbedCall[NoBody]) -> Reply:
    return _reply(call, _embed(call))


def revoke_embed(call: EmbedCall[NoBody]) -> Reply:
    embed = _embed(call)
    audit = AuditEntry(
        call.now_ms, embed.organization_id, call.principal.id, "embed", "revoke", embed.id
    )
    call.web.revoke_embed(embed.id, call.now_ms, [audit])
    return _reply(call, _embed(call))


def create_token(call: EmbedCall[TokenBody]) -> Reply:
    """Raises Conflict for an embed that has ended: its tokens would open nothing."""
    embed = _embed(call)
    state = states(call.store, [embed], call.now_ms)[0]
    if state in ENDED:
        raise Conflict(ENDED[state], reason=reason_of(state))
    token, ends_ms = issue_embed_token(call.settings, embed, call.now_ms, call.body.ttl)
    return Reply({"token": token, "expiresAt": None if ends_ms is None else instant(ends_ms)})


def own_embed(call: EmbedCall[NoBody]) -> Reply:
    """Returns the embed with the devices that it may see now."""
    embed = call.web.embed(call.principal.embed_id)
    if embed is None:  # the gate has just read it
        raise Unauthorized("The embed no longer exists.")
    within = call.principal.scope.grant.devices
    devices = tuple(id for id in embed.definition.devices if id in within)
    visible = replace(embed, definition=replace(embed.definition, devices=devices))
    return Reply(embed_object(visible, State.ACTIVE))


def _maker(call: EmbedCall[Any]) -> Maker:
    if call.key_id is not None:
        return Maker(call.key_id, key_id=call.key_id)
    return Maker(call.principal.kind, granted=call.principal.scope.grant)


def _embed(call: EmbedCall[Any]) -> Embed:
    return find(call.store, call.web, call.principal.scope, call.key_id, call.embed_id)


def _reply(call: EmbedCall[Any], embed: Embed) -> Reply:
    return Reply(embed_object(embed, states(call.store, [embed], call.now_ms)[0]))


def check_right(principal: Principal) -> None:
    """Raises Forbidden where the credential may read, but not create, revoke or issue tokens."""
    if principal.kind == "key":
        require(principal, Role.OPERATOR)
    if not principal.may_embed:
        raise Forbidden(
            f"The token's scope lacks {EMBED}.",
            challenges=(f'{BEARER}, error="insufficient_scope", scope="{EMBED}"',),
        )


# --- As JSON -------------------------------------------------------------------------------------


def embed_object(embed: Embed, state: State) -> dict[str, Any]:
    definition = embed.definition
    return {
        "id": embed.id,
        "organizationId": embed.organization_id,
        "state": state.value,
        "path": page_path(embed.id),
        "view": definition.view,
        "devices": list(definition.devices),
        "metric": definition.metric,
        "origins": list(definition.origins),
        "window": _window(definition.window),
        "zone": definition.zone,
        "units": definition.units,
        "theme": definition.theme,
        "controls": list(definition.controls),
        "notes": definition.notes,
        "compare": definition.compare or None,
        "title": definition.title,
        "expires": _maybe(definition.expires_ms),
        "createdBy": embed.maker.called,
        "created": instant(embed.created_ms),
        "revoked": _maybe(embed.revoked_ms),
    }


def _window(window: Rolling | Fixed) -> dict[str, Any]:
    if isinstance(window, Rolling):
        return {"last": window.last_s}
    return {"from": instant(window.from_ms), "to": instant(window.to_ms)}


def _maybe(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else instant(instant_ms)


_EMBEDS: Final = f"{EMBEDS_PREFIX}/embeds"
_ONE: Final = f"{_EMBEDS}/{{id}}"
EMBED_ROUTES: Final = (
    EmbedRoute("listEmbeds", "GET", _EMBEDS, list_embeds),
    EmbedRoute("createEmbed", "POST", _EMBEDS, create_embed, EmbedBody, 201, managing=True),
    EmbedRoute("getEmbed", "GET", _ONE, get_embed),
    EmbedRoute("revokeEmbed", "DELETE", _ONE, revoke_embed, managing=True),
    EmbedRoute(
        "createToken", "POST", f"{_ONE}/tokens", create_token, TokenBody, 201, managing=True
    ),
)
OWN_ROUTES: Final = (EmbedRoute("ownEmbed", "GET", f"{EMBEDS_PREFIX}/self", own_embed),)
