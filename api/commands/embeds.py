"""`weir embeds`: charts, tiles and walls in other sites' pages."""

from __future__ import annotations

import re
from typing import Any, Final

import click

from api.catalog import (
    CHARTS,
    EMBED_COMPARISONS,
    EMBED_CONTROLS,
    EMBED_THEMES,
    EMBED_VIEWS,
    UNIT_SYSTEMS,
)
from api.commands.arguments import ORG, audited, author, by_option, everything, organization
from api.commands.command import Group, when
from api.commands.store_access import opened, opened_web, settings
from api.embeds import Fixed, Rolling, address, snippet
from api.errors import UserError
from api.store.base import Grant
from api.store.web.base import Embed, Maker
from api.timez import now_ms

group = Group("embeds", help="Embeds: charts, tiles and walls on other sites' pages.")

_LENGTHS_S: Final = {"m": 60, "h": 3_600, "d": 86_400}
_OPTIONS: Final = {"devices": "device", "origins": "origin"}
_FIXED: Final = "from and --to"


@group.command()
@ORG
@click.option("--view", type=click.Choice([view.name for view in EMBED_VIEWS]), required=True)
@click.option(
    "--device",
    "devices",
    multiple=True,
    required=True,
    help="A device, by any identifier; repeatable for a wall.",
)
@click.option("--metric", type=click.Choice(CHARTS), help="The metric of a chart.")
@click.option("--origin", "origins", multiple=True, help="A site that may show it; repeatable.")
@click.option("--last", help="A rolling window: 90m, 24h (default), 7d.")
@click.option("--from", "first", help="Start of a fixed window, ISO 8601.")
@click.option("--to", help="End of a fixed window, ISO 8601.")
@click.option("--zone", help="An IANA time zone, or device (default).")
@click.option("--units", type=click.Choice(UNIT_SYSTEMS))
@click.option("--theme", type=click.Choice(EMBED_THEMES))
@click.option("--controls", help=f"What viewers may change: {','.join(EMBED_CONTROLS)}.")
@click.option("--notes", is_flag=True, default=None, help="Show notes and maintenance in it.")
@click.option(
    "--compare", type=click.Choice(EMBED_COMPARISONS), help="What a chart is compared with."
)
@click.option("--expires", help="When it expires, ISO 8601. Default: never.")
@click.option("--title", help="Title shown above it.")
@click.option("--site", help="This site's public address. Default: WEIR_PUBLIC_URL.")
def create(organization_id: str, site: str | None, **given: Any) -> object:
    """Create an embed, and the link token that opens it."""
    from api.auth import issue_embed_token
    from api.domain.embeds import make
    from api.params import EmbedBody, checked

    maker = Maker("command", granted=Grant(everything=True))
    window = _FIXED if given["first"] is not None else "last"
    options = _OPTIONS | {"window": window}
    with opened(read_only=True) as store, opened_web() as web, by_option(options):
        organization(store, organization_id)
        wanted = checked(EmbedBody, _body(given)).definition
        embed = make(store, web, everything(organization_id), maker, wanted, now_ms(), author())
    token, _ = issue_embed_token(settings(), embed, now_ms())
    at = site or settings().site
    return {
        "id": embed.id,
        "url": address(at, embed.id, token),
        "token": token,
        "snippet": snippet(at, embed.id, token, embed.definition),
    }


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the options as a request has them; options that weren't given are left out."""
    window = _window_body(given.pop("last"), given.pop("first"), given.pop("to"))
    body = {name: value for name, value in given.items() if value is not None}
    body |= {name: list(given[name]) for name in ("devices", "origins")}
    if given["controls"] is not None:
        body["controls"] = given["controls"].split(",")
    return body if window is None else body | {"window": window}


def _window_body(last: str | None, first: str | None, to: str | None) -> dict[str, Any] | None:
    if last is not None and (first is not None or to is not None):
        raise UserError("give --last, or --from and --to")
    if last is not None:
        return {"last": _seconds(last)}
    if first is None and to is None:
        return None
    if first is None or to is None:
        raise UserError("--from and --to must be used together")
    return {"from": first, "to": to}


def _seconds(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,6})([mhd])", text)
    if match is None:
        raise UserError("--last must be a length such as 90m, 24h or 7d")
    return int(match[1]) * _LENGTHS_S[match[2]]


@group.command("list")
@ORG
def list_all(organization_id: str) -> object:
    """List an organization's embeds, newest first, without their tokens."""
    from api.domain.embeds import states

    with opened(read_only=True) as store, opened_web(read_only=True) as web:
        organization(store, organization_id)
        embeds = web.embeds(organization_id)
        pairs = zip(embeds, states(store, embeds, now_ms()), strict=True)
        return [_described(embed, state.value) for embed, state in pairs]


def _described(embed: Embed, state: str) -> dict[str, object]:
    given = embed.definition
    return {
        "id": embed.id,
        "state": state,
        "view": given.view,
        "title": given.title,
        "devices": list(given.devices),
        "origins": list(given.origins),
        "window": _window(given.window),
        "createdBy": embed.maker.called,
        "created": when(embed.created_ms),
        "expires": when(given.expires_ms),
        "revoked": when(embed.revoked_ms),
    }


def _window(window: Rolling | Fixed) -> str:
    if isinstance(window, Rolling):
        return f"last {window.last_s} s"
    return f"{when(window.from_ms)}/{when(window.to_ms)}"


@group.command()
@click.argument("embed_id")
def revoke(embed_id: str) -> object:
    """Revoke an embed for good; it takes effect everywhere within ten seconds."""
    with opened_web() as web:
        embed = web.embed(embed_id)
        if embed is None:
            raise UserError(f"no embed {embed_id}: see weir embeds list")
        web.revoke_embed(
            embed_id, now_ms(), audited(embed.organization_id, "embed", "revoke", embed_id)
        )
        embed = web.embed(embed_id)
    return {"id": embed_id, "revoked": when(embed.revoked_ms) if embed else None}
