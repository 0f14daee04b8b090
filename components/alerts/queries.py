"""Queries of the alert pages, and the changes that their forms make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from api.client import Client
from api.client.alerts import (
    Alert,
    AlertPage,
    AlertReceiver,
    AlertRule,
    AlertSilence,
    Message,
    RulePreview,
)
from api.client.billing import BudgetStatus, ReportSchedule, TariffRecord
from api.errors import BadRequest, WeirError
from api.roles import Role
from api.timez import HOUR_MS, now_ms
from components import session
from components.alerts import billing, forms, rules
from components.alerts.lists import BILLING_PATH, PAGE, RULES_PATH
from components.controls import failure
from components.url_state import read_question, read_text

ROLE_S: Final = 30
BATCH: Final = 1_000
LONGEST_HOURS: Final = 24 * 366


class Now(NamedTuple):
    firing: AlertPage
    history: AlertPage
    messages: tuple[Message, ...]
    silences: tuple[AlertSilence, ...]


def now(page: int, group: str) -> Now:
    """What fires now, and failed messages. ``group``: "" for all. Raises a WeirError."""
    client, name = session.current_client(), group or None
    return Now(
        client.alerts(group=name, states=["firing"], limit=100),
        client.alerts(group=name, states=["resolved"], limit=PAGE, offset=(page - 1) * PAGE),
        client.alert_messages(),
        client.alert_silences(),
    )


def every_alert(client: Client, group: str) -> Iterator[Sequence[Alert]]:
    """Firing alerts, then resolved ones, loaded in batches."""
    place = 0
    while True:
        batch = client.alerts(group=group or None, limit=BATCH, offset=place).alerts
        if batch:
            yield batch
        if len(batch) < BATCH:
            return
        place += BATCH


def groups() -> tuple[str, ...]:
    """The names of the groups in the reader's scope; none if the service doesn't respond."""
    try:
        return session.current_client().groups()
    except WeirError:
        return ()


class Settings(NamedTuple):
    rules: tuple[AlertRule, ...]
    receivers: tuple[AlertReceiver, ...]


def settings() -> Settings:
    client = session.current_client()
    return Settings(client.alert_rules(), client.alert_receivers())


def role() -> Role:
    """The reader's role; a viewer's if the service doesn't respond."""
    try:
        return Role(session.remembered("role", lambda client: client.me().role, ttl_s=ROLE_S))
    except (WeirError, ValueError):
        return Role.VIEWER


def previewed(body: Mapping[str, Any]) -> RulePreview:
    return session.current_client().preview_rule(body)


# --- Changes -------------------------------------------------------------------------------------


def act(body: Mapping[str, Any]) -> str:
    """Acknowledge or silence an alert, or undo that. Returns the result as a sentence."""
    client = session.current_client()
    what, id = read_text(body.get("do")), read_text(body.get("id"))
    if what == "acknowledge":
        client.acknowledge_alert(id, read_text(body.get("text")))
        return "Acknowledged: no more reminders."
    if what == "unacknowledge":
        client.unacknowledge_alert(id)
        return "The acknowledgement was withdrawn."
    if what == "end-silence":
        client.delete_silence(id)
        return "The silence has ended."
    hours = read_text(body.get("hours"))
    alert, long = client.alert(id), int(hours) if hours.isdigit() else 1
    until_ms = now_ms() + min(max(long, 1), LONGEST_HOURS) * HOUR_MS
    kind = alert.subject if alert.finding_id else None
    client.create_silence(
        until_ms, device=alert.device_id, kind=kind, reason=read_text(body.get("text"))
    )
    return f"Silenced for {long} h: {alert.kind} · {alert.label}."


