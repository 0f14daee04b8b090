"""Scheduled reports: their periods, one message for each, and its content."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.insight.alerts.management import Author
from api.insight.billing_changes import (
    change_schedule,
    create_schedule,
    drop_schedule,
    send_schedule,
)
from api.insight.outbox import Outbox
from api.insight.receivers import email, webhook
from api.insight.receivers.kind import Answer, Kind, Means, Message
from api.insight.receivers.sealed_secrets import ReceiverSeal
from api.insight.report_schedules import ReportSchedules, due_after, period_before, period_words
from api.settings import Settings
from api.store.base import Store
from api.store.base.alerts import MessageRow, ReceiverRow
from api.store.open import open_store
from api.timez import DAY_MS, HOUR_MS, parse_instant, zone
from tests.store.fleet import everything, new_meters

NEW_YORK = "America/New_York"


@pytest.mark.parametrize(
    ("every", "at", "first", "last", "due"),
    [
        ("week", "2026-11-23T12:00Z", "2026-11-16", "2026-11-22", "2026-11-30T11:00Z"),
        ("week", "2026-11-23T10:59Z", "2026-11-16", "2026-11-22", "2026-11-23T11:00Z"),
        ("week", "2026-11-23T04:59Z", "2026-11-09", "2026-11-15", "2026-11-23T11:00Z"),
        ("week", "2026-11-01T12:00Z", "2026-10-19", "2026-10-25", "2026-11-02T11:00Z"),  # clocks
        ("month", "2026-11-01T12:00Z", "2026-10-01", "2026-10-31", "2026-12-01T11:00Z"),
        ("month", "2026-03-01T05:00Z", "2026-02-01", "2026-02-28", "2026-03-01T11:00Z"),
    ],
)
def test_periods_and_when_they_are_due(
    every: Any, at: str, first: str, last: str, due: str
) -> None:
    tz, at_ms = zone(NEW_YORK), parse_instant(at)
    days = period_before(every, tz, at_ms)
    assert [date.fromordinal(day).isoformat() for day in days] == [first, last]
    assert due_after(every, tz, at_ms) == parse_instant(due)


def test_a_period_in_words() -> None:
    days = [date(2026, 2, 1), date(2026, 2, 28), date(2026, 2, 7)]
    first, last, week = (day.toordinal() for day in days)
    assert period_words(first, last) == "February 2026"
    assert period_words(first, week) == "1 Feb 2026 – 7 Feb 2026"


# --- In the store --------------------------------------------------------------------------------

NOW = parse_instant("2026-11-20T12:00Z")
DUE = parse_instant("2026-11-23T11:00Z")
SETTINGS = Settings.from_env({"WEIR_SECRET_KEY": "s" * 40, "WEIR_SMTP_URL": "smtp://mail.example"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'weir.sqlite'}")
    opened.upgrade()
    yield opened
    opened.close()


@pytest.fixture
def author(store: Store) -> Author:
    new_meters(store, 1)
    secret = ReceiverSeal(SETTINGS.secret).close({})
    for id, kind in (("r-1", "email"), ("r-2", "email"), ("r-3", "mqtt")):
        row = ReceiverRow(id, "acme", id, kind, '{"to": ["a@b.example"]}', secret, 1, "", "k", 0, 0)
        store.keep_receiver(row, ())
    return Author("key_x", everything("acme"), NOW)


def scheduled(store: Store, author: Author, **more: Any) -> str:
    body = {"name": "Weekly", "timezone": NEW_YORK, "receivers": ["r-1", "r-2"], **more}
    return create_schedule(store, author, body).row.id


def queued(store: Store) -> list[MessageRow]:
    return sorted(store.alert_messages("acme"), key=lambda row: row.receiver_id)


def test_each_period_is_queued_once_for_each_receiver(store: Store, author: Author) -> None:
    scheduled(store, author)
    runs = [ReportSchedules(store).run(at) for at in (NOW, DUE - 1, DUE, DUE, DUE + HOUR_MS)]
    assert runs == [0, 0, 2, 0, 0]
    assert [row.receiver_id for row in queued(store)] == ["r-1", "r-2"]
    report = orjson.loads(queued(store)[0].body)["report"]
    assert (report["from"], report["to"]) == ("2026-11-16", "2026-11-22")
    assert report["params"] == {"range": "2026-11-16..2026-11-22", "zone": NEW_YORK}


def test_two_writers_and_a_kill_queue_it_once(store: Store, author: Author) -> None:
    """The second writer reads the schedule before the first one's transaction."""
    scheduled(store, author)
    (before,) = store.billing_rows("report")
    assert ReportSchedules(store).run(DUE) == 2
    assert not store.queue_reports(before, DUE + 1, [])
    (after,) = store.billing_rows("report")
    store.queue_reports(after, DUE, [])  # as in a restored backup
    ReportSchedules(store).run(DUE)
    assert len(queued(store)) == 2


