"""Budgets, tariffs and scheduled reports: their lists, their forms, and what was typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from api.client.alerts import AlertReceiver
from api.client.plans import BudgetStatus, ReportSchedule, SentReport, TariffRecord
from api.insight.report_schedules import RECEIVER_KINDS
from api.metering.tariff import WEEKDAYS
from components import formatting, session
from components.alerts.layout import PLANS_PATH
from components.alerts.lists import moment
from components.fleet.totals import amount_words
from components.html_json import (
    Element,
    Node,
    button,
    checks,
    choice,
    confirmed,
    el,
    field,
    text_input,
)
from components.units import US

ALWAYS: Final = "1970-01-01"
BUDGET_STATES: Final = {
    "within": "Within",
    "possible": "May be exceeded",
    "likely": "Likely exceeded",
    "exceeded": "Exceeded",
    "unknown": "Too early to say",
}
MEASURES: Final = [("volume", "gallons a month"), ("cost", "money a month")]
EVERY: Final = [("week", "Each week, on Monday"), ("month", "Each month, on the 1st")]
RATES_HINT: Final = (
    "One rate per gallon a line: 0.008. Tiers: 0.012 above 3000. Seasons and times of use:"
    " 0.02 06-01..09-30 mon-fri 17-21."
)
OPERATORS: Final = "Budgets can be changed by an operator."
ADMINISTRATORS: Final = "These can be changed by an administrator."


# --- Lists ---------------------------------------------------------------------------------------


def budget_list(budgets: Sequence[BudgetStatus], *, may_change: bool) -> list[Node]:
    head = _head("Budgets", "New budget", PLANS_PATH, may_change and bool(budgets))
    if not budgets:
        return [head, _empty("No budgets yet: what a device or a group may use or cost a month.")]
    return [head, *(_budget(each, may_change) for each in budgets)]


def summary(budgets: Sequence[BudgetStatus]) -> str:
    """``3 budgets · 1 likely exceeded``."""
    over = sum(each.state in ("likely", "exceeded") for each in budgets)
    count = formatting.plural(len(budgets), "budget") if budgets else "No budgets yet"
    return f"{count} · {over:,} likely exceeded" if over else count


def _budget(budget: BudgetStatus, may_change: bool) -> Element:
    def words(amount: float | None) -> str:
        return amount_words(budget, amount, US)

    path = f"/devices/{quote(budget.device_id, safe='')}" if budget.device_id else "/usage?group="
    href = path if budget.device_id else f"{path}{quote(budget.label, safe='')}"
    whose = "" if budget.device_id else f" · group of {budget.devices:,}"
    certain = budget.chance is None or budget.state == "exceeded"
    chance = "" if certain else f", chance {budget.chance:.0%}"
    amounts = (f"Budget {words(budget.amount)}", f"{words(budget.so_far)} so far")
    text = " · ".join((*amounts, f"{words(budget.expected)} expected"))
    deeds = el(
        "div",
        el("a", "Change", href=_address(budget=budget.id), class_="button small"),
        confirmed("Delete", "Delete budget", "delete-budget", data_id=budget.id),
        class_="alert-deeds",
    )
    alarm = budget.state in ("likely", "exceeded")
    return el(
        "div",
        el(
            "div",
            el("a", budget.label, href=session.site_path(href), class_="alert-name"),
            el("span", whose, class_="quiet"),
            el("div", text, class_="quiet"),
            el("div", BUDGET_STATES.get(budget.state, budget.state) + chance,
               class_="problem" if alarm else "quiet"),
        ),
        deeds if may_change else None,
        class_="alert-row plain",
    )  # fmt: skip


def tariff_list(tariffs: Sequence[TariffRecord], *, may_change: bool) -> list[Node]:
    head = _head("Tariffs", "New tariff", _address(tariff="new"), may_change)
    if not tariffs:
        return [head, _empty("No tariffs: volumes cost what their device's price says.")]
    return [head, *(_tariff(each, may_change) for each in tariffs)]


def _since(version: Mapping[str, Any]) -> str:
    return "" if version["from"] == ALWAYS else f" since {version['from']}"


def _tariff(tariff: TariffRecord, may_change: bool) -> Element:
    version = tariff.versions[-1]
    rates = [rate_text(rate) for rate in version["rates"]]
    fixed = f" · fixed {version['fixed']} a month" if float(version["fixed"]) else ""
    whom = [*tariff.groups, *([formatting.plural(len(tariff.devices), "device")]
                              if tariff.devices else [])]  # fmt: skip
    whom += ["all other devices"] if tariff.everyone else []
    deeds = el(
        "div",
        el("a", "Change", href=_address(tariff=tariff.id), class_="button small"),
        confirmed("Delete", "Delete tariff", "delete-tariff", data_id=tariff.id),
        class_="alert-deeds",
    )
    return el(
        "div",
        el(
            "div",
            el("span", tariff.name, class_="alert-name"),
            el("span", f" · {', '.join(whom) or 'for nobody yet'}", class_="quiet"),
            el("div", f"{tariff.currency} a gallon{_since(version)}{fixed}", class_="quiet"),
            *(el("div", text, class_="quiet") for text in rates),
        ),
        deeds if may_change else None,
        class_="alert-row plain",
    )


def report_list(
    reports: Sequence[ReportSchedule], names: Mapping[str, str], now_ms: int, *, may_change: bool
) -> list[Node]:
    """``names`` of receivers by id."""
    head = _head("Scheduled reports", "New report", _address(report="new"), may_change)
    if not reports:
        return [head, _empty("No scheduled reports yet.")]
    return [head, *(_report(each, names, now_ms, may_change) for each in reports)]


def _report(
    report: ReportSchedule, names: Mapping[str, str], now_ms: int, may_change: bool
) -> Element:
    whom = ", ".join(names.get(id, "a deleted receiver") for id in report.receivers)
    of = report.group or (
        formatting.plural(len(report.devices), "device") if report.devices else "all devices"
    )
    due = "Paused" if report.next_ms is None else f"Next {_when(report.next_ms, report, now_ms)}"
    paused = report.next_ms is None
    deeds = el(
        "div",
        button("Send now", "send-report", kind="small", data_id=report.id),
        button("Resume" if paused else "Pause", "resume-report" if paused else "pause-report",
               kind="small", data_id=report.id),
        el("a", "Change", href=_address(report=report.id), class_="button small"),
        confirmed("Delete", "Delete report", "delete-report", data_id=report.id),
        class_="alert-deeds",
    )  # fmt: skip
    return el(
        "div",
        el(
            "div",
            el("span", report.name, class_="alert-name"),
            el("div", f"{dict(EVERY)[report.every]} · {of} · {report.timezone} · {whom}",
               class_="quiet"),
            el("div", due, class_="quiet"),
            *(_sent(each, report, now_ms) for each in report.sent[:3]),
        ),
        deeds if may_change else None,
        class_="alert-row plain",
    )  # fmt: skip


def _when(at_ms: int, report: ReportSchedule, now_ms: int) -> str:
    return moment(at_ms, now_ms, report.timezone)


def _sent(sent: SentReport, report: ReportSchedule, now_ms: int) -> Element:
    state = {"sent": "Sent", "queued": "Waiting to be sent", "dead": "Not delivered"}
    words = state.get(sent.state, "Not sent")
    response = f": {sent.response}" if sent.response and sent.state != "sent" else ""
    text = f"{words} to {sent.receiver}, {_when(sent.created_ms, report, now_ms)}{response}"
    return el("div", text, class_="problem" if sent.state == "dead" else "quiet")


def _head(title: str, new: str, href: str, shown: bool) -> Element:
    href = session.site_path(href) if href == PLANS_PATH else href
    link = el("a", new, href=href, class_="button small") if shown else None
    return el("h2", title, link, class_="alert-head spread")


def _empty(words: str) -> Element:
    return el("p", words, class_="alert-empty")


def _address(**what: str) -> str:
    ((name, id),) = what.items()
    return session.site_path(f"{PLANS_PATH}?{name}={quote(id, safe='')}")


# --- Forms ---------------------------------------------------------------------------------------


def _form(title: str, fields: Sequence[Element], save: str, id: str, note: str) -> list[Node]:
    """``note``: why the reader can't save; "" for who can."""
    saved = button("Save", save, kind="primary", data_id=id)
    return [
        el("h2", title),
        el(
            "form",
            *fields,
            el("p", class_="problem", data_problem=True, role="alert"),
            el("p", note, class_="quiet") if note else el("div", saved, class_="alert-deeds start"),
            class_="alert-form",
        ),
    ]


