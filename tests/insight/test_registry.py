"""The registry of kinds: names, settings and docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.insight.findings import KIND_BY_NAME, KINDS, SEVERITIES, parse, values
from tests.tables import cases

CONTRACT = [
    "continuous-flow",
    "night-flow-step",
    "burst",
    "high-flow",
    "unusual-day",
    "no-use",
    "stuck",
    "backwards",
    "silent",
    "missing-data",
    "low-quality",
    "weak-signal",
    "frost",
    "register-back",
]


def test_the_kinds_are_those_of_the_contract() -> None:
    assert sorted(KIND_BY_NAME) == sorted(CONTRACT)
    assert len({kind.label for kind in KINDS}) == len(KINDS)
    assert {kind.severity for kind in KINDS} <= set(SEVERITIES)


def test_every_kind_is_in_the_docs_with_its_settings() -> None:
    text = (Path(__file__).parents[2] / "docs" / "findings.md").read_text()
    first_table = text.partition("**District**")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", first_table, re.MULTILINE))
    assert rows == {kind.name: kind.label for kind in KINDS}
    named = set(re.findall(r"`(\w+)`", text))
    assert {setting.name for kind in KINDS for setting in kind.all_settings} <= named


@cases(
    ("kind", "name", "text", "value"),
    [
        ("continuous-flow", "limit", "15", 15.0),
        ("continuous-flow", "enabled", "off", 0.0),
        ("burst", "enabled", "True", 1.0),
        ("frost", "limit", "-3.5", -3.5),
    ],
)
def test_a_setting_is_read(kind: str, name: str, text: str, value: float) -> None:
    assert parse(KIND_BY_NAME[kind], name, text) == value


@cases(
    ("kind", "name", "text", "message"),
    [
        ("continuous-flow", "limit", "-1", "limit must be a number from 0.001 gal/h to 1,000,000"),
        ("continuous-flow", "limit", "much", "limit must be a number"),
        ("continuous-flow", "limit", "nan", "limit must be a number"),
        ("continuous-flow", "enabled", "2", "enabled must be on or off"),
        ("stuck", "limit", "3", "stuck has no setting 'limit'; it has enabled, factor, hours"),
    ],
)
def test_an_invalid_setting_is_refused(kind: str, name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse(KIND_BY_NAME[kind], name, text)


def test_the_last_layer_of_settings_wins() -> None:
    kind = KIND_BY_NAME["continuous-flow"]
    organization = {"continuous-flow": {"limit": 5.0, "factor": 2.0}}
    device = {"continuous-flow": {"limit": 9.0}}
    merged = values(kind, organization, device)
    assert (merged["limit"], merged["factor"], merged["enabled"]) == (9.0, 2.0, 1)


@cases("kind", KINDS)
def test_defaults_lie_within_their_bounds(kind: object) -> None:
    for setting in KIND_BY_NAME[getattr(kind, "name", "")].all_settings:
        assert setting.least <= setting.default <= setting.most, setting.name
