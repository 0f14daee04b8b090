"""Embeds: one chart, one tile or a small wall in a frame on somebody else's page.

An application of its own beside the dashboard: no session, no cookie, no kit. What it shows is what
the token's embed says; the browser may only wish for what that embed lets its viewers change.
"""

from web.embed.site import create_embed_site

__all__ = ["create_embed_site"]
