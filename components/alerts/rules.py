"""The lists of rules and receivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from api.client.alerts import AlertReceiver, AlertRule, FiredDevice, Message, RulePreview
from api.insight.alerts.rules import length
from api.insight.receivers import KIND_BY_NAME
from api.metering.units import words_in
from api.timez import DAY_MS
from components import formatting, session
from components.alerts.lists import RULES_PATH, moment
from components.html_json import Element, Node, button, confirmed, el
from components.units import usual_units

NO_RULES: Final = "No rules yet. Fill in the form: it says how often the rule would have fired."
NO_RECEIVERS: Final = "No receivers yet. Without one, alerts are shown here and sent to nobody."


def summary(rules: Sequence[AlertRule], receivers: Sequence[AlertReceiver]) -> list[Node]:
    on = sum(each.enabled for each in rules)
    rule_count = (
        f"{on:,} of {formatting.plural(len(rules), 'rule')} on" if rules else "No rules yet"
    )
    receiver_count = (
        formatting.plural(len(receivers), "receiver") if receivers else "no receivers yet"
    )
    return [f"{rule_count} · {receiver_count}"]


def rule_list(
    rules: Sequence[AlertRule], names: Mapping[str, str], chosen: str, *, may_change: bool
) -> list[Node]:
    new = el("a", "New rule", href=session.site_path(f"{RULES_PATH}#new"), class_="button small")
    head = el("h2", "Rules", new if may_change and rules else None, class_="alert-head spread")
    if not rules:
        return [head, el("p", NO_RULES, class_="alert-empty")]
    return [head, *(_rule(each, names, chosen, may_change) for each in rules)]


def _rule(rule: AlertRule, names: Mapping[str, str], chosen: str, may_change: bool) -> Element:
    definition = rule.definition
    receivers = [names.get(id, "a deleted receiver") for id in definition["receivers"]]
    where = f"{len(definition['devices'])} devices" if definition["devices"] else ""
    where = ", ".join([*definition["groups"], *([where] if where else [])]) or "All devices"
    hold = f"after {length(int(definition['hold']) * 1000)}" if definition["hold"] else "at once"
    summary_text = f"{where} · {hold} · {', '.join(receivers) or 'nobody is notified'}"
    href = session.site_path(f"{RULES_PATH}?rule={rule.id}")
    return el(
        "div",
        el(
            "div",
            el("a", rule.name, href=href, class_="alert-name"),
            el("div", words_in(rule.words, usual_units().name), class_="quiet"),
            el("div", summary_text, class_="quiet"),
        ),
        _switch("rule", rule.id, rule.enabled) if may_change else None,
        class_="alert-row plain current" if rule.id == chosen else "alert-row plain",
        data_off=not rule.enabled,
    )


def _switch(what: str, id: str, enabled: bool) -> Element:
    """A switch that shows whether the rule or receiver is enabled, and changes it."""
    return el(
        "div",
        el("span", "On" if enabled else "Off", class_="quiet"),
        button(
            "Switch off" if enabled else "Switch on",
            f"{what}-{'off' if enabled else 'on'}",
            kind="small",
            data_id=id,
        ),
        class_="alert-deeds",
    )


def receiver_list(
    receivers: Sequence[AlertReceiver],
    chosen: str,
    *,
    may_change: bool,
) -> list[Node]:
    href = session.site_path(f"{RULES_PATH}?receiver=new#new")
    new = el("a", "New receiver", href=href, class_="button small")
    head = el("h2", "Receivers", new if may_change else None, class_="alert-head spread")
    if not receivers:
        return [head, el("p", NO_RECEIVERS, class_="alert-empty")]
    return [head, *(_receiver(each, chosen, may_change) for each in receivers)]


def _receiver(receiver: AlertReceiver, chosen: str, may_change: bool) -> Element:
    kind = KIND_BY_NAME.get(receiver.kind)
    href = session.site_path(f"{RULES_PATH}?receiver={receiver.id}")
    text = f"{kind.label if kind else receiver.kind} · {place(receiver.config)}"
    trouble = el("div", receiver.trouble, class_="problem") if receiver.trouble else None
    deeds = el(
        "div",
        button("Send a test", "test", kind="small", data_id=receiver.id),
        _switch("receiver", receiver.id, receiver.enabled),
        class_="alert-deeds",
    )
    return el(
        "div",
        el(
            "div",
            el("a", receiver.name, href=href, class_="alert-name"),
            el("div", text, class_="quiet"),
            trouble,
        ),
        deeds if may_change else None,
        class_="alert-row plain current" if receiver.id == chosen else "alert-row plain",
        data_off=not receiver.enabled,
    )


def place(config: Mapping[str, Any]) -> str:
    """The receiver's destination, without secrets."""
    if "to" in config:
        return ", ".join(config["to"])
    return str(config.get("shown") or config.get("topic") or "")


