"""Queries of the embeds page: embeds, their tokens, and the devices that the form offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from api.catalog import EMBED_VIEW_BY_NAME
from api.client import Embed, EmbedDefinition, EmbedToken
from api.errors import Conflict, Forbidden
from components import session
from components.concurrent_queries import current_access
from components.controls import failure
from components.directory_queries import Directory, Meter, directory

MOST: Final = 12  # offered at a time; a search narrows them
LONGEST_SEARCH: Final = 100


class Server(NamedTuple):
    """``site``: the public address of the server of the embeds. ``is_own``: it is this one."""

    site: str
    is_own: bool


def server() -> Server:
    site = session.current_client().site
    return Server(site or session.own_site(), not site)


def embeds() -> tuple[Embed, ...]:
    """Newest first. Raises NotOffered if the server has no embeds."""
    return session.current_client().embeds()


def create(definition: EmbedDefinition) -> Embed:
    return session.current_client().create_embed(definition)


def revoke(embed_id: str) -> None:
    session.current_client().revoke_embed(embed_id)


def link_token(embed: Embed) -> tuple[EmbedToken | None, str]:
    """The token of an active embed's link, or the reason why there is none ("" for an ended
    embed)."""
    if embed.state != "active":
        return None, ""
    try:
        return session.current_client().mint_embed_token(embed.id), ""
    except (
        Conflict,
        Forbidden,
    ) as error:  # it ended just now, or the credential lacks the permission
        return None, failure(error)


def devices(now_ms: int) -> Directory:
    """The active devices in the reader's scope."""
    return directory(current_access(), now_ms)


# --- The devices of the form ---------------------------------------------------------------------


def offered(
    meters: Sequence[Meter], chosen: Sequence[str], search: str
) -> tuple[list[tuple[str, str]], int]:
    """(id, label) of the chosen devices, then of the first ones that match the search; and how many
    more match."""
    by_id = {meter.id: meter for meter in meters}
    wanted = " ".join(search[:LONGEST_SEARCH].split()).casefold()
    matching = [meter for meter in meters if wanted in meter.sought and meter.id not in chosen]
    matching.sort(key=lambda meter: (meter.label.casefold(), meter.serial))
    options = [(id, _label(by_id[id]) if id in by_id else id) for id in chosen]
    options += [(meter.id, _label(meter)) for meter in matching[:MOST]]
    return options, len(matching) - len(matching[:MOST])


def _label(meter: Meter) -> str:
    return meter.label if meter.label == meter.serial else f"{meter.label} · {meter.serial}"


def within_limit(view: str, chosen: Sequence[str]) -> list[str]:
    """The chosen devices within the view's limit: the last ones chosen."""
    return list(chosen)[-EMBED_VIEW_BY_NAME[view].most_devices :]


def labels(by_id: Mapping[str, Meter]) -> dict[str, str]:
    return {id: meter.label for id, meter in by_id.items()}
