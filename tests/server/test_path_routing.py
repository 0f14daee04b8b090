"""The site below a path of its host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from werkzeug.test import Client
from werkzeug.wrappers import Response

from api.catalog import SITE_ROOT
from api.server.path_routing import Mounted, without_root
from tests.tables import cases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIEnvironment


@cases(
    ("path", "inside"),
    [
        ("/weir", "/"), ("/weir/", "/"), ("/weir/devices", "/devices"), ("/devices", "/devices"),
        ("/weird", "/weird"), ("/weir/weir/x", "/weir/x"), ("", ""),
    ],
)  # fmt: skip
def test_a_path_is_accepted_with_and_without_the_root(path: str, inside: str) -> None:
    assert without_root("/weir", path) == inside
    assert without_root("", path) == path


@pytest.mark.parametrize(
    ("leads", "to"),
    [
        ("/devices", "/weir/devices"), ("/weir/devices", "/weir/devices"),
        ("https://elsewhere.example/", "https://elsewhere.example/"),
    ],
)  # fmt: skip
def test_redirects_stay_below_the_root(leads: str, to: str) -> None:
    seen: dict[str, Any] = {}

    def site(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        seen.update(environ)
        return Response(status=303, headers={"Location": leads})(environ, start_response)

    answer = Client(Mounted(site, "/weir")).get("/weir/sign-in", follow_redirects=False)
    assert answer.headers["Location"] == to
    messages = [seen[name] for name in ("PATH_INFO", "SCRIPT_NAME", SITE_ROOT)]
    assert messages == ["/sign-in", "/weir", "/weir"]
