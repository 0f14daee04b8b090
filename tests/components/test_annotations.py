"""Notes, maintenance and corrections on screen: texts, shapes, and the form's requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from api.client.annotations import Annotation, CorrectionPreview
from api.client.credential import Me
from api.roles import Role
from components.annotations.panel import effect, listing, previewed, when, whose
from components.annotations.queries import _marks, body_again, body_of
from components.charts.marks import (
    AnnotationMark,
    annotation_flags,
    annotation_traces,
)
from components.html_json import as_nodes
from components.ranges import Window
from components.theme import LIGHT
from components.units import METRIC, US
from tests.tables import cases
from tests.world import ms

DENVER = ZoneInfo("America/Denver")
NOON = ms("2026-03-08T12:00-06:00")
HOUR = 3_600_000
NOTE = Annotation("note", "n-1", "d-1", "M-1", None, NOON, None, "Valve", NOON, "key_1")
SPAN = replace(NOTE, to_ms=NOON + HOUR)
PLAN = replace(SPAN, kind="maintenance", repeat="weekly", until_ms=NOON + 21 * 24 * HOUR)
CORRECTION = replace(SPAN, kind="correction", factor=0.5, metrics=("flow_rate", "flow_amount"))


@cases(
    ("text", "words"),
    [
        (NOTE, "2026-03-08 12:00"),
        (SPAN, "2026-03-08 12:00 – 13:00"),
        (replace(SPAN, to_ms=NOON + 24 * HOUR), "2026-03-08 12:00 – 2026-03-09 12:00"),
        (PLAN, "2026-03-08 12:00 – 13:00, weekly until 2026-03-29"),
    ],
)
def test_times_are_local(text: Annotation, words: str) -> None:
    assert when(text, DENVER) == words


def test_a_correction_in_words() -> None:
    assert effect(CORRECTION) == "× 0.5: flow rate, volume"
    assert effect(replace(CORRECTION, factor=None, metrics=())) == "excluded"
    assert whose(CORRECTION, {"d-1": "Tenant 12"}) == "Tenant 12"
    assert whose(replace(NOTE, group="north", device_id=None), {}) == "group north"
    shown = CorrectionPreview(1200, 1000, 100.0, 50.0)
    assert previewed(shown, US) == (
        "1,000 of 1,200 readings change. Volume: 100 gal before, 50 gal after."
    )
    assert "nothing after" in previewed(CorrectionPreview(1, 1, 100.0, None), METRIC)


def test_a_series_is_hatched_at_each_of_its_times() -> None:
    month = Window(NOON - HOUR, NOON + 30 * 24 * HOUR)
    result = _marks(PLAN, month)
    assert [mark.from_ms - NOON for mark in result] == [n * 7 * 24 * HOUR for n in range(4)]
    traces = annotation_traces([*result, AnnotationMark("note", NOON, None, "Note: x")], LIGHT)
    assert [trace["name"] for trace in traces] == ["maintenance", "notes", "note flags"]
    assert traces[0]["fillpattern"]["shape"] == "/"
    assert len(traces[0]["meta"]["findings"]) == 5
    assert annotation_traces([], LIGHT) == []


def test_flags_have_texts_where_there_is_room() -> None:
    day = Window(NOON, NOON + 24 * HOUR)
    marks = [
        AnnotationMark("note", NOON + 20 * HOUR, None, "Note: Valve <b>replaced</b> by Ann"),
        AnnotationMark("note", NOON + 19 * HOUR, None, "Note: no room"),
        AnnotationMark("maintenance", NOON + 2 * HOUR, NOON + 3 * HOUR, "Maintenance: Pump"),
        AnnotationMark("correction", NOON, NOON + HOUR, "Correction (excluded): x"),
        AnnotationMark("note", NOON - HOUR, None, "Note: before"),
    ]
    flags, taken = annotation_flags(marks, day, 1_000, LIGHT, [500.0])
    assert [flag["text"] for flag in flags] == ["■ Valve &lt;b&gt;repla…", "▨ Pump"]
    assert len(taken) == 3
    assert annotation_flags(marks, day, 1_000, LIGHT, [139.0, 889.0])[0] == []


@cases(
    ("kind", "deed", "body"),
    [
        ("note", {"subject": "M-1", "from": "2026-03-08T12:00", "text": "x"},
         {"device": "M-1", "from": "2026-03-08T18:00:00Z", "to": None, "text": "x"}),
        ("note", {"subject": "Group north", "from": "soon", "to": "", "text": "x"},
         {"group": "north", "from": "soon", "to": None, "text": "x"}),
        ("maintenance",
         {"subject": "M-1", "from": "2026-03-08T12:00", "to": "2026-03-08T13:00", "text": "x",
          "repeat": "daily", "until": "2026-03-10T00:00"},
         {"device": "M-1", "from": "2026-03-08T18:00:00Z", "to": "2026-03-08T19:00:00Z",
          "reason": "x", "repeat": "daily", "until": "2026-03-10T06:00:00Z",
          "zone": "America/Denver"}),
        ("correction",
         {"subject": "M-1", "from": "2026-03-08T12:00", "to": "2026-03-08T13:00", "text": "x",
          "effect": "scale", "factor": "0.5", "metrics": ["flow_rate"]},
         {"device": "M-1", "from": "2026-03-08T18:00:00Z", "to": "2026-03-08T19:00:00Z",
          "reason": "x", "effect": "scale", "factor": 0.5, "metrics": ["flow_rate"]}),
        ("correction", {"effect": "scale", "factor": "much", "metrics": "all"},
         {"from": None, "to": "", "reason": "", "effect": "scale", "factor": None}),
    ],
)  # fmt: skip
def test_the_form_s_local_times_become_instants(kind: str, deed: Any, body: Any) -> None:
    assert body_of(kind, deed, DENVER) == body


@pytest.mark.parametrize(
    ("gone", "body"),
    [
        (NOTE, {"device": "d-1", "from": "2026-03-08T18:00:00.000Z", "to": None, "text": "Valve"}),
        (replace(SPAN, group="north", device_id=None, from_ms=NOON + 1),
         {"group": "north", "from": "2026-03-08T18:00:00.001Z", "to": "2026-03-08T19:00:00.000Z",
          "text": "Valve"}),
        (replace(PLAN, zone="America/Denver"),
         {"device": "d-1", "from": "2026-03-08T18:00:00.000Z", "to": "2026-03-08T19:00:00.000Z",
          "reason": "Valve", "repeat": "weekly", "until": "2026-03-29T18:00:00.000Z",
          "zone": "America/Denver"}),
    ],
)  # fmt: skip
def test_what_was_deleted_can_be_created_again(gone: Annotation, body: dict[str, Any]) -> None:
    assert body_again(gone) == body


@cases(
    ("role", "author", "expected"),
    [
        (Role.VIEWER, "key_1", []),
        (Role.OPERATOR, "key_1", ["edit", "delete"]),
        (Role.OPERATOR, "key_2", []),
        (Role.ADMINISTRATOR, "key_2", ["edit", "delete", "edit", "delete", "revoke"]),
    ],
)
def test_buttons_follow_the_role(role: Role, author: str, expected: list[str]) -> None:
    ended = replace(CORRECTION, revoked_ms=NOON)
    body = listing(
        [NOTE, PLAN, CORRECTION, ended], DENVER, {}, Me(author, "key", "", role, may_embed=False)
    )
    result = str(as_nodes(body))
    assert [word for word in result.split("'") if word in ("edit", "delete", "revoke")] == expected
