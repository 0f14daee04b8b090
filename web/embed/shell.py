"""The page of an embed before its token is known: the same for everyone, without data.

It knows the embed's id, who may frame it, and its theme, so that nothing flashes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from werkzeug.wrappers import Response

from api.embeds import EmbedDefinition
from web.static import content_security_policy

# The form of an id.
ID_FORM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
HEADERS: Final = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_CACHED: Final = "no-cache"  # revalidated each time, since a new version has other scripts
_CONFIG_PREFIX: Final = "\\u002fembed\\u002f"  # as Dash writes its requests' prefix into a page
_WORDS: Final = "Embed not found. It may have been revoked, or its address is incomplete."

_PAGE: Final = """<!DOCTYPE html>
<html lang="en"{theme} data-embed="{id}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <meta name="embed-origins" content="{origins}">
    <title>Weir</title>
    {head}
  </head>
  <body>
    <div id="react-entry-point"><div class="_dash-loading"></div></div>
    {body}
  </body>
</html>
"""
_NOT_FOUND: Final = f"""<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Not found · Weir</title>
    <style>
      body {{ display: grid; place-items: center; min-height: 90vh; margin: 16px }}
      p {{ font: 14px/20px system-ui, sans-serif; text-align: center }}
    </style>
  </head>
  <body><p>{_WORDS}</p></body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Parts:
    """The common parts of every shell. ``head``: loaded before painting. ``chart``: of charts.
    ``config`` and ``scripts``: Dash's and ours. ``script_hashes``: of the inline scripts."""

    head: str
    chart: str
    config: str
    scripts: str
    script_hashes: tuple[str, ...]


def shell(parts: Parts, embed_id: str, definition: EmbedDefinition) -> Response:
    head = parts.head + (parts.chart if definition.view == "chart" else "")
    config = parts.config.replace(_CONFIG_PREFIX, f"{_CONFIG_PREFIX}{embed_id}\\u002f", 1)
    html = _PAGE.format(
        id=escape(embed_id),
        theme=f' data-theme="{definition.theme}"' if definition.theme in ("light", "dark") else "",
        origins=escape(" ".join(definition.origins)),
        head=head,
        body=config + parts.scripts,
    )
    return _page(html, 200, _policy(parts.script_hashes, definition.origins))


def not_found() -> Response:
    """The response for an unknown id; no site may frame it."""
    return _page(_NOT_FOUND, 404, content_security_policy(()))


def _policy(hashes: Iterable[str], origins: Sequence[str]) -> str:
    return content_security_policy(hashes, framed_by=("'self'", *origins))


def _page(html: str, status: int, policy: str) -> Response:
    body = html.encode()
    headers = {**HEADERS, "Content-Security-Policy": policy, "Cache-Control": _CACHED}
    response = Response(body, status=status, mimetype="text/html", headers=headers)
    # The ETag covers the policy, which is a header.
    response.set_etag(hashlib.sha256(policy.encode() + body).hexdigest()[:32])
    return response
