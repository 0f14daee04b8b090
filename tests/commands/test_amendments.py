"""Deletions, corrections, maintenance and notes by command, and their audit log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.catalog import RAW
from api.store.base import Span, Store
from tests.commands.conftest import CommandLine
from tests.store.fleet import everything

DAY = "2026-03-08"


@pytest.fixture
def metered(weir: CommandLine, meters: str, tmp_path: Path) -> str:
    """The organization with ten readings of 4 gallons on M-1 and M-2, a minute apart."""
    path = tmp_path / "first.csv"
    rows = [f"{d},{DAY}T12:{n:02}:00Z,4" for d in ("M-1", "M-2") for n in range(10)]
    path.write_text("\n".join(["device,recorded_at,flow_amount", *rows]))
    weir.ask("readings", "import", path, "--org", meters)
    return meters


@pytest.fixture
def amounts(metered: str, opened: Callable[[], Store]) -> Callable[[str], list[Any]]:
    def ask(serial: str) -> list[Any]:
        store = opened()
        assert store.verify().wrong == 0
        (device,) = store.resolve(everything(metered), [serial])
        assert device is not None
        return [row[3] for row in store.rows(device, RAW, Span(), limit=100)]

    return ask


def log(weir: CommandLine, organization: str, *options: str) -> list[Any]:
    """Oldest first, without the entries of the fixtures."""
    body = weir.ask("audit", "list", "--org", organization, *options)
    assert all(each["author"].startswith("command:") for each in body)
    return list(reversed(body))


def test_readings_of_a_span_are_counted_then_deleted(
    weir: CommandLine, metered: str, amounts: Callable[[str], list[Any]]
) -> None:
    span = ["--org", metered, "--device", "M-1", "--from", f"{DAY}T12:02:00Z",
            "--to", f"{DAY}T12:05:00Z", "--reason", "hose test"]  # fmt: skip
    pretended = weir.ask("readings", "delete", *span, "--pretend")
    assert pretended["readings"] == 3
    assert len(amounts("M-1")) == 10
    assert weir.ask("readings", "delete", *span) == pretended
    assert (len(amounts("M-1")), len(amounts("M-2"))) == (7, 10)
    (entry,) = log(weir, metered, "--kind", "readings")
    assert (entry["action"], entry["reason"]) == ("delete", "hose test")
    assert json.loads(entry["before"])["readings"] == 3
    assert weir.ask("insight", "verify", "--org", metered)["wrong"] == 0
    assert "after" in weir.error("readings", "delete", *span[:5], DAY, *span[6:7], DAY, *span[8:])


def test_a_file_replaces_the_readings_of_its_span(
    weir: CommandLine, metered: str, amounts: Callable[[str], list[Any]], tmp_path: Path
) -> None:
    path = tmp_path / "again.csv"
    rows = [f"M-1,{DAY}T12:0{n}:00Z,{n}" for n in (3, 7)]
    path.write_text("\n".join(["device,recorded_at,flow_amount", *rows]))
    requests = ["readings", "import", path, "--org", metered, "--replace"]
    (row,) = weir.ask(*requests, "--pretend")
    assert (row["device"], row["readings"]) == ("M-1", 5)
    for _ in range(2):
        assert weir.ask(*requests)["stored"] == 2
        assert amounts("M-1") == [4.0, 4.0, 4.0, 3.0, 7.0, 4.0, 4.0]
    assert len(amounts("M-2")) == 10
    assert [each["action"] for each in log(weir, metered, "--kind", "readings")] == ["replace"] * 2
    assert "--replace" in weir.error(*requests[:-1], "--pretend")


def test_devices_are_listed_deactivated_and_deleted(
    weir: CommandLine, metered: str, amounts: Callable[[str], list[Any]]
) -> None:
    listed = weir.ask("devices", "list", "--org", metered)
    assert [(d["serialNumber"], d["active"]) for d in listed] == [
        ("M-1", True), ("M-2", True), ("M-3", False),
    ]  # fmt: skip
    assert listed[0]["lastHour"] == f"{DAY}T12:00:00Z"
    one = listed[0]["id"]
    assert weir.ask("devices", "deactivate", "M-1", "--org", metered)["active"] is False
    inactive = weir.ask("devices", "list", "--org", metered, "--inactive")
    assert [d["serialNumber"] for d in inactive] == ["M-1", "M-3"]
    assert weir.ask("devices", "activate", "M-1", "--org", metered)["id"] == one
    weir.ask("notes", "create", "Leaky", "--org", metered, "--device", "M-1", "--from", DAY)
    requests = ["devices", "delete", "M-1", "--org", metered, "--reason", "sold"]
    assert weir.ask(*requests, "--pretend")["readings"] == 10
    assert weir.ask(*requests) == {"id": one, "serialNumber": "M-1", "readings": 10}
    assert "device not found" in weir.error(*requests)
    assert len(amounts("M-2")) == 10
    assert weir.ask("notes", "list", "--org", metered) == []
    actions = [each["action"] for each in log(weir, metered, "--kind", "device")]
    assert actions == ["deactivate", "activate", "delete"]


def test_an_organization_is_deleted_and_its_audit_log_stays(
    weir: CommandLine, metered: str
) -> None:
    embed = ["--org", metered, "--view", "tile", "--device", "M-1"]
    weir.ask("embeds", "create", *embed)
    requests = ["orgs", "delete", metered, "--reason", "left"]
    assert weir.ask(*requests, "--pretend") == {"id": metered, "devices": 3, "readings": 20}
    assert weir.ask(*requests)["readings"] == 20
    assert weir.ask("orgs", "list") == []
    kinds = [(each["kind"], each["action"]) for each in log(weir, metered)]
    assert kinds[0] == ("organization", "create")
    assert kinds[-2:] == [("embed", "revoke"), ("organization", "delete")]


def test_corrections_by_command(
    weir: CommandLine, metered: str, amounts: Callable[[str], list[Any]]
) -> None:
    requests = ["corrections", "create", "--org", metered, "--device", "M-1", "--from",
             f"{DAY}T12:00:00Z", "--to", f"{DAY}T12:02:00Z", "--reason", "K factor"]  # fmt: skip
    shown = weir.ask(*requests, "--scale", "0.5", "--pretend")
    assert (shown["readings"], shown["gallonsBefore"], shown["gallonsAfter"]) == (2, 8.0, 4.0)
    made = weir.ask(*requests, "--scale", "0.5")
    excluded = weir.ask(*requests, "--exclude", "--metric", "flow_amount")
    assert amounts("M-1")[:3] == [None, None, 4.0]
    assert weir.ask("insight", "verify", "--org", metered)["wrong"] == 0
    weir.ask("corrections", "revoke", excluded["id"], "--org", metered, "--reason", "no")
    assert amounts("M-1")[:3] == [2.0, 2.0, 4.0]
    in_force = weir.ask("corrections", "list", "--org", metered, "--in-force")
    assert [each["id"] for each in in_force] == [made["id"]]
    assert len(weir.ask("corrections", "list", "--org", metered)) == 2
    again = ["corrections", "revoke", excluded["id"], "--org", metered, "--reason", "no"]
    assert "already" in weir.error(*again)
    assert "--exclude or --scale" in weir.error(*requests)
    assert "--to" in weir.error(*requests[:8], "--to", "2019-01-01", *requests[10:], "--exclude")


def test_notes_and_maintenance_by_command(weir: CommandLine, metered: str) -> None:
    org = ["--org", metered]
    note = weir.ask("notes", "create", "Valve", *org, "--group", "north", "--from", DAY)
    changed = weir.ask("notes", "change", note["id"], *org, "--text", "Valve 2")
    assert (changed["text"], changed["from"]) == ("Valve 2", note["from"])
    assert len(weir.ask("notes", "list", *org, "--search", "VALVE")) == 1
    assert weir.ask("notes", "delete", note["id"], *org)["id"] == note["id"]
    assert "no note" in weir.error("notes", "delete", note["id"], *org)
    plan = weir.ask("maintenance", "plan", *org, "--device", "M-1", "--from", f"{DAY}T10:00Z",
                    "--to", f"{DAY}T11:00Z", "--reason", "Pump", "--repeat", "daily",
                    "--until", "2026-03-20")  # fmt: skip
    shorter = weir.ask("maintenance", "change", plan["id"], *org, "--until", "2026-03-10")
    assert shorter["until"].startswith("2026-03-10")
    assert "--until" in weir.error("maintenance", "change", plan["id"], *org, "--until", DAY[:7])
    assert weir.ask("maintenance", "cancel", plan["id"], *org)["id"] == plan["id"]
    assert weir.ask("maintenance", "list", *org) == []


def test_keys_settings_and_embeds_are_audited(
    weir: CommandLine, metered: str, tmp_path: Path
) -> None:
    key = weir.ask("keys", "create", "--org", metered, "--name", "Ann")
    weir.ask("keys", "set-role", key["keyId"], "viewer")
    weir.ask("keys", "revoke", key["keyId"])
    weir.ask("insight", "settings", "set", "--org", metered, "--kind", "stuck", "factor=2")
    weir.ask("insight", "settings", "unset", "--org", metered, "--kind", "stuck", "factor")
    days = tmp_path / "days"
    days.write_text("2026-12-25")
    weir.ask("insight", "holidays", "set", days, "--org", metered)
    embed = weir.ask("embeds", "create", "--org", metered, "--view", "tile", "--device", "M-1")
    weir.ask("embeds", "revoke", embed["id"])
    entries = log(weir, metered)
    assert [(each["kind"], each["action"]) for each in entries[1:]] == [
        ("key", "create"), ("key", "change role"), ("key", "revoke"), ("settings", "set"),
        ("settings", "unset"), ("settings", "set holidays"), ("embed", "create"),
        ("embed", "revoke"),
    ]  # fmt: skip
    assert key["key"] not in json.dumps(entries)
    assert json.loads(entries[4]["after"]) == {"factor": 2.0}
