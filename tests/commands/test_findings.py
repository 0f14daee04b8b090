"""`weir insight`: findings evaluated, verified and rebuilt, and their settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.insight.findings import KINDS
from api.store.open import open_store
from api.timez import HOUR_MS, stamp
from tests.commands.conftest import CommandLine
from tests.insight.series import START, household


@pytest.fixture
def leaking(weir: CommandLine, org: str, tmp_path: Path) -> str:
    """The organization, with a meter (group north) that leaks 54 gal/h for six days."""
    path = tmp_path / "meters.devices.json"
    path.write_text(
        json.dumps([{"serialNumber": "M-1", "groups": ["north"], "reportingInterval": 3600}])
    )
    weir.ask("devices", "import", path, "--org", org)
    rows = ["device,recorded_at,flow_amount"]
    for n, gallons in enumerate(household(20)):
        result = gallons + (54 if n >= 14 * 24 else 0)
        rows.append(f"M-1,{stamp(START + n * HOUR_MS)},{result}")
    readings = tmp_path / "readings.csv"
    readings.write_text("\n".join(rows))
    weir.ask("readings", "import", readings, "--org", org)
    return org


def test_run_verify_and_rebuild(weir: CommandLine, leaking: str, sqlite_url: str) -> None:
    assert weir.ask("insight", "verify") == {"devices": 0, "wrong": 0}  # nothing evaluated yet
    counts = weir.ask("insight", "run")
    assert counts["devices"] == 1
    assert counts["opened"] >= 1
    assert weir.ask("insight", "run") == {"devices": 0, "opened": 0, "closed": 0}
    assert weir.ask("insight", "verify", "--org", leaking) == {"devices": 1, "wrong": 0}
    assert weir.ask("insight", "rebuild", "--org", leaking, "--device", "M-1")["opened"] == 0
    store = open_store(sqlite_url)
    from api.store.query import Query

    with store.transaction() as transaction:  # pyright: ignore[reportAttributeAccessIssue]
        transaction.run(Query("DELETE FROM finding"))
    store.close()
    result = weir.run("insight", "verify", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (1, {"devices": 1, "wrong": 1})
    assert weir.ask("insight", "rebuild")["opened"] == counts["opened"]
    assert weir.ask("insight", "verify") == {"devices": 1, "wrong": 0}


def test_a_finding_is_listed_dismissed_and_reopened(weir: CommandLine, leaking: str) -> None:
    weir.ask("insight", "run")
    named = ("insight", "findings", "--org", leaking, "--device", "M-1")
    (leak,) = (each for each in weir.ask(*named) if each["kind"] == "continuous-flow")
    assert leak["state"] == "open"
    dismissed = weir.ask("insight", "dismiss", leak["id"], "--reason", "a fountain")
    assert dismissed["dismissed"] == leak["id"]
    assert leak["id"] in {each["id"] for each in weir.ask(*named, "--state", "dismissed")}
    assert weir.ask("insight", "restore", leak["id"])["restored"] == leak["id"]
    assert weir.ask(*named, "--state", "dismissed") == []
    assert "no such finding" in weir.error("insight", "dismiss", "nothing")


@pytest.mark.parametrize("selection", [["--device", "M-1"], ["--group", "north"], ["--org"]])
def test_a_setting_is_set_listed_and_reset(
    weir: CommandLine, leaking: str, selection: list[str]
) -> None:
    selection = [*selection, leaking] if selection == ["--org"] else selection
    weir.ask("insight", "run")
    of_kind = ("--kind", "continuous-flow", *selection)
    (result,) = weir.ask("insight", "settings", "set", *of_kind, "limit=60.5")
    assert (result["key"], result["value"], result["organizationId"]) == ("limit", 60.5, leaking)
    assert weir.ask("insight", "settings", "list") == [result]
    assert weir.ask("insight", "run")["devices"] == 1
    assert weir.ask("insight", "verify")["wrong"] == 0
    assert weir.ask("insight", "settings", "unset", *of_kind, "limit") == {"unset": 1}
    assert weir.ask("insight", "settings", "list", "--org", leaking) == []
    assert weir.ask("insight", "run")["opened"] == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--kind", "leak", "--org", "{}", "limit=1"], "--kind: unknown kind"),
        (["--kind", "stuck", "--org", "{}", "limit=1"], "has no setting 'limit'"),
        (["--kind", "stuck", "--org", "{}", "hours=many"], "hours must be a number"),
        (["--kind", "stuck", "--org", "{}", "hours"], "must be KEY=VALUE"),
        (["--kind", "stuck", "hours=9"], "choose one: --device, --group or --org"),
        (["--kind", "stuck", "--device", "M-9", "hours=9"], "not found"),
        (["--kind", "stuck", "--group", "south", "hours=9"], "not found"),
        (["--kind", "stuck", "--group", "a", "--device", "b", "hours=9"], "not both"),
    ],
)
def test_an_invalid_setting_is_refused_and_changes_nothing(
    weir: CommandLine, leaking: str, arguments: list[str], text: str
) -> None:
    output = weir.error("insight", "settings", "set", *(a.format(leaking) for a in arguments))
    assert text in output
    assert weir.ask("insight", "settings", "list") == []


def test_the_defaults_are_listed(weir: CommandLine) -> None:
    body = weir.ask("insight", "settings", "list", "--defaults")
    assert {each["kind"] for each in body} == {kind.name for kind in KINDS}


def test_holidays_are_a_file_of_dates(weir: CommandLine, org: str, tmp_path: Path) -> None:
    file = tmp_path / "days"
    file.write_text("2026-12-25\n\n2026-01-01  # new year\n2026-12-25\n")
    assert weir.ask("insight", "holidays", "set", "--org", org, file) == {"days": 2}
    listed = [{"day": "2026-01-01"}, {"day": "2026-12-25"}]
    assert weir.ask("insight", "holidays", "list", "--org", org) == listed
    file.write_text("25.12.2026")
    assert "line 1: '25.12.2026' is not a date" in weir.error(
        "insight", "holidays", "set", "--org", org, file
    )
    assert weir.ask("insight", "holidays", "list", "--org", org) == listed