def budget_form(
    budget: BudgetStatus | None, device: str, groups: Sequence[str], *, may_change: bool
) -> list[Node]:
    """``device``: an identifier to begin with."""
    group = (budget.group if budget else "") or ""
    options = [("", "A device"), *((name, f"Group {name}") for name in groups)]
    named = (budget.device_id if budget else device) or ""
    amount = f"{budget.amount:.4f}".rstrip("0").rstrip(".") if budget else ""
    fields = [
        field("Of", choice("group", "Device or group", options, group)),
        field("Device", text_input("device", "Device", named,
                                   placeholder="Serial number"), hint="Empty for a group."),
        field("Amount", text_input("amount", "Amount", amount, inputmode="decimal",
                                   class_="short"),
              choice("measure", "Gallons or money", MEASURES, budget.measure if budget else
                     "volume")),
    ]  # fmt: skip
    title = "Change budget" if budget else "New budget"
    return _form(title, fields, "save-budget", "", "" if may_change else OPERATORS)


def _typed_since(version: Mapping[str, Any]) -> str:
    since = str(version.get("from", ""))
    return "" if since == ALWAYS else since


def tariff_form(
    tariff: TariffRecord | None, groups: Sequence[str], *, may_change: bool
) -> list[Node]:
    """The latest version; earlier ones stay as they are."""
    version: Mapping[str, Any] = tariff.versions[-1] if tariff else {}
    rates = "\n".join(rate_text(rate) for rate in version.get("rates", ()))
    devices = ", ".join(tariff.devices) if tariff else ""
    fields = [
        field("Name", text_input("name", "Name", tariff.name if tariff else "", maxlength="120")),
        field("Since", text_input("since", "Since", _typed_since(version), type="date"),
              hint="Empty: always."),
        field("Rates", el("textarea", rates, name="rates", rows="6", aria_label="Rates",
                          class_="alert-input"), hint=RATES_HINT),
        field("Fixed", text_input("fixed", "Fixed charge", str(version.get("fixed", "0")),
                                  inputmode="decimal", class_="short"),
              el("span", "a month, in"),
              text_input("currency", "Currency", tariff.currency if tariff else "USD",
                         maxlength="3", class_="short")),
        *([field("Groups", checks("groups", [(each, each) for each in groups],
                                  tariff.groups if tariff else ()))] if groups else []),
        field("Devices", text_input("devices", "Devices", devices,
                                    placeholder="Serial numbers, separated by commas")),
        field("Others", checks("organization", [("yes", "All devices without a nearer price")],
                               ("yes",) if tariff and tariff.everyone else ())),
    ]  # fmt: skip
    title = "Change tariff" if tariff else "New tariff"
    note = "" if may_change else ADMINISTRATORS
    return _form(title, fields, "save-tariff", tariff.id if tariff else "", note)


