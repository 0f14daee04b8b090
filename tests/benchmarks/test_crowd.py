"""What many dashboards at once are measured with."""

from __future__ import annotations

import math

import pytest

from benchmarks.site.crowd import Habit, Sample, figures, live
from benchmarks.site.renderer import Dependency, dependencies


def test_figures_are_of_good_answers_and_count_the_bad() -> None:
    good = [Sample("chart", 0.0, float(ms), 100) for ms in range(1, 102)]
    bad = Sample("chart", 9.0, 5_000.0, 0, "ReadTimeout")
    (found,) = figures([*good, bad], seconds=10)
    assert (found.p50_ms, found.p95_ms, found.slowest_ms) == (51, 96, 101)
    assert found.faults == {"ReadTimeout": 1}
    assert (found.answers, found.per_s) == (102, 10.2)


def test_each_kind_is_told_for_itself_and_then_all() -> None:
    samples = [Sample(kind, 0.0, ms, 1) for kind, ms in (("wall", 3.0), ("chart", 1.0))]
    assert [(f.kind, f.p50_ms) for f in figures(samples, 1)] == [
        ("chart", 1.0),
        ("wall", 3.0),
        ("all", 2.0),
    ]


def test_without_a_good_answer_there_is_no_time() -> None:
    (found,) = figures([Sample("wall", 0.0, 1.0, 0, "status 500")], 1)
    assert math.isnan(found.p95_ms)


def test_everybody_keeps_their_rhythm_and_what_breaks_is_heard() -> None:
    done: list[float] = []
    live([Habit(done.append, 0.1)] * 2, seconds=0.55, seed=1)
    assert 8 <= len(done) <= 14
    with pytest.raises(ZeroDivisionError):
        live([Habit(lambda due_s: 1 / 0, 0.1)], seconds=0.2, seed=1)


def test_only_the_servers_callbacks_are_asked() -> None:
    part = [{"id": "question", "property": "data"}]
    told = [
        {"output": "..graph.figure...badge.children..", "inputs": part, "state": []},
        {"output": "board.data", "inputs": part, "state": part},
        {
            "output": "drawn.data",
            "inputs": part,
            "state": [],
            "clientside_function": {"namespace": "fleet", "function_name": "draw"},
        },
    ]
    several = ("graph.figure", "badge.children")
    assert dependencies(told) == [
        Dependency("..graph.figure...badge.children..", several, ("question.data",), ()),
        Dependency("board.data", ("board.data",), ("question.data",), ("question.data",)),
    ]
