"""Forged requests to the callbacks of embeds, with valid tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.timez import HOUR_MS, now_ms, stamp
from tests import forged
from tests.dashboards import CLOCKS, LIVE
from tests.tables import cases
from tests.web.embed.frames import Embeds

UPDATE = "_dash-update-component"
SPAN = {"from": "2026-03-08T06:00:00Z", "to": "2026-03-08T18:00:00Z"}
CHART = {**SPAN, "device": "x", "width_px": 800, "theme": "light", "range": "7d", "zone": "UTC",
         "metric": "volume", "units": "si", "settled": True, "request_id": 1}  # fmt: skip
WALL = {"window": "24h", "zone": "UTC", "units": "us", "held": ["x"], "drawn": {"x": "y"}}

# By the first output of each callback: its view, and a value for each input.
GOOD: dict[str, tuple[str, Any]] = {
    "embed-view.children": ("chart", {}),
    "chart-graph.figure": ("chart", CHART),
    "wall-board.data": ("wall", WALL),
}
Frame = tuple[httpx.Client, str, dict[str, str], forged.Callbacks]


@pytest.fixture(scope="module")
def frames(embeds: Embeds) -> Iterator[dict[str, Frame]]:
    """For each view an embed's path, its token and its public callbacks."""
    controls = ("range", "units", "zone")
    with httpx.Client(base_url=embeds.url) as http:
        made: dict[str, Frame] = {}
        for view, serials in (("chart", (LIVE,)), ("wall", (LIVE, CLOCKS))):
            embed = embeds.make(view, *serials, controls=controls)
            listed = http.get(f"{embed.path}/_dash-dependencies").json()
            callbacks = {each["output"]: _as_kept(each) for each in listed}
            bearer = {"Authorization": f"Bearer {embeds.token(embed)}"}
            made[view] = (http, f"{embed.path}/{UPDATE}", bearer, callbacks)
        yield made


def _as_kept(fields: dict[str, Any]) -> dict[str, Any]:
    here = {} if fields["clientside_function"] else {"callback": True}
    return {"inputs": fields["inputs"], "state": fields["state"], **here}


def test_every_callback_is_tested_here(frames: dict[str, Frame]) -> None:
    for _, _, _, callbacks in frames.values():
        assert forged.answered_here(callbacks) == set(GOOD)


@pytest.mark.parametrize("name", GOOD)
def test_a_value_that_no_page_sends_breaks_nothing(frames: dict[str, Frame], name: str) -> None:
    view, value = GOOD[name]
    http, path, bearer, callbacks = frames[view]
    good = forged.callback_request(callbacks, name, [value])
    assert http.post(path, json=forged.body(good), headers=bearer).status_code == 200
    for what, requests in forged.mutations(good):
        answer = http.post(path, json=forged.body(requests), headers=bearer)
        assert answer.status_code in (200, 204, 400), (what, answer.text)


@pytest.mark.parametrize("shown", [False, True])
def test_notes_are_in_a_frame_only_if_its_embed_shows_them(embeds: Embeds, shown: bool) -> None:
    at = stamp(now_ms() - HOUR_MS)
    body = {"device": embeds.fleet.ids[LIVE], "from": at, "text": "Valve replaced"}
    note = embeds.client.create_annotation("note", body)
    fields: dict[str, str] = {}
    for view, name, value in (
        ("chart", "chart-graph.figure", {"width_px": 800}),
        ("wall", "wall-board.data", {}),
    ):
        embed = embeds.make(view, LIVE, notes=shown)
        bearer = {"Authorization": f"Bearer {embeds.token(embed)}"}
        with httpx.Client(base_url=f"{embeds.url}{embed.path}") as http:
            listed = http.get("/_dash-dependencies").json()
            callbacks = {each["output"]: _as_kept(each) for each in listed}
            requests = forged.body(forged.callback_request(callbacks, name, [value]))
            fields[view] = http.post(f"/{UPDATE}", json=requests, headers=bearer).text
    embeds.client.delete_annotation("note", note.id)
    assert all(("Valve replaced" in text) is shown for text in fields.values()), fields


@pytest.mark.parametrize("name", GOOD)
def test_an_invalid_body_is_refused_with_a_message(frames: dict[str, Frame], name: str) -> None:
    view, value = GOOD[name]
    http, path, bearer, callbacks = frames[view]
    for what, body in forged.broken(forged.body(forged.callback_request(callbacks, name, [value]))):
        answer = http.post(path, json=body, headers=bearer)
        assert answer.status_code == 400, what
        assert answer.json()["detail"], what


@cases("what", forged.BROKEN)
def test_invalid_bytes_are_refused_with_a_message(frames: dict[str, Frame], what: str) -> None:
    http, path, bearer, _ = frames["chart"]
    headers = {**bearer, "Content-Type": "application/json", "Origin": "null"}
    answer = http.post(path, content=forged.BROKEN[what], headers=headers)
    assert answer.status_code == 400
    assert answer.headers["Access-Control-Allow-Origin"] == "null"  # the frame may read the reason
