"""Embeds: one chart, one tile or a small wall in a frame on somebody else's page.

A separate application beside the dashboard, without sessions, cookies or component libraries. The
token's embed defines what it shows; a browser may only change what the embed allows its viewers.
"""

from web.embed.site import create_embed_site

__all__ = ["create_embed_site"]
