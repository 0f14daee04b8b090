"""No key, token or secret leaves the server unencrypted, or is in its log."""

from __future__ import annotations

import gzip
import logging
import re
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import brotli
import pytest
from werkzeug.test import TestResponse

from api.auth import issue_token
from api.client import Client, Credential
from api.server import create_service
from components.session import EntryMethod
from tests.web.auth import wire
from tests.web.auth.conftest import Open, Site
from tests.world import ACME, METER, SECRET, World
from web.auth import Access
from web.auth.middleware import SignedIn
from web.auth.session_cookie import Session

LOCAL = {"host": "localhost", "peer": "127.0.0.1"}
SPAN = ("2026-03-08T06:00:00Z", "2026-03-08T18:00:00Z")
_DECODED = {"br": brotli.decompress, "gzip": gzip.decompress}


def forms(secret: str) -> set[str]:
    """The forms in which it might be written, also partly: its first 18 characters give most of it
    away."""
    part = secret[:18]
    return {part, part.upper(), part.replace("-", ""), quote(part, safe="")} | {
        b64encode(b"x" * shift + secret.encode()).decode()[4:20] for shift in range(3)
    }


def texts(answer: TestResponse) -> str:
    body = _DECODED.get(answer.headers.get("Content-Encoding", ""), bytes)(answer.data)
    return f"{answer.status}\n{answer.headers}\n{body.decode('utf-8', 'replace')}"


def every_answer(site: Site, key: str, headers: dict[str, str]) -> list[TestResponse]:
    """A reader's whole visit: responses without a session, wrong keys, pages, data, downloads,
    errors, signing out."""
    more = {"headers": headers, **LOCAL}
    answers = [
        site.open("/devices", **LOCAL),
        site.open("/sign-in?next=/devices", **LOCAL),
        site.open(f"/sign-in?key={key}", **LOCAL),
        site.sign_in(f"key_x.{key}", **LOCAL),
        site.sign_in(key[:-1] + "!", **LOCAL),
        site.sign_in(key, **LOCAL),
    ]
    requests = set(re.findall(r'(?:src|href)="(/[^"]+)"', site.open("/devices", **more).text))
    answers += [site.open(path, **more) for path in sorted(requests)]
    paths = ("/devices", f"/devices/{METER}", "/_dash-layout", "/_dash-dependencies", "/session")
    answers += [site.open(path, **more) for path in (*paths, "/nope", "/", "/sign-in")]
    answers += [wire.page(site, path, **more) for path in ("/", "/devices", f"/devices/{METER}")]
    answers += [wire.page(site, path, **more) for path in ("/devices/nope", "/nope")]
    answers += [wire.chart(site, device, *SPAN, **more) for device in (METER, "nope")]
    answers += [wire.rows(site, **more)]
    answers += [wire.callback(site, ["no.such"], {"no.input": key}, **more)]
    answers += [site.open("/sign-out", "POST", **more), site.open("/devices", **more)]
    return answers


@pytest.mark.parametrize("way", ["a key signed in with", "a proxy's token", "this machine's key"])
def test_no_response_has_a_secret(
    open_site: Open,
    world: World,
    keys: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    way: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    key, token = keys["all"], issue_token(world.settings, ACME, None, 3600)
    headers: dict[str, str] = {}
    site = open_site()
    if way == "a proxy's token":
        site, headers = open_site(proxy_bearer=True), {"Authorization": f"Bearer {token}"}
    if way == "this machine's key":
        site = open_site(demo_key=lambda: key, local_only=True)
    answers = every_answer(site, key, headers)
    assert sum(answer.status_code == 200 for answer in answers) > 15
    text = "\n".join(texts(answer) for answer in answers)
    text += "\n".join(record.getMessage() + str(record.exc_info) for record in caplog.records)
    for secret in (key, token, SECRET):
        for form in forms(secret):
            assert form not in text, (way, secret[:8])


def test_an_error_in_a_page_shows_neither_key_nor_trace(
    open_site: Open, world: World, keys: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """A callback that fails unexpectedly."""

    service = create_service(world.store, world.settings)

    def broken(environ: dict[str, Any], start: Any) -> Any:
        if environ["PATH_INFO"].endswith("/devices"):
            raise ValueError("no idea")
        return service(environ, start)

    cookie = open_site().sign_in(keys["all"]).headers["Set-Cookie"].split(";")[0]
    site = open_site(through=Client.in_process(broken)).carrying(cookie.partition("=")[2])
    answer = wire.rows(site)
    assert answer.status_code == 500
    for text in (answer.text, str(answer.headers), caplog.text):
        assert keys["all"] not in text
    assert "Traceback" not in answer.text


def test_objects_with_a_key_do_not_print_it() -> None:
    key = "5f0c2a52-6c1e-4b8e-9d52-0d6c7a9b1e11"
    credential = Credential.key(key)
    session = Session.begin(credential, 0)
    looking = SignedIn(
        Client.remote("http://127.0.0.1:9", credential), EntryMethod.SESSION, [], session
    )
    access = Access(secret=SECRET, folder=Path(), demo_key=lambda: key)
    for printed in (repr(credential), repr(session), repr(looking), repr(access)):
        assert key not in printed
        assert SECRET not in printed
