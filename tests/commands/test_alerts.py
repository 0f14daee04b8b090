"""`weir alerts`, from the first rule to a sent message."""

from __future__ import annotations

from api.store.open import open_store
from api.timez import HOUR_MS, now_ms
from tests.commands.conftest import CommandLine
from tests.insight.alerts.decided import a_finding
from tests.insight.alerts.stored import keep_findings
from tests.insight.alerts.test_receivers import hook
from tests.store.fleet import new_meters

ORG = ("--org", "acme")


def test_a_rule_fires_by_command_and_its_message_arrives(
    weir: CommandLine, sqlite_url: str
) -> None:
    weir.environ["WEIR_ALERT_NETWORKS"] = "127.0.0.0/8"
    store = open_store(sqlite_url)
    (device,) = new_meters(store, 1)
    with hook(200) as server:
        add = ("alerts", "receivers", "add", "Hook", *ORG, "--kind", "webhook", "--url", server.url)
        receiver = weir.ask(*add)
        assert receiver["secret"].startswith("whsec_")
        what = ("--kind", "continuous-flow", "--hold", "1h", "--receiver", receiver["id"])
        assert weir.ask("alerts", "rules", "add", "Leaks", *ORG, *what)["what"] == "Leak"
        keep_findings(store, [a_finding(device.key, opened=now_ms() - 2 * HOUR_MS)])
        store.close()
        sent = weir.ask("alerts", "send", "--once")
        assert sent == {"queued": 1, "sent": 1, "failed": 0, "dropped": 0}
    assert len(server.got) == 1
