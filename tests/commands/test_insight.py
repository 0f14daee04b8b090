"""`weir insight`: the status of devices by command."""

from __future__ import annotations

import json

from api.store.base import NewDevice
from api.store.open import open_store
from api.store.query import Query
from api.timez import MINUTE_MS, now_ms
from tests.commands.conftest import CommandLine
from tests.store.fleet import device, reading


def test_the_status_is_updated_verified_and_rebuilt(weir: CommandLine) -> None:
    store = open_store(weir.environ["WEIR_DATABASE"])
    store.create_organization("Acme", organization_id="acme")
    store.import_devices("acme", [NewDevice("M-1"), NewDevice("M-2")])
    meter, now = device(store, "acme", "M-1"), now_ms()
    store.write([reading(meter, now - n * MINUTE_MS, flow_amount=0.1) for n in range(90)])
    assert weir.ask("insight", "verify") == {"devices": 0, "wrong": 0}  # nothing evaluated yet
    assert weir.ask("insight", "run")["devices"] == 1  # the other one sent nothing
    assert weir.ask("insight", "verify") == {"devices": 2, "wrong": 0}
    with store.transaction() as transaction:
        transaction.run(Query("UPDATE device_status SET volume_month = 99"))
    assert _wrong(weir) == 2
    assert weir.ask("insight", "rebuild", "--org", "acme", "--device", "M-1")["devices"] == 1
    assert _wrong(weir) == 1
    assert weir.ask("insight", "rebuild")["devices"] == 2
    assert _wrong(weir) == 0
    store.close()


def _wrong(weir: CommandLine) -> int:
    result = weir.run("insight", "verify", "--json")
    output = json.loads(result.stdout)
    assert result.exit_code == (1 if output["wrong"] else 0)
    return output["wrong"]


def test_a_missing_device_is_one_line(weir: CommandLine) -> None:
    assert weir.error("insight", "run", "--device", "M-1") == "--device needs --org"
    assert "no such organization" in weir.error("insight", "verify", "--org", "acme")
