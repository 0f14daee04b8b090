"""The forms of a rule and of a receiver, and their request bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from api.client.alerts import AlertReceiver, AlertRule
from api.insight.alerts.rules import COMPARISONS, METRIC_BY_NAME, STATES
from api.insight.findings import KINDS
from api.insight.receivers import KINDS as RECEIVER_KINDS
from api.metering.units import ShownUnit
from components.alerts.rules import delete_receiver, delete_rule
from components.finding_text import SEVERITY_WORDS
from components.html_json import (
    Element,
    Node,
    button,
    checks,
    choice,
    el,
    field,
    text_input,
)
from components.units import Units, read_units, usual_units

SOURCES: Final = [
    ("finding", "a finding is open"),
    ("state", "a device is in a state"),
    ("value", "a value is beyond a limit"),
    ("budget", "a month will likely exceed a budget"),
]
HOLDS: Final = [("0", "no time"), ("300", "5 min"), ("900", "15 min"), ("3600", "1 h"),
                ("21600", "6 h"), ("86400", "1 day")]  # fmt: skip
REMINDERS: Final = [("0", "never"), ("3600", "every 1 h"), ("14400", "every 4 h"),
                    ("86400", "every day"), ("604800", "every 7 days")]  # fmt: skip
DURATIONS: Final = [("0", "at once"), ("300", "for 5 min"), ("600", "for 10 min"),
                    ("1800", "for 30 min"), ("3600", "for 1 h"), ("21600", "for 6 h"),
                    ("86400", "for 1 day")]  # fmt: skip
NUMBERS: Final = ("costPerDay", "limit")
SECONDS: Final = ("duration", "hold", "reminder")
LISTS: Final = ("kinds", "states", "groups", "receivers")
SHOWN_ONCE: Final = "Keep it: it is never shown again."


def _with(options: list[tuple[str, str]], seconds: float) -> list[tuple[str, str]]:
    """The options, with a length that was set elsewhere if it is missing there."""
    value = str(int(seconds))
    listed = any(value == each for each, _ in options)
    return options if listed else [*options, (value, f"{int(seconds):,} s")]


def rule_form(
    rule: AlertRule | None,
    receivers: Sequence[AlertReceiver],
    groups: Sequence[str],
    *,
    may_change: bool,
) -> list[Node]:
    saved: Mapping[str, Any] = {} if rule is None else rule.definition
    source = str(saved.get("source", "finding"))
    title = el("h2", "New rule" if rule is None else "Change rule")
    deeds = el(
        "div",
        button("Save rule", "save-rule", kind="primary", data_id=rule.id if rule else ""),
        delete_rule(rule.id) if rule is not None else None,
        class_="alert-deeds start",
    )
    reader = el("p", "Rules can be changed by an administrator.", class_="quiet")
    form = el(
        "form",
        field("Name", text_input("name", "Name", str(saved.get("name", "")), maxlength="120",
                                 placeholder="Leaks of the west side")),
        field("When", choice("source", "When", SOURCES, source)),
        *_of_source(saved),
        *_of_devices(saved, groups),
        *_of_times(saved),
        _of_receivers(saved, receivers),
        el("input", type="hidden", name="units", value=usual_units().name),
        el("p", class_="problem", data_problem=True, role="alert"),
        deeds if may_change else reader,
        id="alert-rule-form",
        class_="alert-form",
        data_source=source,
        data_rule=rule.id if rule else "",
    )  # fmt: skip
    return [title, form]


def _of_source(body: Mapping[str, Any]) -> list[Element]:
    kinds = [(kind.name, kind.label) for kind in KINDS]
    units, metric = usual_units(), str(body.get("metric") or "")
    metrics = [
        (each.name, f"{each.label}, {units.shown(each.unit).name}")
        for each in METRIC_BY_NAME.values()
    ]
    limit = _limit_unit(metric, units).text(body.get("limit", 0)) if metric else ""
    severities = [(name, f"at least {word.lower()}") for name, word in SEVERITY_WORDS.items()]
    cost = body.get("costPerDay") or ""
    return [
        field("Kinds", checks("kinds", kinds, tuple(body.get("kinds", ()))),
              hint="None checked: all kinds.", kind="finding"),
        field(
            "And",
            choice("severity", "Severity", severities, str(body.get("severity", "notice"))),
            el(
                "span",
                "costs at least ",
                text_input("costPerDay", "Cost a day", str(cost), type="number", min="0",
                           step="any", class_="short"),
                " a day",
                class_="alert-phrase",
            ),
            kind="finding",
        ),
        field("States", checks("states", [(each, each) for each in STATES],
                               tuple(body.get("states", ()))), kind="state"),
        field(
            "Value",
            choice("metric", "Value", metrics, metric or "flow_rate"),
            choice("comparison", "Comparison", [(each, each) for each in COMPARISONS],
                   str(body.get("comparison", "above"))),
            text_input("limit", "Limit", limit, type="number", step="any", class_="short"),
            choice("duration", "For", _with(DURATIONS, body.get("duration", 600)),
                   str(int(body.get("duration", 600)))),
            kind="value",
        ),
    ]  # fmt: skip


def _limit_unit(metric: str, units: Units) -> ShownUnit:
    return units.shown(METRIC_BY_NAME[metric].unit if metric in METRIC_BY_NAME else "")


def _of_devices(body: Mapping[str, Any], groups: Sequence[str]) -> list[Element]:
    devices = ", ".join(body.get("devices", ()))
    listed = [(each, each) for each in dict.fromkeys((*groups, *body.get("groups", ())))]
    return [
        *([field("Groups", checks("groups", listed, tuple(body.get("groups", ()))))]
          if listed else []),
        field("Devices", text_input("devices", "Devices", devices,
                                    placeholder="Serial numbers, separated by commas"),
              hint="No group and no device: all devices."),
    ]  # fmt: skip


def _of_times(body: Mapping[str, Any]) -> list[Element]:
    hold, reminder = body.get("hold", 0), body.get("reminder", 0)
    return [
        field(
            "Wait",
            choice("hold", "Wait", _with(HOLDS, hold), str(int(hold))),
            el("span", "before it fires"),
        ),
        field(
            "Remind",
            choice("reminder", "Remind", _with(REMINDERS, reminder), str(int(reminder))),
        ),
    ]


def _of_receivers(body: Mapping[str, Any], receivers: Sequence[AlertReceiver]) -> Element:
    options = [(each.id, each.name) for each in receivers]
    chosen = tuple(body.get("receivers", ()))
    inside = checks("receivers", options, chosen) if options else el("span", "No receivers yet.")
    return field("Notify", inside)


def definition(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The request body of a rule from the form's fields: each name has a list of texts."""
    read = {name: [str(v)[:2_000] for v in values] for name, values in fields.items()
            if isinstance(values, list)}  # fmt: skip

    def one(name: str) -> str:
        return read.get(name, [""])[0].strip()

    source = one("source") or "finding"
    result: dict[str, Any] = {"name": one("name"), "source": source}
    result |= {name: read.get(name, []) for name in LISTS}
    result["devices"] = [each.strip() for each in one("devices").split(",") if each.strip()]
    for name in ("severity", "metric", "comparison"):
        result[name] = one(name) or None
    for name in NUMBERS:
        result[name] = _number(one(name))
    if isinstance(result["limit"], float):
        unit = _limit_unit(one("metric"), read_units(one("units")))
        result["limit"] = unit.stored(result["limit"])
    for name in SECONDS:
        result[name] = _number(one(name)) or 0
    return result


