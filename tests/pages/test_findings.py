"""The findings inbox: its pages and callbacks as functions, and its file over HTTP."""

from __future__ import annotations

import csv
import importlib
import io
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from dash import no_update

from api.insight.finding_evaluator import Evaluator
from api.insight.findings import KINDS
from tests.dashboards import LIVE, Fleet, Site, make_fleet
from tests.pages.elements import of_kind, text


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The fleet of all page tests, evaluated: Tenant 12 main has had ten days of continuous
    flow."""
    made = make_fleet(tmp_path_factory.mktemp("fleet"), many=3)
    Evaluator(made.store).up_to_date()
    yield made
    made.store.close()


@pytest.fixture
def page(looking: Site) -> Any:
    return importlib.import_module("pages.findings")


def words(node: Any) -> str:
    """All texts of JSON elements."""
    if isinstance(node, str):
        return node
    if len(node) == 3 and isinstance(node[1], dict):
        return words(node[2])
    return " ".join(" ".join(words(each) for each in node).split())


def leak(site: Site) -> Any:
    return site.client.findings(device=LIVE, states=["open"]).findings[0]


def test_the_frame_needs_no_reply_of_the_service(page: Any, looking: Site) -> None:
    looking.broken.set()
    try:
        shown = page.layout(state="closed", severity="warning")
    finally:
        looking.broken.clear()
    assert "Findings" in text(shown)
    stores: list[Any] = list(of_kind(shown, "Store"))
    (question,) = [store for store in stores if store.id == "findings-question"]
    assert question.data["state"] == "closed"
    assert question.data["severity"] == "warning"


def test_a_failing_service_keeps_the_list_with_a_message(page: Any, looking: Site) -> None:
    looking.broken.set()
    try:
        result, *rest = page.listed({"request_id": 7})
    finally:
        looking.broken.clear()
    assert result["request_id"] == 7
    assert result["error"]
    assert rest == [no_update] * 4


def test_open_findings_are_listed_worst_first_with_their_counts(page: Any, looking: Site) -> None:
    result, summary, states, kinds, rows = page.listed({})
    reply = looking.client.findings(states=["open"]).findings
    assert result["order"] == [each.id for each in reply]
    assert f"Open {len(reply)}" in words(states)
    assert "Leak" in words(kinds)
    assert "Tenant 12 main" in words(rows)
    assert "attention" in words(summary)


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ({"kind": "burst"}, "No open finding matches these filters."),
        ({"state": "dismissed"}, "Nothing dismissed."),
        ({"group": "nowhere"}, "No open finding matches these filters."),
    ],
)
def test_an_empty_list_has_a_reason(page: Any, question: dict[str, str], given: str) -> None:
    result, _, _, _, rows = page.listed(question)
    assert result["order"] == []
    assert given in words(rows)


def test_counts_follow_the_other_filters(page: Any, looking: Site) -> None:
    every = looking.client.findings(states=["open"]).findings
    leaks = sum(each.kind == "continuous-flow" for each in every)
    _, _, states, kinds, _ = page.listed({"kind": "continuous-flow"})
    assert f"Open {leaks}" in words(states)
    assert all(
        f"{kind.label} {n}" in words(kinds)
        for kind in KINDS
        if (n := sum(each.kind == kind.name for each in every))
    )


def test_a_detail_has_the_finding_its_times_and_links(page: Any, looking: Site) -> None:
    finding = leak(looking)
    result, shown = page.chosen({"finding": finding.id})
    assert result["finding"] == finding.id
    given = words(shown)
    assert re.search(r"Tenant 12 main: \d+ d( \d+ h)? without a stop", given)
    assert "America/Denver" in given
    assert "Dismiss…" in given
    assert result["figure"]["span"][0] < result["figure"]["span"][1]


def test_units_and_zone_are_the_readers(page: Any, looking: Site) -> None:
    finding = leak(looking)
    result, shown = page.chosen({"finding": finding.id, "units": "metric", "zone": "Asia/Tokyo"})
    assert "Asia/Tokyo" in words(shown)
    assert result["figure"]["unit"] in ("L/h", "m³/h")


def test_a_missing_finding_has_a_message(page: Any) -> None:
    _, shown = page.chosen({"finding": "nonsense"})
    assert "No such finding" in words(shown)


def test_dismissing_describes_its_effect_and_can_be_undone(page: Any, looking: Site) -> None:
    finding = leak(looking)
    done = page.judge({"do": "dismiss", "finding": finding.id, "reason": "Known"})
    assert "1.5 times" in done["words"]
    again = page.judge({"do": "dismiss", "finding": finding.id})
    assert "dismissed already" in again["error"]
    result, *_ = page.listed({"state": "dismissed"})
    assert result["order"] == [finding.id]
    assert "Known" in words(page.chosen({"finding": finding.id})[1])
    back = page.judge({"do": "restore", "finding": finding.id})
    assert "usual one again" in back["words"]
    assert finding.id in page.listed({})[0]["order"]


def test_the_file_has_all_matching_findings(web: httpx.Client, looking: Site) -> None:
    answer = web.get("/download/findings.csv", params={"state": "open", "kind": "continuous-flow"})
    assert answer.status_code == 200
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    reply = looking.client.findings(states=["open"], kinds=["continuous-flow"]).findings
    assert [row["id"] for row in rows] == [each.id for each in reply]
    assert {row["kind"] for row in rows} == {"continuous-flow"}
    query = {"state": "open", "kind": "continuous-flow", "units": "metric"}
    [metric, *_] = csv.DictReader(io.StringIO(web.get("/download/findings.csv", params=query).text))
    assert (rows[0]["unit"], metric["unit"]) == ("gal/h", "m3/h")
    for name in ("value", "volume"):
        us, si = (
            float(row[f"{name} ({unit})"] if name == "volume" else row[name])
            for row, unit in ((rows[0], "gal"), (metric, "m3"))
        )
        assert si == pytest.approx(us * 0.003785411784)
    assert "gal" not in metric["words"]


def test_the_navigation_counts_what_needs_attention(page: Any, looking: Site) -> None:
    urgent = looking.client.findings(
        states=["open"], severities=["critical", "warning"], count_only=True
    ).count
    badge = [s for s in of_kind(page.layout(), "Span") if getattr(s, "id", "") == "findings-badge"]
    assert text(badge[0]) == (str(urgent) if urgent else "")
