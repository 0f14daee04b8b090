"""What the pages of alerts ask of the service."""

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
from api.client.plans import BudgetStatus, ReportSchedule, TariffRecord
from api.errors import BadRequest, WeirError
from api.roles import Role
from api.timez import HOUR_MS, now_ms
from components import session
from components.alerts import forms, plans, rules
from components.alerts.layout import PLANS_PATH, RULES_PATH
from components.alerts.lists import PAGE
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
    """``group`` "" for all. Raises a WeirError where the service can't answer."""
    client, name = session.current_client(), group or None
    return Now(
        client.alerts(group=name, states=["firing"], limit=100),
        client.alerts(group=name, states=["resolved"], limit=PAGE, offset=(page - 1) * PAGE),
        client.alert_messages(),
        client.alert_silences(),
    )


def every_alert(client: Client, group: str) -> Iterator[Sequence[Alert]]:
    """Firing ones, then resolved ones, a batch at a time."""
    place = 0
    while True:
        batch = client.alerts(group=group or None, limit=BATCH, offset=place).alerts
        if batch:
            yield batch
        if len(batch) < BATCH:
            return
        place += BATCH


def groups() -> tuple[str, ...]:
    """Those that the reader may know of; none where the service can't say."""
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
    """Of who looks; a viewer's where the service can't say."""
    try:
        return Role(session.remembered("role", lambda client: client.me().role, ttl_s=ROLE_S))
    except (WeirError, ValueError):
        return Role.VIEWER


def previewed(body: Mapping[str, Any]) -> RulePreview:
    return session.current_client().preview_rule(body)


# --- Deeds ---------------------------------------------------------------------------------------


def act(body: Mapping[str, Any]) -> str:
    """Acknowledge, silence, or take that back; what was done, in words."""
    client = session.current_client()
    what, id = read_text(body.get("do")), read_text(body.get("id"))
    if what == "acknowledge":
        client.acknowledge_alert(id, read_text(body.get("text")))
        return "Acknowledged: no more reminders."
    if what == "unacknowledge":
        client.unacknowledge_alert(id)
        return "The acknowledgement was taken back."
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
    """Save, switch, delete or test; ``words`` of what was done, and where to ``go``."""
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
    """What the browser's deed did by ``change``, or what is wrong: beside the form where something
    was to be saved."""
    request = read_question(deed)
    what, id = read_text(request.get("do")), read_text(request.get("id"))
    status: dict[str, Any] = {"asked": request.get("asked"), "do": what}
    try:
        return status | change(what, id, request)
    except BadRequest as error:
        return status | {"problem": problems(error)}
    except ValueError as error:
        return status | {"problem": str(error)}
    except WeirError as error:
        return status | {"problem" if what.startswith("save") else "error": failure(error)}


def problems(error: BadRequest) -> str:
    """What is wrong with each field, in sentences."""
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


class Plans(NamedTuple):
    budgets: tuple[BudgetStatus, ...]
    tariffs: tuple[TariffRecord, ...]
    reports: tuple[ReportSchedule, ...]
    receivers: tuple[AlertReceiver, ...]


def all_plans() -> Plans:
    client = session.current_client()
    return Plans(
        client.budgets(), client.tariffs(), client.report_schedules(), client.alert_receivers()
    )


def change_plan(what: str, id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """As `change`. ValueError for a rate that can't be read."""
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
    return {"words": f"The {kind} was deleted.", "go": PLANS_PATH}


def _saved(client: Client, kind: str, id: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "tariff":
        before = next((each for each in client.tariffs() if each.id == id), None)
        definition = plans.tariff_body(typed, before)
        name = (
            client.change_tariff(id, definition) if id else client.create_tariff(definition)
        ).name
    elif kind == "report":
        definition = plans.report_body(typed)
        change = client.change_report_schedule
        name = (change(id, definition) if id else client.create_report_schedule(definition)).name
    else:
        read = plans.typed(typed)
        group = plans.one(read, "group") or None
        device = None if group else plans.one(read, "device")
        measure, amount = plans.one(read, "measure"), plans.one(read, "amount")
        made = client.set_budget(amount, device=device, group=group, measure=measure or "volume")
        name = made.label
    return {"words": f"Saved: {name}.", "go": PLANS_PATH}
