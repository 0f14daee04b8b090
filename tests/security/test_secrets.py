"""After every route was requested by every principal: no secret in a response, log, metric or
file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from api.catalog import KEY_HEADER
from tests.security.routes import TABLE
from tests.security.site import Whole, whole
from tests.security.test_matrix import response, unpacked
from tests.web.auth.test_secrets import forms
from tests.world import METER, SECRET, TWIN
from web.rendering import Renderer

WRONG = "0b5e9c1a-6f2d-4f6b-9a3e-77d1c2e4f5a6"  # not a key here, but possibly somebody's elsewhere


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def site(folder: Path) -> Iterator[Whole]:
    with (
        whole(folder, WEIR_REQUEST_LOG=str(folder / "requests.log")) as site,
        pytest.MonkeyPatch.context() as patch,
    ):
        for draw in ("render_figure", "render_picture", "render_page"):
            patch.setattr(Renderer, draw, lambda *_, **__: b"<svg/>")
        yield site


def secrets_of(site: Whole) -> dict[str, str]:
    """The secrets that each principal sends, by its name; and the server's own."""
    sent: dict[str, str] = {"the server's": SECRET, "a wrong key": WRONG}
    for name, who in site.people.items():
        if KEY_HEADER in who.headers and name not in ("two keys", "a key id"):
            sent[name] = who.headers[KEY_HEADER]
        token = who.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and name != "a token that is none":
            sent[name] = token.rpartition(".")[2]  # its signature
    return sent


def everything(site: Whole) -> Iterator[tuple[str, TestResponse]]:
    """Every route by every principal, then mistakes: keys in wrong places."""
    for route, ask in TABLE.items():
        for who in site.people:
            yield route, response(site, who, ask, TWIN)
    key = site.people["a key"].headers[KEY_HEADER]
    for text in (key, WRONG, f"key_x.{key}"):
        for path in (f"/{text}", f"/devices/{text}", f"/management/v1/{text}", f"/embed/{text}"):
            for who in ("nobody", "a session", "a key"):
                yield "astray", site.ask(who, "GET", path)
        for name in ("orderBy", "serialNumber", "key", "active"):
            yield "astray", site.ask("a key", "GET", f"/management/v1/device?{name}={text}")
        form = {"key": text, "next": "/devices"}
        yield "sign-in", site.ask("nobody", "POST", "/sign-in", data=form)
    latest = f"/management/v1/flow/datapoints/{METER}?resolution={WRONG}&filter={WRONG}:eq:1"
    yield "astray", site.ask("a key", "GET", latest)


ECHOED = ("astray",)  # a request may be echoed to its own sender


def test_no_secret_leaks(site: Whole, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.WARNING, "httpx")  # its messages have the requested paths
    hidden = {name: forms(text) for name, text in secrets_of(site).items()}
    answers = 0
    for route, answer in everything(site):
        answers += 1
        result = f"{answer.status}\n{answer.headers}\n{unpacked(answer)}"
        for name, ways in hidden.items():
            results = [way for way in ways if way in result and route not in ECHOED]
            assert not results, (route, name)
    assert answers > 1_500
    here = {"environ_base": {"REMOTE_ADDR": "127.0.0.1"}, "base_url": "http://localhost"}
    metrics = site.browser.get("/metrics", **here)
    assert (metrics.status_code, "weir_requests" in metrics.text) == (200, True)
    fields = {"the metrics": metrics.text, "the log": caplog.text}
    for file in folder.rglob("*"):
        with suppress(OSError):  # a socket
            fields[file.name] = file.read_bytes().decode("latin-1") if file.is_file() else ""
    assert {"weir.sqlite", "requests.log"} <= fields.keys()
    assert fields["requests.log"].count("\n") > 1_500
    for where, text in fields.items():
        for name, ways in hidden.items():
            assert not [way for way in ways if way in text], (where, name)
