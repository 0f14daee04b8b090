"""Every message is delivered under one id, in order, after failures of a receiver or of Weir."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.insight.alerts.evaluator import AlertEvaluator
from api.insight.outbox import RETRIES_S, Outbox
from api.insight.receivers.kind import Means
from api.store.base import FindingRow, Store
from api.store.base.alerts import AlertQuery, MessageRow
from api.store.open import open_store
from tests.insight.alerts.decided import NOW, a_finding
from tests.insight.alerts.stored import keep_findings, keep_hook, keep_rule
from tests.insight.alerts.test_receivers import Hook, hook, settings
from tests.store.fleet import everything, new_meters

SECRET = "s" * 40
KINDS = ("continuous-flow", "burst", "stuck", "no-use")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'weir.sqlite'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    opened.upgrade()
    yield opened
    opened.close()


def with_leak(store: Store, where: str) -> FindingRow:
    """A rule, a webhook, and a finding that fires."""
    (device,) = new_meters(store, 1)
    keep_hook(store, where, SECRET)
    keep_rule(store)
    leak = a_finding(device.key)
    keep_findings(store, [leak])
    assert AlertEvaluator(store).run(NOW) == 1
    return leak


def send(store: Store, at: int) -> dict[str, int]:
    outbox = Outbox(store, Means(settings(WEIR_SECRET_KEY=SECRET)), clock=lambda: at)
    try:
        return outbox.send_all()
    finally:
        outbox.close()


def messages(store: Store) -> list[MessageRow]:
    return list(reversed(store.alert_messages("acme")))


def test_a_failing_receiver_is_retried_and_gets_messages_in_order(store: Store) -> None:
    with hook(503, 500, 200) as server:
        leak = with_leak(store, server.url)
        assert send(store, NOW) == {"sent": 0, "failed": 1, "dropped": 0}
        keep_findings(store, [replace(leak, end_ms=NOW + 1)])
        AlertEvaluator(store).run(NOW + 1)
        assert send(store, NOW + 29_999) == {"sent": 0, "failed": 0, "dropped": 0}
        assert send(store, NOW + 30_000) == {"sent": 0, "failed": 1, "dropped": 0}
        assert send(store, NOW + 330_000) == {"sent": 2, "failed": 0, "dropped": 0}
    ids = [headers["webhook-id"] for headers, _ in server.got]
    states = [orjson.loads(body)["status"] for _, body in server.got]
    assert ids[0] == ids[1] == ids[2] != ids[3]
    assert states == ["firing"] * 3 + ["resolved"]
    assert [each.response for each in messages(store)] == ["200 said the hook"] * 2


def test_after_a_day_of_failures_it_is_dead_and_its_resolve_is_not_sent(store: Store) -> None:
    with hook(500) as server:
        leak = with_leak(store, server.url)
        at = NOW
        for pause in (0, *RETRIES_S):
            at += pause * 1000
            assert send(store, at)["failed"] == 1
        (fire,) = messages(store)
        assert (fire.state, fire.attempts, fire.response) == ("dead", 7, "500 said the hook")
        keep_findings(store, [replace(leak, end_ms=at)])
        AlertEvaluator(store).run(at)
        assert send(store, at + 1)["dropped"] == 1
    assert len(server.got) == 7


def test_a_receiver_that_is_gone_is_disabled(store: Store) -> None:
    with hook(410) as server:
        with_leak(store, server.url)
        send(store, NOW)
    (receiver,) = store.alert_receivers("acme")
    assert (receiver.enabled, receiver.trouble) == (0, "It responded 410 said the hook")


def test_a_hanging_receiver_blocks_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with hook(0) as stuck, hook(200) as well:
        keep_hook(store, stuck.url, SECRET, "stuck")
        (device,) = new_meters(store, 1)
        keep_hook(store, well.url, SECRET)
        keep_rule(store, receivers=["stuck", "hook"])
        keep_findings(store, [a_finding(device.key)])
        AlertEvaluator(store).run(NOW)
        outbox = Outbox(store, Means(settings(WEIR_SECRET_KEY=SECRET)), clock=lambda: NOW)
        outbox.send()
        _until(lambda: bool(well.got) and bool(stuck.got))
        _until(lambda: "sent" in {each.state for each in messages(store)})
        stuck.go_on.set()
        outbox.close()


def _until(holds: Callable[[], bool]) -> None:
    from tests.commands.shell import eventually

    eventually(holds, "it came")


def test_another_secret_key_is_reported_and_sends_nothing(store: Store) -> None:
    with hook(200) as server:
        with_leak(store, server.url)
        means = Means(settings(WEIR_SECRET_KEY="t" * 40))
        outbox = Outbox(store, means, clock=lambda: NOW)
        outbox.send_all()
        outbox.close()
    assert server.got == []
    assert "Enter it again" in messages(store)[0].response


def test_no_secret_is_in_the_store_or_a_log(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with hook(500) as server:
        with_leak(store, server.url)
        send(store, NOW)
    store.close()
    files = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"token=hush" not in files
    assert b"whsec_" not in files
    assert "hush" not in caplog.text


# --- Killed --------------------------------------------------------------------------------------


def _kill(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def _child(url: str, at: int, point: str) -> None:
    """A process that decides and sends, and kills itself at one of three points."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    store = open_store(url)
    patch = pytest.MonkeyPatch()
    if point == "before the commit":
        patch.setattr("api.store.alerts.sql.keep", _kill)
    engine = AlertEvaluator(store)
    engine.run(at)
    if point == "after the commit":
        _kill()
    if point == "after sending":
        tries = count()
        patch.setattr(Outbox, "_settled", lambda *_: next(tries) >= 20 and _kill())
    send(store, at)
    os._exit(0)


def test_1000_transitions_and_12_kills_send_each_event_under_one_id(url: str, store: Store) -> None:
    points = ["before the commit", "after the commit", "after sending"] * 4
    at = count(NOW, 120_000)
    with ExitStack() as stack:
        server: Hook = stack.enter_context(hook(200))
        devices = new_meters(store, 125)
        keep_hook(store, server.url, SECRET)
        keep_rule(store)
        store.close()
        for kind in KINDS:
            results = [a_finding(device.key, kind=kind) for device in devices]
            for rows in (results, [replace(each, end_ms=NOW + 1) for each in results]):
                writing = open_store(url)
                keep_findings(writing, rows)
                writing.close()
                for _ in range(2 if points else 1):
                    _child(url, next(at), points.pop() if points else "")
                _child(url, next(at), "")
        _child(url, next(at), "")
    got = [(headers["webhook-id"], orjson.loads(body)) for headers, body in server.got]
    first: dict[str, tuple[str, str]] = {}
    for id, body in got:
        named = (body["groupKey"], body["status"])
        assert first.setdefault(id, named) == named
    assert len(first) == 1_000  # each event has one id, and no event has two
    assert len(set(first.values())) == 1_000
    order = list(dict.fromkeys(first.values()))
    for thread in {name for name, _ in order}:
        assert order.index((thread, "firing")) < order.index((thread, "resolved"))
    after = open_store(url)
    assert after.count_alerts(everything("acme"), AlertQuery(states=["resolved"])) == 500
    assert after.count_alerts(everything("acme"), AlertQuery(states=["firing"])) == 0
    after.close()
