"""`weir demo seed`: the fleet, its key, and a second call."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from api.auth.demo_key import DemoKey
from api.catalog import HOUR_MS
from api.commands.demo import create_alone, lacks_demo
from api.domain.demo_fleet import Trial
from api.errors import Unavailable
from api.ingest.demo.fleet import ORGANIZATION_ID
from api.settings import Settings
from api.store.base import Store
from api.store.open import open_store
from tests.commands.conftest import CommandLine


@pytest.fixture(autouse=True)
def short_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.ingest.demo.fleet.HISTORY_MS", 6 * HOUR_MS)
    monkeypatch.setattr("api.ingest.demo.fleet.LONG_HISTORY_MS", 6 * HOUR_MS)


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
    (tariff,) = flask.ask("tariffs", "list", "--org", ORGANIZATION_ID)
    assert tariff["groups"] == ["Tenants"]
    budgets = flask.ask("budgets", "list", "--org", ORGANIZATION_ID)
    assert {(each["group"], each["by"]) for each in budgets} == {
        ("Tenants", "cost"),
        ("Irrigation", "volume"),
    }
    (report,) = flask.ask("reports", "list", "--org", ORGANIZATION_ID)
    assert (report["every"], report["latest"]) == ("week", None)
    (receiver,) = flask.ask("alerts", "receivers", "list", "--org", ORGANIZATION_ID)
    assert receiver["enabled"] is False  # no mail is sent


def test_seeding_again_only_adds_newer_readings(flask: CommandLine) -> None:
    first = flask.ask("demo", "seed")
    made = demo_key(flask)
    again = flask.ask("demo", "seed")
    assert again["stored"] < first["stored"] / 100
    assert demo_key(flask) == made
    assert len(flask.ask("keys", "list")) == 1


def test_if_missing_changes_nothing_in_a_seeded_store(
    flask: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    flask.ask("demo", "seed")

    def never(*_: object) -> object:
        raise AssertionError("it is there")

    monkeypatch.setattr("api.commands.demo._fill", never)
    monkeypatch.setattr("api.commands.demo.new_key", never)
    done = flask.ask("demo", "seed", "--if-missing")
    assert done == {"organizationId": ORGANIZATION_ID, "devices": 60, "stored": 0}


def test_if_missing_continues_after_an_interruption(
    flask: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:

        def lost(*_: object) -> int:
            raise RuntimeError("lost")

        patched.setattr("api.commands.demo._fill", lost)
        flask.error("demo", "seed")
    assert flask.ask("demo", "seed", "--if-missing")["stored"] > 10_000


@pytest.mark.parametrize("damage", ["gone", "revoked", "nonsense"])
def test_a_key_that_no_longer_works_is_replaced(flask: CommandLine, damage: str) -> None:
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


def test_the_dashboard_reads_with_the_key(
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


def test_a_feed_waits_while_the_store_cannot_be_reached(
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


def test_a_feed_without_its_fleet_is_an_error(weir: CommandLine) -> None:
    assert weir.error("demo", "feed") == "there is no demo fleet: run weir demo seed"


# --- A store of its own --------------------------------------------------------------------------


def test_seeding_leaves_a_store_of_real_meters_alone(weir: CommandLine, org: str) -> None:
    output = weir.error("demo", "seed")
    assert "holds the organization Acme" in output
    assert "--into-existing" in output
    assert [each["id"] for each in weir.ask("orgs", "list")] == [org]
    assert weir.ask("demo", "seed", "--into-existing")["devices"] == 60
    weir.error("demo", "seed", "--if-missing")  # nor are readings added to it


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
    # And it can be seeded again.
    assert weir.ask("demo", "seed", "--into-existing")["devices"] == 60


def test_the_demo_comes_into_an_organization_of_an_empty_store_and_leaves(
    weir: CommandLine, org: str, tmp_path: Path
) -> None:
    done = weir.ask("demo", "seed", "--org", org)
    assert (done["organizationId"], done["state"], done["share"]) == (org, "complete", 1.0)
    assert weir.ask("demo", "seed", "--org", org) == done
    assert len(weir.ask("devices", "list", "--org", org)) == 60
    assert weir.ask("demo", "remove") == {"organizationId": org, "state": "none"}
    assert weir.ask("devices", "list", "--org", org) == []
    assert [each["id"] for each in weir.ask("orgs", "list")] == [org]
    file = tmp_path / "devices.json"
    file.write_text('[{"serialNumber": "M-1"}]')
    weir.ask("devices", "import", file, "--org", org)
    assert "empty store" in weir.error("demo", "seed", "--org", org)


def test_the_sign_in_page_s_demo_is_alone_and_leaves_an_empty_store(weir: CommandLine) -> None:
    config = Settings.from_env(weir.environ)
    weir.ask("db", "upgrade")
    with closing(open_store(config.database)) as store:
        assert lacks_demo(store, config)
        for _ in range(2):
            create_alone(config)
            assert not lacks_demo(store, config)
        (organization,) = store.organizations()
        trial = Trial.anywhere(store)
        assert trial == Trial(ORGANIZATION_ID, organization.created_ms, "sign-in page")
        assert DemoKey(store, config, ORGANIZATION_ID)() == demo_key(weir)["key"]
    assert weir.ask("demo", "remove")["state"] == "none"
    assert weir.ask("orgs", "list") == weir.ask("keys", "list") == []
    assert not config.demo_key_path.exists()


def test_the_sign_in_page_creates_no_demo_beside_an_organization(
    weir: CommandLine, org: str
) -> None:
    config = Settings.from_env(weir.environ)
    create_alone(config)
    assert [each["id"] for each in weir.ask("orgs", "list")] == [org]
