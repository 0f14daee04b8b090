"""Rates as lines of text, and what the forms of tariffs and reports send."""

from __future__ import annotations

from typing import Any

import pytest

from components.alerts.plans import rate_of, rate_text, report_body, tariff_body


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        ("0.008", {"perGallon": "0.008", "above": "0"}),
        (" 0.012  above 3000 ", {"perGallon": "0.012", "above": "3000"}),
        (
            "0.02 06-01..09-30 mon-wed 17-21",
            {"perGallon": "0.02", "above": "0", "season": ["06-01", "09-30"],
             "days": ["mon", "tue", "wed"], "hours": [17, 21]},
        ),
        ("0.02 SAT-MON", {"perGallon": "0.02", "above": "0", "days": ["sat", "sun", "mon"]}),
        ("0.02 mon,fri 22-6", {"perGallon": "0.02", "above": "0", "days": ["mon", "fri"],
                               "hours": [22, 6]}),
    ],
)  # fmt: skip
def test_a_rate_is_a_line(line: str, rate: dict[str, Any]) -> None:
    assert rate_of(line) == rate
    assert rate_of(rate_text(rate)) == rate


@pytest.mark.parametrize("line", ["", "cheap", "0.02 above", "0.02 monday", "0.02 17"])
def test_what_is_no_rate_is_said(line: str) -> None:
    with pytest.raises(ValueError, match=r"can't be read|isn't a weekday"):
        rate_of(line)


def test_a_form_of_a_tariff_is_sent_whole() -> None:
    fields = {
        "name": ["City "], "currency": ["USD"], "rates": ["0.01\n\n0.02 above 10\n"],
        "fixed": [""], "since": [""], "groups": ["A", "B"], "devices": ["M-1, M-2 ,"],
        "organization": ["yes"],
    }  # fmt: skip
    body = tariff_body(fields, None)
    assert body["versions"] == [
        {"from": "1970-01-01", "fixed": "0",
         "rates": [{"perGallon": "0.01", "above": "0"}, {"perGallon": "0.02", "above": "10"}]}
    ]  # fmt: skip
    assert (body["name"], body["groups"]) == ("City", ["A", "B"])
    assert (body["devices"], body["organization"]) == (["M-1", "M-2"], True)


def test_a_form_of_a_report() -> None:
    fields = {"name": ["W"], "every": ["week"], "timezone": ["UTC"], "receivers": ["r"],
              "group": [""], "devices": [""]}  # fmt: skip
    body = report_body(fields)
    assert (body["group"], body["devices"], body["receivers"]) == (None, [], ["r"])
