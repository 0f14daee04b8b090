"""The results of a run: a Markdown table for people, and JSON for comparing runs."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from typing import Any

import apsw
import orjson

from benchmarks.clock import QUIET, Outcome, quantile

_PACKAGES = ("apsw", "psycopg", "orjson", "flask", "numpy")
_HEAD = (
    "| question | goal | ratio p50 | p99 | ours ms | floor ms | A/A | verdict |",
    "|---|---|---:|---:|---:|---:|---:|---|",
)


def conditions(command: str, fleets: dict[str, str]) -> dict[str, str]:
    """Returns the machine and the versions of a run."""
    return {
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "sqlite of weir": apsw.sqlite_lib_version(),
        "sqlite of the floor": sqlite3.sqlite_version,
        **{name: version(name) for name in _PACKAGES},
        **fleets,
    }


def as_json(conditions: dict[str, str], outcomes: Sequence[Outcome]) -> bytes:
    rows: list[dict[str, Any]] = [
        asdict(o) | {"goals": [str(g) for g in o.goals], "met": o.met, "noisy": o.noisy}
        for o in outcomes
    ]
    report = {"conditions": conditions, "quiet": quiet(outcomes), "outcomes": rows}
    return orjson.dumps(report, option=orjson.OPT_INDENT_2)


def as_markdown(conditions: dict[str, str], outcomes: Sequence[Outcome]) -> str:
    lines = [f"- {name}: {value}" for name, value in conditions.items()]
    for (dialect, suite), group in groupby(outcomes, lambda o: (o.dialect, o.suite)):
        lines += ["", f"**{suite}, {dialect}**", "", *_HEAD, *map(_line, group)]
    return "\n".join([*lines, "", summary(outcomes)]) + "\n"


def quiet(outcomes: Iterable[Outcome]) -> bool:
    return not any(outcome.noisy for outcome in outcomes)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Says how many goals are met, and how far the floor's two runs differ."""
    judged = [o for o in outcomes if o.met is not None]
    met, noisy = sum(bool(o.met) for o in judged), sum(o.noisy for o in outcomes)
    again = [o.floor_again for o in outcomes] or [1.0]
    spread = f"A/A from {min(again):.2f} to {max(again):.2f}, median {quantile(again, 0.5):.2f}"
    calm = f"outside {QUIET[0]}–{QUIET[1]} in {noisy} of {len(outcomes)} rows"
    word = "a quiet run" if quiet(outcomes) else "a NOISY run: " + calm
    return f"{met} of {len(judged)} goals met; {spread}: {word}."


def _line(outcome: Outcome) -> str:
    rate = f" ({outcome.per_second:,.0f}/s)" if outcome.per_second else ""
    cells = (
        f"{outcome.question}: {outcome.runner}",
        "; ".join(map(str, outcome.goals)) or "–",
        f"{outcome.ratio_p50:.3g}",
        f"{outcome.ratio_p99:.3g}",
        f"{outcome.ours_ms:.3g}{rate}",
        f"{outcome.floor_ms:.3g}",
        f"{outcome.floor_again:.2f}",
        _verdict(outcome),
    )
    return f"| {' | '.join(cells)} |"


def _verdict(outcome: Outcome) -> str:
    word = {None: "–", True: "met", False: "**missed**"}[outcome.met]
    return f"{word}, noisy" if outcome.noisy else word
