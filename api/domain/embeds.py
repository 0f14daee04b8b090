"""Who may see which embed, what an embed may see, and when it ends.

An embed never sees more than its creator may at that moment: its devices, as far as the grant of
the key that created it still covers them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from api.domain.identify import storable
from api.domain.organization import units_of
from api.embeds import EmbedDefinition
from api.errors import BadRequest, NotFound, invalid_fields
from api.store.base import AuditEntry, Directory, Grant, Scope
from api.store.web.base import Embed, Embeds, Maker

MOST: Final = 2_000  # most embeds of an organization at a time; ended ones don't count
_AT_ONCE: Final = 500  # devices in one query


class State(StrEnum):
    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"
    STOPPED = "stopped"  # the key that created it, or the organization, is no longer active


ENDED: Final = {
    State.EXPIRED: "This embed has expired.",
    State.REVOKED: "This embed was revoked.",
    State.STOPPED: (
        "This embed has stopped: the key that created it, or its organization, is no longer active."
    ),
}


def reason_of(ended: State) -> str:
    """Returns the machine-readable reason in the problem of an ended embed."""
    return f"embed-{ended}"


def grant_now(directory: Directory, embed: Embed, now_ms: int) -> Grant | None:
    """Returns the creator's grant at this moment; None where it has ended."""
    organization = directory.organization(embed.organization_id)
    if organization is None or not organization.active:
        return None
    key_id = embed.maker.key_id
    if key_id is None:
        return embed.maker.granted
    key = directory.named_key(key_id)
    if key is None or key.revoked_ms is not None or key.organization_id != embed.organization_id:
        return None
    return key.grant if key.expires_ms is None or key.expires_ms > now_ms else None


def state_of(embed: Embed, granted: Grant | None, now_ms: int) -> State:
    """``granted`` is the result of `grant_now`."""
    expires_ms = embed.definition.expires_ms
    if embed.revoked_ms is not None:
        return State.REVOKED
    if expires_ms is not None and expires_ms <= now_ms:
        return State.EXPIRED
    return State.ACTIVE if granted is not None else State.STOPPED


def states(directory: Directory, embeds: Iterable[Embed], now_ms: int) -> list[State]:
    """Returns the state of each embed. Each creating key is looked up once."""
    grants: dict[tuple[str, Maker], Grant | None] = {}
    result: list[State] = []
    for embed in embeds:
        owner = (embed.organization_id, embed.maker)
        if owner not in grants:
            grants[owner] = grant_now(directory, embed, now_ms)
        result.append(state_of(embed, grants[owner], now_ms))
    return result


def scope_of(directory: Directory, embed: Embed, granted: Grant) -> Scope:
    """Returns the embed's scope: its devices within the grant."""
    organization_id = embed.organization_id
    within = seen(directory, Scope(organization_id, granted), embed.definition.devices)
    return Scope(organization_id, Grant(devices=within))


def seen(directory: Directory, scope: Scope, ids: Sequence[str]) -> frozenset[str]:
    """Returns which of those devices (UUIDs) are in the scope."""
    visible_ids: set[str] = set()
    for first in range(0, len(ids), _AT_ONCE):
        some = ids[first : first + _AT_ONCE]
        visible_ids.update(
            device.id for device in directory.resolve(scope, some) if device is not None
        )
    return frozenset(visible_ids.intersection(ids))


# --- Managing them -------------------------------------------------------------------------------


def visible(directory: Directory, web: Embeds, scope: Scope, key_id: str | None) -> list[Embed]:
    """Returns the organization's embeds whose devices are all in this scope, and those that its key
    created."""
    embeds = web.embeds(scope.organization_id)
    ids = sorted({id for embed in embeds for id in embed.definition.devices})
    visible_ids = seen(directory, scope, ids)
    return [
        embed
        for embed in embeds
        if _mine(embed, key_id) or visible_ids.issuperset(embed.definition.devices)
    ]


def find(
    directory: Directory, web: Embeds, scope: Scope, key_id: str | None, embed_id: str
) -> Embed:
    """Returns one embed by the rule of `visible`. Raises NotFound where there is none."""
    embed = web.embed(embed_id) if storable(embed_id) else None
    if embed is not None and embed.organization_id == scope.organization_id:
        ids = embed.definition.devices
        if _mine(embed, key_id) or seen(directory, scope, ids).issuperset(ids):
            return embed
    raise NotFound("Embed not found, or you don't have access.")


def _mine(embed: Embed, key_id: str | None) -> bool:
    return key_id is not None and embed.maker.key_id == key_id


def make(
    directory: Directory,
    web: Embeds,
    scope: Scope,
    maker: Maker,
    wanted: EmbedDefinition,
    now_ms: int,
    author: str,
) -> Embed:
    """Creates an embed of devices of this scope, named by any identifier. Raises BadRequest for a
    device out of scope, or for an end in the past."""
    devices = directory.resolve(scope, [text for text in wanted.devices if storable(text)])
    ids = tuple(dict.fromkeys(device.id for device in devices if device is not None))
    if len(devices) < len(wanted.devices) or None in devices:
        raise invalid_fields(devices=_hidden(directory, scope, wanted.devices))
    if wanted.expires_ms is not None and wanted.expires_ms <= now_ms:
        raise invalid_fields(expires="is in the past")
    there = web.embeds(scope.organization_id)
    if states(directory, there, now_ms).count(State.ACTIVE) >= MOST:
        raise BadRequest(f"The organization already has {MOST} embeds: revoke some first.")
    embed = Embed(
        id=f"emb_{secrets.token_urlsafe(18)}",
        organization_id=scope.organization_id,
        maker=maker,
        definition=replace(
            wanted,
            devices=ids,
            units=wanted.units or units_of(directory, scope.organization_id),
        ),
        created_ms=now_ms,
    )
    web.create_embed(embed, [_created(embed, author)])
    return embed


def _created(embed: Embed, author: str) -> AuditEntry:
    made = embed.definition
    after = {"view": made.view, "devices": list(made.devices), "title": made.title}
    return AuditEntry(
        embed.created_ms, embed.organization_id, author, "embed", "create", embed.id, after=after
    )


def _hidden(directory: Directory, scope: Scope, identifiers: Sequence[str]) -> str:
    for text in identifiers:
        if not storable(text) or directory.resolve(scope, [text])[0] is None:
            return f"device {text[:80]!r} not found, or you don't have access"
    return "a device was not found, or you don't have access"
