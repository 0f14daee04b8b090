"""`flask demo seed`: the fleet, its key, and what a second call does."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from api.catalog import HOUR_MS
from api.errors import Unavailable
from api.ingest.demo.fleet import ORGANIZATION_ID
from api.settings import Settings
from api.store.base import Store
from tests.commands.conftest import CommandLine


@pytest.fixture(autouse=True)
def short_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.ingest.demo.fleet.HISTORY_MS", 6 * HOUR_MS)


def demo_key(flask: CommandLine) -> dict[str, str]:
    path = Settings.from_env(flask.environ).demo_key_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return json.loads(path.read_text())


def test_seeding_makes_store_organization_devices_readings_and_key(flask: CommandLine) -> None:
    done = flask.ask("demo", "seed")
    assert (done["organizationId"], done["devices"]) == (ORGANIZATION_ID, 60)
    assert done["stored"] > 10_000
    (organization,) = flask.ask("orgs", "list")
    assert organization["name"] == "Northside Properties"
    (key,) = flask.ask("keys", "list")
    made = demo_key(flask)
    assert (key["keyId"], key["state"], key["allDevices"]) == (made["keyId"], "active", True)
    assert flask.ask("rollups", "verify")["wrong"] == 0
    rules = flask.ask("alerts", "rules", "list", "--org", ORGANIZATION_ID)
    assert [rule["name"] for rule in rules] == ["Leaks and bursts", "Silent meters"]


def test_seeding_again_only_adds_what_has_been_sent_since(flask: CommandLine) -> None:
    first = flask.ask("demo", "seed")
    made = demo_key(flask)
    again = flask.ask("demo", "seed")
    assert again["stored"] < first["stored"] / 100
    assert demo_key(flask) == made
    assert len(flask.ask("keys", "list")) == 1


def test_if_missing_leaves_what_is_there(
    flask: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    flask.ask("demo", "seed")

    def never(*_: object) -> object:
        raise AssertionError("it is there")

    monkeypatch.setattr("api.commands.demo._fill", never)
    monkeypatch.setattr("api.commands.demo.new_key", never)
    done = flask.ask("demo", "seed", "--if-missing")
    assert done == {"organizationId": ORGANIZATION_ID, "devices": 60, "stored": 0}


def test_if_missing_goes_on_with_what_was_interrupted(
    flask: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:

        def lost(*_: object) -> int:
            raise RuntimeError("lost")

        patched.setattr("api.commands.demo._fill", lost)
        flask.error("demo", "seed")
    assert flask.ask("demo", "seed", "--if-missing")["stored"] > 10_000


@pytest.mark.parametrize("damage", ["gone", "revoked", "nonsense"])
def test_a_key_that_no_longer_works_is_made_anew(flask: CommandLine, damage: str) -> None:
    flask.ask("demo", "seed")
    before = demo_key(flask)
    path = Settings.from_env(flask.environ).demo_key_path
    if damage == "gone":
        path.unlink()
    elif damage == "nonsense":
        path.write_text("{")
    else:
        flask.ask("keys", "revoke", before["keyId"])
    flask.ask("demo", "seed", "--if-missing")
    assert demo_key(flask)["keyId"] != before["keyId"]


def test_the_key_lets_the_dashboard_in(
    flask: CommandLine, opened: Callable[[], Store], tmp_path: Path
) -> None:
    from api.server import create_service

    flask.ask("demo", "seed")
    settings = Settings.from_env(flask.environ)
    service = create_service(opened(), settings).test_client()
    key = {"service-api-key": settings.demo_key()}
    devices = service.get("/management/v1/device", headers=key).get_json()
    assert len(devices) == 59  # the inactive one is not listed
    inactive = service.get("/management/v1/device?active=false", headers=key).get_json()
    (old,) = inactive
    path = "/management/v1/flow/datapoints/{}?resolution=total"
    assert service.get(path.format(old["serialNumber"]), headers=key).status_code == 404
    assert service.get(path.format(old["id"]), headers=key).status_code == 200


def test_a_feed_waits_while_the_store_is_out_of_reach(
    flask: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    flask.ask("demo", "seed")
    answers: list[Exception | None] = [Unavailable("It is locked."), Unavailable("Still."), None]

    def feed(*_: object) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    monkeypatch.setattr("api.commands.demo._feed", feed)
    monkeypatch.setattr("api.commands.demo.RETRY_S", 0.01)
    monkeypatch.setattr("api.commands.demo.signal.signal", lambda *_: None)
    result = flask.run("demo", "feed")
    assert (result.exit_code, answers) == (0, [])
    assert len(result.stderr.splitlines()) == 2
    assert "It is locked. Retrying" in result.stderr


def test_a_feed_without_its_fleet_says_so(weir: CommandLine) -> None:
    assert weir.error("demo", "feed") == "there is no demo fleet: run flask demo seed"


# --- A store of its own --------------------------------------------------------------------------


def test_seeding_leaves_a_store_of_real_meters_alone(weir: CommandLine, org: str) -> None:
    told = weir.error("demo", "seed")
    assert "holds the organization Acme" in told
    assert "--into-existing" in told
    assert [each["id"] for each in weir.ask("orgs", "list")] == [org]
    assert weir.ask("demo", "seed", "--into-existing")["devices"] == 60
    weir.error("demo", "seed", "--if-missing")  # nor is it topped up unasked


def test_the_demo_is_removed_and_the_others_stay(
    weir: CommandLine, meters: str, tmp_path: Path
) -> None:
    rows = tmp_path / "r.csv"
    rows.write_text("device,recorded_at,flow_rate\nM-1,2024-03-01T10:00:00Z,1\n")
    weir.ask("readings", "import", rows, "--org", meters)
    weir.ask("keys", "create", "--org", meters)
    before = weir.ask("rollups", "verify")
    stored = weir.ask("demo", "seed", "--into-existing")["stored"]
    assert weir.ask("demo", "remove") == {"devices": 60, "readings": stored}
    assert [each["id"] for each in weir.ask("orgs", "list")] == [meters]
    assert [each["organizationId"] for each in weir.ask("keys", "list")] == [meters]
    assert weir.ask("rollups", "verify") == before
    assert not Settings.from_env(weir.environ).demo_key_path.exists()
    assert "has no demo fleet" in weir.error("demo", "remove")
    assert weir.ask("demo", "seed", "--into-existing")["devices"] == 60  # and it can come again
