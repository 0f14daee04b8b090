"""`weir images`: signed addresses of images, for e-mails and wikis."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

import click

from api.commands.command import Group, when
from api.commands.store_access import opened, settings
from api.errors import UserError
from api.store.base import Key, Scope, Store
from api.timez import DAY_MS, now_ms

group = Group("images", help="Images of charts and of the fleet wall.")

FORMATS: Final = ("png", "svg", "pdf")
MOST_DAYS: Final = 3_650


@group.command()
@click.option("--key", "key_id", required=True, help="The Key ID that signs the link.")
@click.option(
    "--device", "identifier", help="The device, by any identifier. Default: the fleet wall."
)
@click.option("--format", "ending", type=click.Choice(FORMATS), default="png", show_default=True)
@click.option("--query", default="", help="The query of the page's address: range=7d&…")
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=30,
    show_default=True,
    help="How long the link works.",
)
@click.option("--site", help="This site's public address. Default: WEIR_PUBLIC_URL.")
def link(
    key_id: str, identifier: str | None, ending: str, query: str, days: int, site: str | None
) -> object:
    """Sign the address of an image. It expires after its days, or with its key."""
    from api.auth.signed import SignedAddresses

    config = settings()
    with opened(read_only=True) as store:
        key = store.named_key(key_id)
        signed = SignedAddresses(store, config)
        if key is None or not signed.may_sign(key):
            raise UserError(f"no active reading key {key_id}: see weir keys list")
        path = f"/export/{_place(store, key, identifier)}.{ending}"
        params = parse_qsl(query.removeprefix("?"), keep_blank_values=True)
        sealed = signed.sign(path, params, key_id, days * DAY_MS // 1000)
    ends = when(now_ms() + days * DAY_MS)
    return {"address": f"{(site or config.site).rstrip('/')}{path}?{sealed}", "expires": ends}


def _place(store: Store, key: Key, identifier: str | None) -> str:
    if identifier is None:
        return "fleet"
    (device,) = store.resolve(Scope(key.organization_id, key.grant), [identifier])
    if device is None:
        raise UserError(f"device {identifier} not found, or the key has no access")
    return f"devices/{device.id}/chart"
