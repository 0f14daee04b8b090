"""Billing: the lists and forms of budgets, tariffs and scheduled reports, and their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from api.client.alerts import AlertReceiver
from api.client.billing import BudgetStatus, ReportSchedule, SentReport, TariffRecord
from api.insight.report_schedules import RECEIVER_KINDS
from api.metering.rate_lines import rate_line, read_rate_line
from api.metering.tariff import BUDGET_DIGITS
from api.metering.units import LARGE, PER_GALLON
from components import formatting, session
from components.alerts.lists import BILLING_PATH, moment
from components.fleet.wall import amount_words
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
from components.units import read_units, usual_units

ALWAYS: Final = "1970-01-01"
BUDGET_STATES: Final = {
    "within": "Within",
    "possible": "May be exceeded",
    "likely": "Likely exceeded",
    "exceeded": "Exceeded",
    "unknown": "Too early to say",
}
EVERY: Final = [("week", "Each week, on Monday"), ("month", "Each month, on the 1st")]
RATES_HINT: Final = (
    "One rate {per} a line: {rate}. Tiers, in {volume}: {tier}. Seasons and times of use:"
    " {evening} 06-01..09-30 mon-fri 17-21."
)
EXAMPLES: Final = {
    "us": {"rate": "0.008", "tier": "0.012 above 3000", "evening": "0.02"},
    "metric": {"rate": "2.10", "tier": "3.20 above 10", "evening": "5.30"},
}
OPERATORS: Final = "Budgets can be changed by an operator."
ADMINISTRATORS: Final = "These can be changed by an administrator."


def budget_list(budgets: Sequence[BudgetStatus], *, may_change: bool) -> list[Node]:
    head = _head("Budgets", "New budget", BILLING_PATH, may_change and bool(budgets))
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
        return amount_words(budget, amount, usual_units())

    path = f"/devices/{quote(budget.device_id, safe='')}" if budget.device_id else "/usage?group="
    href = path if budget.device_id else f"{path}{quote(budget.label, safe='')}"
    whose = "" if budget.device_id else f" · group of {budget.devices:,}"
    state = BUDGET_STATES.get(budget.state, budget.state)
    if budget.state == "unknown" and (budget.expected or 0) > budget.amount:
        state = "Expected to be exceeded; too early to say how likely"
    if budget.chance is not None and budget.state != "exceeded":
        state += f", chance {budget.chance:.0%}"
    amounts = (f"Budget {words(budget.amount)}", f"{words(budget.so_far)} so far")
    text = " · ".join((*amounts, f"{words(budget.expected)} expected"))
    deeds = _deeds("budget", budget.id)
    alarm = budget.state in ("likely", "exceeded")
    return el(
        "div",
        el(
            "div",
            el("a", budget.label, href=session.site_path(href), class_="alert-name"),
            el("span", whose, class_="quiet"),
            el("div", text, class_="quiet"),
            el("div", state,
               class_="problem" if alarm else "quiet"),
        ),
        deeds if may_change else None,
        class_="alert-row plain",
    )  # fmt: skip


def _deeds(noun: str, id: str, *more: Element) -> Element:
    return el(
        "div",
        *more,
        el("a", "Change", href=_address(**{noun: id}), class_="button small"),
        confirmed("Delete", f"Delete {noun}", f"delete-{noun}", data_id=id),
        class_="alert-deeds",
    )


def tariff_list(tariffs: Sequence[TariffRecord], *, may_change: bool) -> list[Node]:
    head = _head("Tariffs", "New tariff", _address(tariff="new"), may_change)
    if not tariffs:
        return [head, _empty("No tariffs: volumes cost what their device's price says.")]
    return [head, *(_tariff(each, may_change) for each in tariffs)]


def _since(version: Mapping[str, Any]) -> str:
    return "" if version["from"] == ALWAYS else f" since {version['from']}"


def _tariff(tariff: TariffRecord, may_change: bool) -> Element:
    version = tariff.versions[-1]
    units = usual_units()
    per = units.shown(PER_GALLON).name
    rates = [
        rate_line(rate, units.name, f" {units.shown(LARGE).name}") for rate in version["rates"]
    ]
    fixed = f" · fixed {float(version['fixed']):,.2f} a month" if float(version["fixed"]) else ""
    targets = [*tariff.groups, *([formatting.plural(len(tariff.devices), "device")]
                              if tariff.devices else [])]  # fmt: skip
    targets += ["all other devices"] if tariff.everyone else []
    deeds = _deeds("tariff", tariff.id)
    return el(
        "div",
        el(
            "div",
            el("span", tariff.name, class_="alert-name"),
            el("span", f" · {', '.join(targets) or 'for nobody yet'}", class_="quiet"),
            el("div", f"{tariff.currency} {per}{_since(version)}{fixed}", class_="quiet"),
            *(el("div", text, class_="quiet") for text in rates),
        ),
        deeds if may_change else None,
        class_="alert-row plain",
    )


def report_list(
    reports: Sequence[ReportSchedule], names: Mapping[str, str], now_ms: int, *, may_change: bool
) -> list[Node]:
    """``names``: names of receivers by id."""
    head = _head("Scheduled reports", "New report", _address(report="new"), may_change)
    if not reports:
        return [head, _empty("No scheduled reports yet.")]
    return [head, *(_report(each, names, now_ms, may_change) for each in reports)]


def _report(
    report: ReportSchedule, names: Mapping[str, str], now_ms: int, may_change: bool
) -> Element:
    recipients = ", ".join(names.get(id, "a deleted receiver") for id in report.receivers)
    of = report.group or (
        formatting.plural(len(report.devices), "device") if report.devices else "all devices"
    )
    due = "Paused" if report.next_ms is None else f"Next {_when(report.next_ms, report, now_ms)}"
    paused = report.next_ms is None
    deeds = _deeds(
        "report", report.id,
        button("Send now", "send-report", kind="small", data_id=report.id),
        button("Resume" if paused else "Pause", "resume-report" if paused else "pause-report",
               kind="small", data_id=report.id),
    )  # fmt: skip
    return el(
        "div",
        el(
            "div",
            el("span", report.name, class_="alert-name"),
            el("div", f"{dict(EVERY)[report.every]} · {of} · {report.timezone} · {recipients}",
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
    href = session.site_path(href) if href == BILLING_PATH else href
    link = el("a", new, href=f"{href}#new", class_="button small") if shown else None
    return el("h2", title, link, class_="alert-head spread")


def _empty(words: str) -> Element:
    return el("p", words, class_="alert-empty")


def _address(**what: str) -> str:
    ((name, id),) = what.items()
    return session.site_path(f"{BILLING_PATH}?{name}={quote(id, safe='')}")


# --- Forms ---------------------------------------------------------------------------------------


def _form(title: str, fields: Sequence[Element], save: str, id: str, note: str) -> list[Node]:
    """``note``: why the reader can't save; "" if the reader can."""
    saved = button("Save", save, kind="primary", data_id=id)
    return [
        el("h2", title),
        el(
            "form",
            *fields,
            el("input", type="hidden", name="units", value=usual_units().name),
            el("p", class_="problem", data_problem=True, role="alert"),
            el("p", note, class_="quiet") if note else el("div", saved, class_="alert-deeds start"),
            class_="alert-form",
        ),
    ]