def report_form(
    report: ReportSchedule | None,
    groups: Sequence[str],
    receivers: Sequence[AlertReceiver],
    *,
    may_change: bool,
) -> list[Node]:
    able = [(each.id, each.name) for each in receivers if each.kind in RECEIVER_KINDS]
    options = [("", "All devices, or those named"), *((name, f"Group {name}") for name in groups)]
    chosen = report.receivers if report else ()
    whom = checks("receivers", able, chosen) if able else el("span", "No e-mail receiver yet.")
    fields = [
        field("Name", text_input("name", "Name", report.name if report else "", maxlength="120")),
        field("When", choice("every", "When", EVERY, report.every if report else "week"),
              text_input("timezone", "Time zone", report.timezone if report else "UTC",
                         placeholder="America/New_York"), hint="Sent at 06:00 of this time zone."),
        field("Of", choice("group", "Group", options, report.group if report else "")),
        field("Devices", text_input("devices", "Devices",
                                    ", ".join(report.devices) if report else "",
                                    placeholder="Serial numbers, separated by commas")),
        field("For", whom, hint="Receivers of alerts: e-mail with the PDF, webhooks with a link."),
    ]  # fmt: skip
    title = "Change report" if report else "New scheduled report"
    note = "" if may_change else ADMINISTRATORS
    return _form(title, fields, "save-report", report.id if report else "", note)


