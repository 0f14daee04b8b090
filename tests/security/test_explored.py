"""Requests to what isn't in the interface's document — files, images, reports, links, embeds,
readings that come in — as schemathesis makes them up: whatever is asked, nothing breaks.

160 cases here, the same each time; ``API_CASES=3000 make test ARGS=tests/security`` tries more.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case

from tests.security.site import HOST, Whole, whole
from tests.security.test_matrix import ROUTES
from tests.world import FOREIGN, TWIN
from web.rendering import Renderer

CASES = int(os.environ.get("API_CASES", "160"))
OUTSIDE = ("GET /download", "GET /export", "POST /export", "POST /embeds", "POST /ingest")
EXPLORED = sorted(route for route in ROUTES if route.startswith(OUTSIDE))
NAMES = ("from", "to", "range", "metric", "zone", "units", "theme", "width", "height", "scale", "q",
         "status", "group", "sort", "page", "window", "devices", "paper", "every", "resolution",
         "x")  # fmt: skip
TEXTS = ("2026-03-08T06:00:00Z", "2026-03-08", "2026-03-08..2026-03-08", "7d", "volume", "UTC",
         "si", "dark", "400", "1e308", "NaN", "-1", "²", "0", TWIN, FOREIGN, "9" * 400)  # fmt: skip
_ANY: dict[str, Any] = {"schema": {"anyOf": [{"type": "string"}, {"enum": list(TEXTS)}]}}
_ROW = {
    "type": "object",
    "properties": {
        "device": {"anyOf": [{"enum": [TWIN, "T-1"]}, {"type": "string"}]},
        "recordedAt": {"anyOf": [{"enum": ["2026-03-08T06:00:00Z"]}, {}]},
        "flowRate": {},
    },
}
_BODIES: dict[str, Any] = {
    "ingest": {"anyOf": [{"type": "array", "items": _ROW}, _ROW, {}]},
    "export": {
        "type": "object",
        "properties": {"address": _ANY["schema"], "days": {"anyOf": [{"enum": [30]}, {}]}},
    },
    "embeds": {
        "type": "object",
        "properties": {
            "view": {"enum": ["chart", "tile", "wall", "x"]},
            "devices": {"type": "array", "items": {"anyOf": [{"enum": [TWIN]}, {}]}},
            "window": {}, "origins": {}, "title": {}, "expires": {}, "ttl": {}, "zone": {},
        },
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with whole(tmp_path_factory.mktemp("whole")) as site, pytest.MonkeyPatch.context() as patch:
        for draw in ("render_figure", "render_picture", "render_page"):
            patch.setattr(Renderer, draw, lambda *_, **__: b"<svg/>")
        yield site


def document(route: str) -> dict[str, Any]:
    """One operation, as wide as anybody might try it."""
    method, _, rule = route.partition(" ")
    path = re.sub(r"<(\w+)>", r"{\1}", rule)
    operation: dict[str, Any] = {"responses": {"default": {"description": "any"}}}
    operation["parameters"] = [{"in": "query", "name": name, **_ANY} for name in NAMES]
    for name in re.findall(r"{(\w+)}", path):
        said = {"type": "string", "minLength": 1, "pattern": "^[^/]+$"}
        operation["parameters"].append(
            {"in": "path", "name": name, "required": True, "schema": said}
        )
    if method == "POST":
        schema = _BODIES[rule.split("/")[1]]
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    paths = {path: {method.lower(): operation}}
    return {"openapi": "3.1.0", "info": {"title": "", "version": "1"}, "paths": paths}


WHO = {
    "maker": "a key",
    "sender": "an ingest key",
    "administrator's site": "an administrator's session",
}


@pytest.mark.parametrize("route", EXPLORED)
def test_whatever_is_asked_nothing_breaks(site: Whole, route: str) -> None:
    to = ROUTES[route].to
    who = WHO.get(to, "a session")
    schema = schemathesis.openapi.from_dict(document(route))
    (operation,) = (result.ok() for result in schema.get_all_operations())

    @settings(
        max_examples=max(5, math.ceil(CASES / len(EXPLORED))),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), device=st.none() | st.sampled_from((TWIN, FOREIGN, "T-1")))
    def explore(case: Case, device: str | None) -> None:
        if device is not None and "device_id" in (case.path_parameters or {}):
            case.path_parameters = {"device_id": device}
        sent = case.as_transport_kwargs(base_url=f"http://{HOST}")
        body = {} if sent.get("json") is None else {"json": sent["json"]}
        path = sent["url"].removeprefix(f"http://{HOST}")
        answer = site.ask(who, case.method, path, query_string=sent.get("params"), **body)
        assert answer.status_code < 500 or answer.status_code in (501, 503), answer.text[:400]
        seen.add(answer.status_code)

    seen = set[int]()
    explore()
    assert seen - {401, 403, 405}, "nothing was let in"