def budget_form(
    budget: BudgetStatus | None, device: str, groups: Sequence[str], *, may_change: bool
) -> list[Node]:
    """``device``: the identifier that a new budget starts with."""
    group = (budget.group if budget else "") or ""
    options = [("", "A device"), *((name, f"Group {name}") for name in groups)]
    named = (budget.device_id if budget else device) or ""
    units = usual_units()
    measures = [("volume", f"{units.shown(LARGE).name} a month"), ("cost", "money a month")]
    unit = units.shown(LARGE if budget and budget.measure == "volume" else "")
    amount = unit.text(budget.amount) if budget else ""
    fields = [
        field("Of", choice("group", "Device or group", options, group)),
        field("Device", text_input("device", "Device", named,
                                   placeholder="Serial number"), hint="Empty for a group."),
        field("Amount", text_input("amount", "Amount", amount, inputmode="decimal",
                                   class_="short"),
              choice("measure", "Volume or money", measures, budget.measure if budget else
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
    """The form of the latest version; earlier ones stay unchanged."""
    version: Mapping[str, Any] = tariff.versions[-1] if tariff else {}
    units = usual_units()
    rates = "\n".join(rate_line(rate, units.name) for rate in version.get("rates", ()))
    per, volume = units.shown(PER_GALLON).name, units.shown(LARGE).name
    hint = RATES_HINT.format(per=per, volume=volume, **EXAMPLES[units.name])
    devices = ", ".join(tariff.devices) if tariff else ""
    currency = tariff.currency if tariff else session.me().currency
    fields = [
        field("Name", text_input("name", "Name", tariff.name if tariff else "", maxlength="120")),
        field("Since", text_input("since", "Since", _typed_since(version), type="date"),
              hint="Empty: always."),
        field("Rates", el("textarea", rates, name="rates", rows="6", aria_label="Rates",
                          class_="alert-input"), hint=hint),
        field("Fixed", text_input("fixed", "Fixed charge", str(version.get("fixed", "0")),
                                  inputmode="decimal", class_="short"),
              el("span", "a month, in"),
              text_input("currency", "Currency", currency,
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
    recipients = (
        checks("receivers", able, chosen) if able else el("span", "No e-mail receiver yet.")
    )
    fields = [
        field("Name", text_input("name", "Name", report.name if report else "", maxlength="120")),
        field("When", choice("every", "When", EVERY, report.every if report else "week"),
              text_input("timezone", "Time zone", report.timezone if report else "UTC",
                         placeholder="America/New_York"), hint="Sent at 06:00 of this time zone."),
        field("Of", choice("group", "Group", options, report.group if report else "")),
        field("Devices", text_input("devices", "Devices",
                                    ", ".join(report.devices) if report else "",
                                    placeholder="Serial numbers, separated by commas")),
        field("For", recipients,
              hint="Receivers of alerts: e-mail with the PDF, webhooks with a link."),
    ]  # fmt: skip
    title = "Change report" if report else "New scheduled report"
    note = "" if may_change else ADMINISTRATORS
    return _form(title, fields, "save-report", report.id if report else "", note)


# --- Reading the forms ---------------------------------------------------------------------------


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
    """The request body of a tariff. Raises ValueError for an invalid rate. A version with a new
    start day is added; one with the same day is replaced."""
    read = typed(fields)
    units, lines = read_units(one(read, "units")).name, one(read, "rates").splitlines()
    stored = [rate for version in (before.versions if before else ()) for rate in version["rates"]]
    unchanged = {rate_line(rate, units): rate for rate in stored}
    rates = [
        unchanged.get(line.strip()) or read_rate_line(line, units) for line in lines if line.strip()
    ]
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


def budget_amount(read: Mapping[str, list[str]], budgets: Sequence[BudgetStatus]) -> str:
    """The amount of the budget form in gallons, or in money. It is the stored one where that is
    shown as the same number. ``budgets``: those of the form's device or group."""
    text, measure = one(read, "amount"), one(read, "measure") or "volume"
    unit = read_units(one(read, "units")).shown(LARGE if measure == "volume" else "")
    stored = {unit.text(each.amount): each.amount for each in budgets if each.measure == measure}
    return repr(stored[text]) if text in stored else unit.stored_text(text, BUDGET_DIGITS)


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
