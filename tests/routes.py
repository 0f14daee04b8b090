"""Every address that the site has, from the site itself: one that is added is asked by the tests
that ask all of them, without anybody's thinking of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import dash
import pytest
from flask import Flask

import app
from api.catalog import EMBED_PAGE_PREFIX
from api.settings import Settings
from web.auth import rules

# What stands for each part of an address that a route leaves open.
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
# Answered before any application is asked.
_AT_THE_DOOR: Final = (
    ("GET", rules.SIGN_IN), ("POST", rules.SIGN_IN), ("POST", rules.SIGN_OUT),
    ("GET", rules.CHECK), ("GET", f"{EMBED_PAGE_PREFIX}/none"),
    ("GET", f"{EMBED_PAGE_PREFIX}/none/standing"),
)  # fmt: skip


def routes(settings: Settings) -> list[tuple[str, str]]:
    """(method, path) of each route, with something in the place of what it leaves open."""
    made: list[Flask] = []
    begin = Flask.__init__

    def noted(self: Flask, *arguments: Any, **more: Any) -> None:
        made.append(self)
        begin(self, *arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "__init__", noted)
        app.site(settings)
    pages = [("GET", str(page["path"])) for page in dash.page_registry.values()]
    found = [route for each in made for route in _of(each)]
    return sorted({*found, *pages, *_AT_THE_DOOR})


def _of(application: Flask) -> Iterator[tuple[str, str]]:
    at = EMBED_PAGE_PREFIX if application.name == "web.embed.site" else ""
    for rule in application.url_map.iter_rules():
        # KeyError: a part with a new name; say above what stands for it.
        built = rule.build({name: _NAMED[name] for name in rule.arguments})
        assert built is not None
        for method in rule.methods or ():
            yield method, at + built[1]