def _number(text: str) -> float | str | None:
    """The number of a text; the text itself if it isn't one, so that the service reports it."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return text


# --- Receivers -----------------------------------------------------------------------------------


def receiver_form(receiver: AlertReceiver | None, *, may_change: bool) -> list[Node]:
    kind = receiver.kind if receiver else RECEIVER_KINDS[0].name
    kinds = [(each.name, each.label) for each in RECEIVER_KINDS]
    chosen = next(each.label for each in RECEIVER_KINDS if each.name == kind)
    deeds = el(
        "div",
        button("Save receiver", "save-receiver", kind="primary",
               data_id=receiver.id if receiver else ""),
        delete_receiver(receiver.id) if receiver else None,
        class_="alert-deeds start",
    )  # fmt: skip
    form = el(
        "form",
        field("Name", text_input("name", "Name", receiver.name if receiver else "",
                                 maxlength="120", placeholder="Night access")),
        field("Kind", el("span", chosen) if receiver else choice("kind", "Kind", kinds, kind)),
        *(_receiver_field(each.name, own.name, own, receiver)
          for each in RECEIVER_KINDS for own in each.fields
          if receiver is None or each.name == kind),
        el("p", class_="problem", data_problem=True, role="alert"),
        deeds if may_change else el("p", "Receivers can be changed by an administrator.",
                                    class_="quiet"),
        id="alert-receiver-form",
        class_="alert-form",
        data_source=kind,
    )  # fmt: skip
    return [el("h2", "Change receiver" if receiver else "New receiver"), form]


def _receiver_field(kind: str, name: str, own: Any, receiver: AlertReceiver | None) -> Element:
    config = receiver.config if receiver else {}
    value = config.get(name, "")
    value = ", ".join(value) if isinstance(value, list) else str(value)
    hint = own.hint
    if own.secret and receiver is not None:
        hint = "Unchanged. It is sealed, and isn't shown."
    typed = text_input(f"{kind}.{name}", own.label, value, placeholder=hint,
                       type="text" if name == "url" or not own.secret else "password")  # fmt: skip
    return field(own.label, typed, kind=kind)


def receiver_definition(fields: Mapping[str, Any], kind: str | None) -> dict[str, Any]:
    """The request body of a receiver. ``kind``: of an existing receiver; otherwise the form has it.
    Empty fields are left out."""
    read = {name: str(values[0]).strip()[:2_000] for name, values in fields.items()
            if isinstance(values, list) and values}  # fmt: skip
    chosen = kind or read.get("kind", "")
    config: dict[str, Any] = {"name": read.get("name", "")}
    if kind is None:
        config["kind"] = chosen
    for name, value in read.items():
        own_kind, _, own = name.partition(".")
        if own and own_kind == chosen and value:
            config[own] = [each.strip() for each in value.split(",")] if own == "to" else value
    return config
