"""Everybody × every route of the whole site × every way to name a device.

The routes are those that the site has: one that is added fails here until somebody says who may.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from urllib.parse import quote

import brotli
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.insight.alerts import management
from tests.security.expected import ANNOTATIONS, NAMES, PEOPLE, Ask, owed
from tests.security.routes import FRAMES, ROUTES, TABLE
from tests.security.site import Whole, whole
from tests.tables import cases
from tests.world import FOREIGN, LONE, TWIN
from web.rendering import Renderer

# What gives a device away, beside its id.
TELLING = {TWIN: ("alpha", "net-t1"), FOREIGN: ("net-f1",), LONE: ("Gamma",)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """Images are requested but not drawn: these tests check only who may have them."""
    with whole(tmp_path_factory.mktemp("whole")) as site, pytest.MonkeyPatch.context() as patch:
        patch.setattr(management, "TEST_S", 0.0)  # nobody sends it here
        for draw in ("render_figure", "render_picture", "render_page"):
            patch.setattr(Renderer, draw, lambda *_, **__: b"<svg/>")
        yield site


def rules(app: Flask) -> Iterator[str]:
    for rule in app.url_map.iter_rules():
        plain = "".join(
            part.rpartition(":")[2] if kind else part for kind, part in _parts(rule.rule)
        )
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield f"{method} {plain}"


def _parts(rule: str) -> Iterator[tuple[bool, str]]:
    """``/a/<path:b>`` → plain ``/a/<``, variable ``path:b``, plain ``>``."""
    for number, piece in enumerate(rule.replace("<", "<\0").replace(">", "\0>").split("\0")):
        yield number % 2 == 1, piece


def test_every_route_of_every_application_is_tried_here(site: Whole) -> None:
    rooted: dict[bool, set[str]] = {True: set(), False: set()}
    for app in site.apps:
        rooted[app.import_name == "web.embed.site"].update(rules(app))
    assert rooted[False] ^ set(ROUTES) == set()
    assert rooted[True] ^ set(FRAMES) == set()


def test_everybody_is_tried_here(site: Whole) -> None:
    assert set(PEOPLE) == set(site.people)


def response(site: Whole, who: str, ask: Ask, name: str) -> TestResponse:
    embed = site.new_embed() if ask.method == "DELETE" and "{embed}" in ask.path else site.embed_id
    path = ask.path.replace("{device}", quote(name, safe="")).replace("{embed}", embed)
    if "{finding}" in path:
        path = path.replace("{finding}", site.new_finding(dismissed=path.endswith("/restore")))
    for what in ("alert", "taken", "rule", "receiver", "silence", "tariff", "budget", "schedule"):
        if f"{{{what}}}" in path:
            path = path.replace(f"{{{what}}}", site.new_alerting(what))
    for kind in ANNOTATIONS:
        if kind in path:
            path = path.replace(kind, site.new_annotation(kind.strip("{}")))
    body = ask.body.replace("{device}", name) if ask.body else None
    if body and "{receiver}" in body:
        body = body.replace("{receiver}", site.new_alerting("receiver"))
    return site.ask(who, ask.method, path, data=body, content_type=ask.content_type)


def unpacked(answer: TestResponse) -> str:
    how = {"br": brotli.decompress, "gzip": gzip.decompress}
    body = how.get(answer.headers.get("Content-Encoding", ""), bytes)(answer.data)
    return body.decode("utf-8", "replace")


@cases("who", PEOPLE)
@cases("route", TABLE)
def test_every_cell(site: Whole, route: str, who: str) -> None:
    ask, person = TABLE[route], site.people[who]
    named = "{device}" in f"{ask.path}{ask.body}"
    for name in NAMES if named else ("",):
        answer = response(site, who, ask, name)
        text = unpacked(answer)
        assert answer.status_code in owed(site, who, ask, name), (name, text[:300])
        sees = (
            person.api
            if ask.path.startswith("/admin/v1")
            or ask.to in ("api", "maker", "operator", "administrator", "its author", "silencer")
            else person.site
        )
        for other, words in TELLING.items():
            if other not in (sees or ()) and not (person.framed and other == TWIN):
                missing = [
                    word
                    for word in (other, *words)
                    if word in text and word.lower() != name.lower()
                ]
                assert not missing, (name, missing)
