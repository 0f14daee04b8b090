"""`weir sign-in`: links that sign readers in to the dashboard."""

from __future__ import annotations

import click

from api.commands.command import Group, when
from api.commands.store_access import settings
from api.errors import UserError
from api.timez import now_ms

group = Group("sign-in", help="Signing in to the dashboard.")


@group.command()
@click.option("--site", help="This site's public address. Default: WEIR_PUBLIC_URL.")
def link(site: str | None) -> object:
    """Print a new sign-in link, valid once, for readers of WEIR_API_KEY's devices."""
    from api.auth.sign_in_links import LASTS_S, SignInLinks

    config = settings()
    if not config.api_key:
        raise UserError("set WEIR_API_KEY: the key that a sign-in link signs in with")
    address = SignInLinks(config.sign_in_links_path).make(site or config.site)
    return {"address": address, "expires": when(now_ms() + LASTS_S * 1000)}