def tested(message: Message) -> str:
    """The receiver's response to a test message."""
    if message.state == "sent":
        return f"{message.receiver}: the test was sent. {message.response}"
    if message.state == "queued":
        return f"{message.receiver}: the test waits. No writer sends it now."
    return f"{message.receiver}: the test failed. {message.response}"


def delete_rule(rule_id: str) -> Element:
    return confirmed("Delete…", "Delete rule", "delete-rule", data_id=rule_id)


def delete_receiver(receiver_id: str) -> Element:
    return confirmed("Delete…", "Delete receiver", "delete-receiver", data_id=receiver_id)


# --- Preview -------------------------------------------------------------------------------------

MOST: Final = 12


def preview(result: RulePreview, now_ms: int) -> list[Node]:
    times = "once" if result.count == 1 else f"{result.count:,} times"
    title = f"Would have fired {times} in the last {result.days} days"
    where = f"on {len(result.devices):,} of {formatting.plural(result.covered, 'device')}"
    if not result.count:
        title = f"Would not have fired in the last {result.days} days"
        where = f"on {formatting.plural(result.covered, 'device')}"
    head = el("div", el("strong", title), el("span", where, class_="quiet"), class_="alert-fired")
    rows = [_fired_row(each, result.days, now_ms) for each in result.devices[:MOST]]
    more = len(result.devices) - MOST
    notes = [
        f"And {formatting.plural(more, 'more device')}." if more > 0 else "",
        f"{result.open:,} open now: sent once on saving." if result.open else "",
        _last(result, now_ms),
        result.note,
    ]
    note_text = " ".join(each for each in notes if each)
    axis = [_axis(result.days)] if rows else []
    return [head, *rows, *axis, *([el("p", note_text, class_="quiet")] if note_text else [])]


def _fired_row(device: FiredDevice, days: int, now_ms: int) -> Element:
    first_ms = now_ms - days * DAY_MS
    bars = [
        el("i", style=f"left:{left:.2f}%;width:{width:.2f}%")
        for left, width in (_span_place(span, first_ms, now_ms) for span in device.spans)
    ]
    return el(
        "div",
        el("span", device.label, class_="alert-device"),
        el("span", *bars, class_="alert-line", role="img",
           aria_label=formatting.plural(device.count, "alert")),
        el("span", f"{device.count:,}", class_="quiet"),
        class_="alert-bar",
    )  # fmt: skip


def _span_place(span: tuple[int, int | None], first_ms: int, now_ms: int) -> tuple[float, float]:
    fired_ms, ended_ms = span
    whole_ms = now_ms - first_ms
    left = 100 * max(0, fired_ms - first_ms) / whole_ms
    width = 100 * ((now_ms if ended_ms is None else ended_ms) - fired_ms) / whole_ms
    return min(left, 98.5), max(1.5, min(width, 100 - left))


def _axis(days: int) -> Element:
    return el("div", el("span", f"{days} days ago"), el("span", "now"), class_="alert-axis quiet")


def _last(result: RulePreview, now_ms: int) -> str:
    spans = [(fired, each.label) for each in result.devices for fired, _ in each.spans]
    if not spans:
        return ""
    at_ms, label = max(spans)
    return f"Last: {moment(at_ms, now_ms, 'UTC')} UTC, {label}."
