"""`flask alerts`, from the first rule to a message that was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.store.open import open_store
from api.timez import HOUR_MS, now_ms
from tests.commands.shell import Shell
from tests.insight.alerts.decided import a_finding
from tests.insight.alerts.stored import keep_findings
from tests.insight.alerts.test_receivers import hook
from tests.store.fleet import new_meters

ORG = ("--org", "acme")


@pytest.mark.slow
def test_a_rule_fires_by_command_and_its_message_arrives(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.environ["WEIR_ALERT_NETWORKS"] = "127.0.0.0/8"
    store = open_store(shell.url)
    store.upgrade()
    (device,) = new_meters(store, 1)
    with hook(200) as server:
        add = ("alerts", "receivers", "add", "Hook", *ORG, "--kind", "webhook", "--url", server.url)
        receiver = shell.ask(*add)
        assert receiver["secret"].startswith("whsec_")
        what = ("--kind", "continuous-flow", "--hold", "1h", "--receiver", receiver["id"])
        assert shell.ask("alerts", "rules", "add", "Leaks", *ORG, *what)["what"] == "Leak"
        keep_findings(store, [a_finding(device.key, opened=now_ms() - 2 * HOUR_MS)])
        store.close()
        sent = shell.ask("alerts", "send", "--once")
        assert sent == {"queued": 1, "sent": 1, "failed": 0, "dropped": 0}
    assert len(server.got) == 1
