"""Every address of the site, read from the site itself, so that tests of all addresses include each
new one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import dash
import pytest
from flask import Flask

import app
from api.catalog import EMBED_PAGE_PREFIX
from api.settings import Settings
from web.auth import rules

_VARIABLE: Final = re.compile(r"<(?:[^<>:]+:)?([^<>]+)>")
# A value for each variable part of a route.
_NAMED: Final = {
    "id": "M-1",
    "device_id": "M-1",
    "embed_id": "none",
    "filename": "favicon.svg",
    "fingerprinted_path": "none.js",
    "package_name": "dash",
    "path": "no/such/page",
    "rest": "none",
}
# Served before any application.
_AT_THE_DOOR: Final = (
    ("GET", rules.SIGN_IN), ("POST", rules.SIGN_IN), ("POST", rules.SIGN_OUT),
    ("GET", rules.CHECK), ("GET", f"{EMBED_PAGE_PREFIX}/none"),
    ("GET", f"{EMBED_PAGE_PREFIX}/none/standing"),
)  # fmt: skip


def routes(settings: Settings) -> list[tuple[str, str]]:
    """(method, path) of each route, with a value for each variable part."""
    made: list[Flask] = []
    begin = Flask.__init__

    def noted(self: Flask, *arguments: Any, **more: Any) -> None:
        made.append(self)
        begin(self, *arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "__init__", noted)
        app.site(settings)
    pages = [("GET", str(page["path"])) for page in dash.page_registry.values()]
    results = [route for each in made for route in _of(each)]
    return sorted({*results, *pages, *_AT_THE_DOOR})


def _of(application: Flask) -> Iterator[tuple[str, str]]:
    at = EMBED_PAGE_PREFIX if application.name == "web.embed.site" else ""
    for rule in application.url_map.iter_rules():
        # A KeyError is a part with a new name: add a value for it above.
        path = _VARIABLE.sub(lambda part: _NAMED[part[1]], rule.rule)
        for method in rule.methods or ():
            yield method, at + path