# --- What was typed ------------------------------------------------------------------------------


def typed(fields: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        name: [str(each)[:4_000].strip() for each in values]
        for name, values in fields.items()
        if isinstance(values, list)
    }


def one(read: Mapping[str, list[str]], name: str) -> str:
    return (read.get(name) or [""])[0]


def names(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def tariff_body(fields: Mapping[str, Any], before: TariffRecord | None) -> dict[str, Any]:
    """Raises ValueError for a rate that can't be read. A version of another day is added."""
    read = typed(fields)
    rates = [rate_of(line) for line in one(read, "rates").splitlines() if line.strip()]
    version = {"from": one(read, "since") or ALWAYS, "rates": rates}
    version["fixed"] = one(read, "fixed") or "0"
    others = [
        each for each in (before.versions if before else ()) if each["from"] != version["from"]
    ]
    return {
        "name": one(read, "name"),
        "currency": one(read, "currency"),
        "versions": [*others, version],
        "groups": read.get("groups", []),
        "devices": names(one(read, "devices")),
        "organization": bool(read.get("organization")),
    }


def report_body(fields: Mapping[str, Any]) -> dict[str, Any]:
    read = typed(fields)
    return {
        "name": one(read, "name"),
        "every": one(read, "every"),
        "timezone": one(read, "timezone"),
        "receivers": read.get("receivers", []),
        "group": one(read, "group") or None,
        "devices": names(one(read, "devices")),
    }


_RATE: Final = re.compile(
    r"(?P<rate>[\d.]+)(?: above (?P<above>[\d.]+))?"
    r"(?: (?P<first>\d\d-\d\d)\.\.(?P<last>\d\d-\d\d))?"
    r"(?: (?P<days>[a-z]{3}(?:[-,][a-z]{3})*))?(?: (?P<from>\d{1,2})-(?P<to>\d{1,2}))?"
)


def rate_of(line: str) -> dict[str, Any]:
    """``0.02 above 3000 06-01..09-30 mon-fri 17-21``. Raises ValueError."""
    match = _RATE.fullmatch(" ".join(line.lower().split()))
    if match is None:
        raise ValueError(f"The rate {line.strip()[:60]!r} can't be read.")
    rate: dict[str, Any] = {"perGallon": match["rate"], "above": match["above"] or "0"}
    if match["first"]:
        rate["season"] = [match["first"], match["last"]]
    if match["days"]:
        rate["days"] = [day for part in match["days"].split(",") for day in _days(part)]
    if match["from"]:
        rate["hours"] = [int(match["from"]), int(match["to"])]
    return rate


def _days(part: str) -> list[str]:
    first, _, last = part.partition("-")
    ends = [day for day in (first, last or first) if day in WEEKDAYS]
    if len(ends) < 2:
        raise ValueError(f"{part!r} isn't a weekday such as mon, or mon-fri.")
    low, high = map(WEEKDAYS.index, ends)
    return [WEEKDAYS[day % 7] for day in range(low, (high if high >= low else high + 7) + 1)]


def rate_text(rate: Mapping[str, Any]) -> str:
    """The line that `rate_of` reads."""
    parts = [rate["perGallon"]]
    parts += [f"above {rate['above']}"] if rate.get("above") not in (None, "0") else []
    parts += ["..".join(rate["season"])] if rate.get("season") else []
    parts += [",".join(rate["days"])] if rate.get("days") else []
    parts += ["{:02}-{:02}".format(*map(int, rate["hours"]))] if rate.get("hours") else []
    return " ".join(parts)
