"""Rates as lines of text, and the request bodies of the tariff and report forms."""

from __future__ import annotations

from typing import Any

import pytest

from api.client.billing import BudgetStatus, TariffRecord
from api.metering.rate_lines import rate_line, read_rate_line
from components.alerts.billing import budget_amount, report_body, tariff_body
from tests.tables import cases


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
    assert read_rate_line(line, "us") == rate
    assert read_rate_line(rate_line(rate, "us"), "us") == rate


@cases(
    ("line", "rate", "above"),
    [
        ("3.5", "0.01324894124400", "0.000000"),
        ("2.13 above 10", "0.00806292709992", "2641.720524"),
        ("0.000001", "0.00000000378541", "0.000000"),
        ("1.2345 above 12345.678 mon 17-21", "0.00467309084735", "3261383.095013"),
    ],
)  # fmt: skip
def test_a_metric_rate_is_stored_in_gallons_and_shown_as_typed(
    line: str, rate: str, above: str
) -> None:
    read = read_rate_line(line, "metric")
    assert (read["perGallon"], read["above"]) == (rate, above)
    assert rate_line(read | {"above": above.strip("0").strip(".") or "0"}, "metric") == line


@cases(
    ("units", "measure", "text", "amount"),
    [
        ("us", "volume", "90000", "90000"), ("us", "cost", "120", "120"),
        ("metric", "volume", "100", "26417.2052"), ("metric", "cost", "120", "120"),
        ("metric", "volume", "much", "much"), ("metric", "volume", "", ""),
        ("metric", "volume", "340.687061", "90000.0"),  # the stored one, as it is shown
    ],
)  # fmt: skip
def test_a_budget_is_typed_in_the_units_of_its_form(
    units: str, measure: str, text: str, amount: str
) -> None:
    stored = BudgetStatus("b", "d", None, "M-1", 1, "volume", 90_000.0, "", None, None, None, "")
    fields = {"units": [units], "measure": [measure], "amount": [text]}
    assert budget_amount(fields, [stored]) == (amount if text != "90000" else "90000.0")


@pytest.mark.parametrize("line", ["", "cheap", "0.02 above", "0.02 monday", "0.02 17"])
def test_an_invalid_rate_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(ValueError, match=r"can't be read|isn't a weekday"):
        read_rate_line(line, "us")


def test_a_tariff_form_gives_the_request_body() -> None:
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


def test_a_rate_that_was_not_changed_keeps_its_stored_number() -> None:
    """1 ct a gallon is 2.641721 a m³: that isn't exactly 1 ct again."""
    old = {"perGallon": "0.01", "above": "0", "season": None, "days": None, "hours": None}
    versions = ({"from": "1970-01-01", "fixed": "0", "rates": [old]},)
    before = TariffRecord("t", "City", "EUR", versions, True, (), ())
    fields = {"units": ["metric"], "rates": ["2.641721\n3 above 10"]}
    (version,) = tariff_body(fields, before)["versions"]
    assert version["rates"][0] == old
    assert version["rates"][1]["perGallon"] == "0.01135623535200"


def test_a_report_form_gives_the_request_body() -> None:
    fields = {"name": ["W"], "every": ["week"], "timezone": ["UTC"], "receivers": ["r"],
              "group": [""], "devices": [""]}  # fmt: skip
    body = report_body(fields)
    assert (body["group"], body["devices"], body["receivers"]) == (None, [], ["r"])