def change(what: str, id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Save, enable, delete or test a rule or a receiver. Returns ``words``, the result as a
    sentence, and ``go``, the address to go to."""
    client = session.current_client()
    fields = body.get("fields")
    typed: dict[str, Any] = fields if isinstance(fields, dict) else {}
    if what == "save-rule":
        definition = forms.definition(typed)
        rule = client.change_rule(id, definition) if id else client.create_rule(definition)
        return {"words": f"Saved: {rule.name}.", "go": f"{RULES_PATH}?rule={rule.id}"}
    if what == "save-receiver":
        return _receiver_saved(client, id, typed)
    if what == "test":
        message = client.test_receiver(id)
        good = message.state == "sent"
        return {"words" if good else "error": rules.tested(message)}
    if what in ("rule-on", "rule-off"):
        client.change_rule(id, {"enabled": what == "rule-on"})
        return {"words": f"The rule is {what.removeprefix('rule-')}."}
    if what in ("receiver-on", "receiver-off"):
        client.change_receiver(id, {"enabled": what == "receiver-on"})
        return {"words": f"The receiver is {what.removeprefix('receiver-')}."}
    if what == "delete-rule":
        client.delete_rule(id)
        return {"words": "The rule was deleted.", "go": RULES_PATH}
    client.delete_receiver(id)
    return {"words": "The receiver was deleted.", "go": RULES_PATH}


def deed_status(
    deed: Any, change: Callable[[str, str, Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """The result of a browser's change, made by ``change``, or the error: beside the form if
    something was to be saved."""
    request = read_question(deed)
    what, id = read_text(request.get("do")), read_text(request.get("id"))
    status: dict[str, Any] = {"request_id": request.get("request_id"), "do": what}
    try:
        return status | change(what, id, request)
    except BadRequest as error:
        return status | {"problem": problems(error)}
    except ValueError as error:
        return status | {"problem": str(error)}
    except WeirError as error:
        return status | {"problem" if what.startswith("save") else "error": failure(error)}


def problems(error: BadRequest) -> str:
    """The problem of each field, as sentences."""
    if not error.errors:
        return failure(error)
    return " ".join(f"{each.parameter.capitalize()} {each.detail}." for each in error.errors)


def _receiver_saved(client: Client, id: str, typed: dict[str, Any]) -> dict[str, Any]:
    if id:
        kinds = {each.id: each.kind for each in client.alert_receivers()}
        made = client.change_receiver(id, forms.receiver_definition(typed, kinds.get(id, "")))
    else:
        made = client.create_receiver(forms.receiver_definition(typed, None))
    words = f"Saved: {made.name}."
    if secret := made.secrets.get("secret"):
        return {"words": f"{words} Signing secret: {secret} – {forms.SHOWN_ONCE}"}
    return {"words": words, "go": f"{RULES_PATH}?receiver={made.id}"}


# --- Budgets, tariffs and scheduled reports ------------------------------------------------------


class Billing(NamedTuple):
    budgets: tuple[BudgetStatus, ...]
    tariffs: tuple[TariffRecord, ...]
    reports: tuple[ReportSchedule, ...]
    receivers: tuple[AlertReceiver, ...]


def all_billing() -> Billing:
    client = session.current_client()
    return Billing(
        client.budgets(), client.tariffs(), client.report_schedules(), client.alert_receivers()
    )


def change_billing(what: str, id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """As `change`, for billing. Raises ValueError for an invalid rate."""
    client = session.current_client()
    fields = body.get("fields")
    typed: dict[str, Any] = fields if isinstance(fields, dict) else {}
    deed, _, kind = what.partition("-")
    if deed == "save":
        return _saved(client, kind, id, typed)
    if what == "send-report":
        client.send_report_schedule(id)
        return {"words": "The report of the latest period is being sent."}
    if what in ("pause-report", "resume-report"):
        client.change_report_schedule(id, {"paused": deed == "pause"})
        return {"words": f"The report is {deed}d."}
    delete = {
        "budget": client.delete_budget,
        "tariff": client.delete_tariff,
        "report": client.delete_report_schedule,
    }
    if deed != "delete" or kind not in delete:
        return {"error": "Nothing was changed."}
    delete[kind](id)
    return {"words": f"The {kind} was deleted.", "go": BILLING_PATH}


def _saved(client: Client, kind: str, id: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "tariff":
        before = next((each for each in client.tariffs() if each.id == id), None)
        definition = billing.tariff_body(typed, before)
        name = (
            client.change_tariff(id, definition) if id else client.create_tariff(definition)
        ).name
    elif kind == "report":
        definition = billing.report_body(typed)
        change = client.change_report_schedule
        name = (change(id, definition) if id else client.create_report_schedule(definition)).name
    else:
        read = billing.typed(typed)
        group = billing.one(read, "group") or None
        device = None if group else billing.one(read, "device")
        own = [
            each
            for each in client.budgets()
            if (each.group if group else each.device_id) == (group or device)
        ]
        measure, amount = billing.one(read, "measure"), billing.budget_amount(read, own)
        made = client.set_budget(amount, device=device, group=group, measure=measure or "volume")
        name = made.label
    return {"words": f"Saved: {name}.", "go": BILLING_PATH}
