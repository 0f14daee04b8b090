"""`weir tariffs`, `weir budgets` and `weir reports`, from their making to their end."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands.conftest import CommandLine


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
