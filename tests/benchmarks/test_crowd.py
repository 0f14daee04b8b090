"""The figures and checks of the benchmark of many open dashboards."""

from __future__ import annotations

import math

import pytest

from benchmarks.site.crowd import Habit, Sample, figures, live
from benchmarks.site.renderer import Dependency, dependencies


def test_times_are_of_good_responses_and_bad_ones_are_counted() -> None:
    good = [Sample("chart", 0.0, float(ms), 100) for ms in range(1, 102)]
    bad = Sample("chart", 9.0, 5_000.0, 0, "ReadTimeout")
    (result,) = figures([*good, bad], seconds=10)
    assert (result.p50_ms, result.p95_ms, result.slowest_ms) == (51, 96, 101)
    assert result.faults == {"ReadTimeout": 1}
    assert (result.answers, result.per_s) == (102, 10.2)


def test_each_kind_has_its_row_and_all_have_a_total() -> None:
    samples = [Sample(kind, 0.0, ms, 1) for kind, ms in (("wall", 3.0), ("chart", 1.0))]
    assert [(f.kind, f.p50_ms) for f in figures(samples, 1)] == [
        ("chart", 1.0),
        ("wall", 3.0),
        ("all", 2.0),
    ]


def test_without_a_good_response_there_is_no_time() -> None:
    (result,) = figures([Sample("wall", 0.0, 1.0, 0, "status 500")], 1)
    assert math.isnan(result.p95_ms)


def test_every_reader_keeps_its_interval_and_errors_are_reported() -> None:
    done: list[float] = []
    live([Habit(done.append, 0.1)] * 2, seconds=0.55, seed=1)
    assert 8 <= len(done) <= 14
    with pytest.raises(ZeroDivisionError):
        live([Habit(lambda due_s: 1 / 0, 0.1)], seconds=0.2, seed=1)


def test_only_server_callbacks_are_requested() -> None:
    part = [{"id": "question", "property": "data"}]
    messages = [
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
    assert dependencies(messages) == [
        Dependency("..graph.figure...badge.children..", several, ("question.data",), ()),
        Dependency("board.data", ("board.data",), ("question.data",), ("question.data",)),
    ]