def test_after_a_downtime_the_latest_period_is_sent_once(store: Store, author: Author) -> None:
    scheduled(store, author)
    back_ms = DUE + 16 * DAY_MS
    assert ReportSchedules(store).run(back_ms) == 2
    assert orjson.loads(queued(store)[0].body)["report"]["to"] == "2026-12-06"
    assert ReportSchedules(store).run(back_ms + HOUR_MS) == 0


def test_paused_resumed_sent_again_and_deleted(store: Store, author: Author) -> None:
    id = scheduled(store, author, receivers=["r-1"])
    paused = change_schedule(store, author, id, {"paused": True})
    assert (paused.paused, paused.row.due_ms) == (True, None)
    assert ReportSchedules(store).run(DUE) == 0
    assert change_schedule(store, author, id, {"paused": False}).row.due_ms == DUE
    for _ in range(2):
        send_schedule(store, author, id)
    assert len(queued(store)) == 2
    drop_schedule(store, author, id)
    assert ReportSchedules(store).run(DUE) == 0
    assert len(queued(store)) == 2  # sent reports stay listed


def test_the_outbox_sends_it_and_shows_a_failure(
    store: Store, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    from api.insight import outbox as module

    got: list[str] = []

    def send(message: Message, means: Means) -> Answer:
        got.append(message.row.receiver_id)
        return Answer(message.row.receiver_id == "r-1", "550 no", hopeless=True)

    kind = Kind("email", "E-mail", (), lambda body: ({}, {}), send)
    monkeypatch.setattr(module, "KIND_BY_NAME", {"email": kind})
    scheduled(store, author)
    ReportSchedules(store).run(DUE)
    outbox = Outbox(store, Means(SETTINGS), clock=lambda: DUE)
    assert outbox.send_all() == {"sent": 1, "failed": 1, "dropped": 0}
    assert [(row.state, row.response) for row in queued(store)] == [
        ("sent", "550 no"),
        ("dead", "550 no"),
    ]
    outbox.close()


# --- The message ---------------------------------------------------------------------------------


def a_message() -> Message:
    report = {"id": "p", "name": "Weekly use", "period": "16 – 22 Nov", "from": "2026-11-16",
              "to": "2026-11-22", "createdBy": "k", "params": {}}  # fmt: skip
    row = MessageRow("m", "acme", "r", "p", 0, "report", "queued", 0, 0, 0, None, "", "{}")
    body = {"event": "report", "alerts": [], "group": None, "note": "", "thread": "p",
            "rule": {"id": "", "name": ""}, "report": report, "organizationId": "acme"}  # fmt: skip
    return Message(row, body, {"to": ["a@b.example"]}, {}, "https://weir.example", True)


def test_a_mail_has_the_pdf_and_its_address() -> None:
    message = a_message()
    mail = email.made(message, "weir@b.example", None)
    mail = email.reported(mail, message, "https://weir.example/export/report.pdf?sig=1", b"%PDF-")
    assert mail["Subject"] == "Weekly use: 16 – 22 Nov"
    assert mail["Message-ID"] == "<m@b.example>"
    (paper,) = mail.iter_attachments()
    assert paper.get_filename() == "weekly-use_2026-11-16_2026-11-22.pdf"
    assert paper.get_content() == b"%PDF-"
    body = mail.get_body(("plain",))
    assert body is not None
    assert "report.pdf?sig=1" in body.get_content()


def test_a_webhook_has_the_address() -> None:
    means = Means(SETTINGS, link=lambda body: "/export/report.pdf?sig=1")
    body = webhook.body_of(a_message(), means)
    assert body["report"]["link"] == "https://weir.example/export/report.pdf?sig=1"
    assert body["report"]["period"] == "16 – 22 Nov"
