"""`weir tariffs`, `weir budgets` and `weir reports`, from creation to deletion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import CommandLine


def test_the_organizations_units_are_typed_and_printed(
    weir: CommandLine, org: str, tmp_path: Path
) -> None:
    """What is stored is in gallons; --units chooses others."""
    of = ("--org", org)
    weir.ask("orgs", "set", org, "--units", "metric")
    tariff = weir.ask("tariffs", "add", "City", *of, "--rate", "3.5", "--tier", "10=4.25")
    assert [rate["perGallon"] for rate in tariff["versions"][0]["rates"]] == [
        "0.013248941244", "0.016088000082",
    ]  # fmt: skip
    assert (tariff["per"], tariff["rates"]) == ("USD per m³", ["3.5", "4.25 above 10 m³"])
    (listed,) = weir.ask("tariffs", "list", *of, "--units", "us")
    assert (listed["per"], listed["rates"][0]) == ("USD per gallon", "0.013248941244")
    lines = ["4.25 06-01..09-30 mon-fri 17-21", "3.5", "5 above 10"]
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps({"versions": [{"from": "2026-01-01", "rates": lines}]}))
    read = weir.ask("tariffs", "add", "Rows", *of, "--file", rows)
    assert read["rates"] == [
        "4.25 06-01..09-30 mon,tue,wed,thu,fri 17-21", "3.5", "5 above 10 m³",
    ]  # fmt: skip
    rows.write_text(json.dumps({"versions": [{"from": "2026-01-01", "rates": ["dear"]}]}))
    assert "can't be read" in weir.error("tariffs", "add", "Other", *of, "--file", rows)
    fleet = tmp_path / "fleet.json"
    fleet.write_text(json.dumps([{"serialNumber": "M-1"}]))
    weir.ask("devices", "import", fleet, *of)
    budget = weir.ask("budgets", "set", "100", *of, "--device", "M-1")
    assert (budget["amount"], budget["unit"]) == (100.0, "m³")
    (budget,) = weir.ask("budgets", "list", *of, "--units", "us")
    assert (budget["amount"], budget["unit"]) == (26417.2052, "gal")
    named = ("--metric", "flow_rate", "--above", "40")
    rule = weir.ask("alerts", "rules", "add", "High", *of, *named)
    assert rule["what"] == "Flow rate above 40.0 L/min"
    rule = weir.ask("alerts", "rules", "change", rule["id"], *of, "--above", "50")
    assert rule["what"] == "Flow rate above 50.0 L/min"
    kind = ("--kind", "continuous-flow", *of)
    (setting,) = weir.ask("insight", "settings", "set", "limit=10", *kind)
    assert (setting["value"], setting["unit"]) == (10.0, "L/h")
    (setting,) = weir.ask("insight", "settings", "list", "--units", "us")
    assert setting["value"] == pytest.approx(2.641720523582, rel=1e-12)
    assert "must be a number" in weir.error("insight", "settings", "set", "limit=low", *kind)


def test_tariffs_budgets_and_reports(weir: CommandLine, org: str, tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.json"
    fleet.write_text(json.dumps([{"serialNumber": "M-1", "groups": ["north"]}]))
    weir.ask("devices", "import", fleet, "--org", org)
    rates = ("--rate", "0.01", "--tier", "3000=0.02", "--fixed", "5")
    tariff = weir.ask("tariffs", "add", "City", "--org", org, "--everyone", *rates)
    (version,) = tariff["versions"]
    assert [rate["perGallon"] for rate in version["rates"]] == ["0.01", "0.02"]
    named = weir.ask("tariffs", "change", tariff["id"], "--org", org, "--name", "Town")
    assert (named["name"], named["versions"]) == ("Town", tariff["versions"])
    budget = weir.ask("budgets", "set", "900", "--org", org, "--group", "north", "--by", "cost")
    assert (budget["amount"], budget["state"]) == (900.0, "unknown")
    assert [each["id"] for each in weir.ask("budgets", "list", "--org", org)] == [budget["id"]]
    receiver = weir.ask(
        "alerts", "receivers", "add", "Desk", "--org", org, "--kind", "email", "--to", "a@b.example"
    )["id"]
    report = weir.ask("reports", "add", "Weekly", "--org", org, "--receiver", receiver)
    assert weir.ask("reports", "change", report["id"], "--org", org, "--paused")["next"] is None
    assert weir.ask("reports", "send", report["id"], "--org", org) == {"queued": 1}
    for what, id in (
        ("reports", report["id"]),
        ("budgets", budget["id"]),
        ("tariffs", tariff["id"]),
    ):
        assert weir.ask(what, "delete", id, "--org", org) == {"deleted": id}
        assert weir.ask(what, "list", "--org", org) == []
