"""What the pages of alerts share: their frame, which assets/alerts.js keeps fresh, and the lists of
firing alerts, past alerts and silences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from dash import ClientsideFunction, Input, Output, clientside_callback, dcc, html
from dash.development.base_component import Component

from api.client.alerts import Alert, AlertPage, AlertSilence, Message
from api.metering.cost import money
from api.metering.units import words_in
from api.timez import DAY_MS, zone_or_utc
from components import formatting, html_json, session
from components.controls import attributes, labelled, notice
from components.finding_text import SEVERITY_WORDS
from components.formatting import Clock, day_text, minute_text
from components.html_json import Element, Node, button, confirmed, el, text_input
from components.shell import ALERTS_PATH
from components.units import usual_units

# --- The frame -----------------------------------------------------------------------------------


RULES_PATH = f"{ALERTS_PATH}/rules"
BILLING_PATH = f"{ALERTS_PATH}/budgets"


def alerts_frame(
    ids: type[StrEnum],
    nodes: tuple[StrEnum, ...],
    question: Mapping[str, Any],
    place: str,
    inside: Sequence[Component],
    tools: Sequence[Component | None] = (),
) -> Component:
    """The frame of a page of alerts. ``ids``: its ids, of the same names on each page."""
    scripts = {"rules": "alert-rules", "billing": "alert-billing"}
    names = ("ANSWER", "SHOWN", "DEED", "DONE", "NEXT", "DRAFT")
    return html.Div(
        [
            dcc.Store(id=ids["QUESTION"], data=dict(question)),
            *(dcc.Store(id=ids[name]) for name in names),
            *(html_json.store(id) for id in nodes),
            html.Div(
                [
                    html.H1("Alerts"),
                    _tabs(place),
                    html.P(id=ids["SUMMARY"], className="findings-summary", role="status"),
                    html.Div(list(tools), className="fleet-right") if tools else None,
                ],
                className="heading",
            ),
            notice(ids["NOTICE"]),
            *inside,
        ],
        id=ids["PAGE"],
        **attributes(data_place=scripts.get(place, "alerts")),
    )


def _tabs(place: str) -> Component:
    tabs = (
        ("now", "Now and before", ALERTS_PATH),
        ("rules", "Rules and receivers", RULES_PATH),
        ("billing", "Budgets and reports", BILLING_PATH),
    )
    links = [
        dcc.Link(
            label,
            href=session.site_path(path),
            className="segment current" if name == place else "segment",
        )
        for name, label, path in tabs
    ]
    return html.Div(links, className="segments")


def alert_card(id: str, name: str) -> Component:
    return html.Section(id=id, className="card alert-card", **labelled(name))


def link_scripts(ids: type[StrEnum], nodes: tuple[StrEnum, ...]) -> None:
    """Registers the callbacks by which assets/alerts.js shows a page's lists and results."""
    for function, shown, source in (
        ("listed", "SHOWN", "ANSWER"),
        ("done", "NEXT", "DONE"),
    ):
        clientside_callback(
            ClientsideFunction("alerts", function),
            Output(ids[shown], "data"),
            Input(ids[source], "data"),
            prevent_initial_call=True,
        )
    html_json.drawn(*nodes)


# --- The lists -----------------------------------------------------------------------------------


PAGE: Final = 20
SILENCES: Final = (("1 h", 1), ("8 h", 8), ("1 day", 24), ("7 days", 168))
ZoneOf = Callable[[str], str]
CurrencyOf = Callable[[str], str]


def summary(firing: AlertPage, messages: Sequence[Message]) -> list[Node]:
    """``4 firing, 1 acknowledged · every message delivered``."""
    taken = sum(each.acknowledged_ms is not None for each in firing.alerts)
    parts: list[Node] = [el("strong", f"{firing.count:,} firing")]
    if taken:
        parts.append(f", {taken:,} acknowledged")
    real = [each for each in messages if each.event != "test"]
    dead = sum(each.state == "dead" for each in real)
    failing = sum(each.state == "queued" and each.attempts > 0 for each in real)
    if dead:
        parts.append(f" · {formatting.plural(dead, 'message')} not delivered")
    elif failing:
        parts.append(f" · {formatting.plural(failing, 'message')} being retried")
    elif real:
        parts.append(" · every message delivered")
    return parts


def firing(
    page: AlertPage, now_ms: int, zone_of: ZoneOf, currency_of: CurrencyOf, *, may_operate: bool
) -> list[Node]:
    """``zone_of`` and ``currency_of``: the time zone and the currency of a device's id."""
    head = _head("Firing now", "worst first, acknowledged last; each device’s local time")
    if not page.count:
        return [head, el("p", "Nothing is firing.", class_="alert-empty")]
    rows = [_firing(each, now_ms, zone_of, currency_of, may_operate) for each in page.alerts]
    more = page.count - len(page.alerts)
    note = el("p", f"And {more:,} more.", class_="alert-empty") if more else None
    return [head, *rows, *([note] if note else [])]


def _head(title: str, note: str) -> Element:
    words = el("span", f" · {note}", class_="quiet") if note else None
    return el("h2", title, words, class_="alert-head")


def _firing(
    alert: Alert, now_ms: int, zone_of: ZoneOf, currency_of: CurrencyOf, may_operate: bool
) -> Element:
    words = words_in(alert.words, usual_units().name)
    details = [words.rstrip("."), _cost(alert, currency_of), f"rule “{alert.rule_name}”"]
    what = el(
        "div",
        el("span", SEVERITY_WORDS[alert.severity], class_="sr-only"),
        el("a", f"{alert.kind} · {_device(alert)}", href=_href(alert), class_="alert-name"),
        el("div", " · ".join(part for part in details if part), class_="quiet"),
    )
    lasted = el(
        "div",
        el("div", formatting.duration(now_ms - alert.start_ms)),
        el("div", _sent(alert, now_ms, zone_of), class_="quiet"),
    )
    return el(
        "div",
        el("i", class_="diamond", data_severity=alert.severity, aria_hidden="true"),
        what,
        lasted,
        _deeds(alert, now_ms, zone_of, may_operate),
        class_="alert-row",
        data_severity=alert.severity,
        data_of=alert.id,
    )


def _sent(alert: Alert, now_ms: int, zone_of: ZoneOf) -> str:
    if alert.notified_ms is None or alert.outcome != "sent":
        return alert.outcome
    return f"sent {moment(alert.notified_ms, now_ms, zone_of(alert.device_id))}"


def _deeds(alert: Alert, now_ms: int, zone_of: ZoneOf, may_operate: bool) -> Element:
    if alert.acknowledged_ms is not None:
        at = moment(alert.acknowledged_ms, now_ms, zone_of(alert.device_id))
        text = f": “{alert.acknowledged_text}”" if alert.acknowledged_text else ""
        undo = button("Undo", "unacknowledge", kind="small", data_id=alert.id)
        return el(
            "div",
            el("span", f"✓ acknowledged {at}{text}", class_="quiet alert-taken"),
            undo if may_operate else None,
            class_="alert-deeds",
        )
    if not may_operate:
        return el("div", class_="alert-deeds")
    lengths = [
        button(f"For {words}", "silence", kind="small", data_id=alert.id, data_hours=str(hours))
        for words, hours in SILENCES
    ]
    return el(
        "div",
        text_input("text", f"Note for {_device(alert)}", placeholder="Note", maxlength="500"),
        button("Acknowledge", "acknowledge", data_id=alert.id),
        el(
            "details",
            el("summary", "Silence…", class_="button"),
            el("div", *lengths, class_="alert-menu"),
            class_="alert-confirm",
        ),
        class_="alert-deeds",
    )


def _cost(alert: Alert, currency_of: CurrencyOf) -> str:
    if not alert.cost_per_day:
        return ""
    return f"{money(alert.cost_per_day, currency_of(alert.device_id))} a day"


def _device(alert: Alert) -> str:
    return alert.label or alert.serial_number


def _href(alert: Alert) -> str:
    if alert.finding_id:
        return session.site_path(f"/findings?finding={alert.finding_id}")
    return session.site_path(f"/devices/{alert.device_id}")


def moment(at_ms: int, now_ms: int, zone: str) -> str:
    """``08:00`` for today, otherwise ``Tue 17 Nov, 22:40``; in the device's zone."""
    clock = Clock(zone_or_utc(zone), min(at_ms, now_ms) - DAY_MS, max(at_ms, now_ms) + DAY_MS)
    local, today = clock.local(at_ms), clock.local(now_ms)
    time = minute_text(local)
    if local // DAY_MS == today // DAY_MS:
        return time
    return f"{day_text(local // DAY_MS, year=False)}, {time}"


# --- History -------------------------------------------------------------------------------------


def history(page: AlertPage, number: int, now_ms: int, zone_of: ZoneOf) -> list[Node]:
    head = _head("History", "resolved alerts, latest first")
    if not page.count:
        return [head, el("p", "No alert was resolved yet.", class_="alert-empty")]
    titles = ("Fired", "What", "Rule", "For", "Sent")
    header = el("tr", *(el("th", each, scope="col") for each in titles))
    rows = [_past(each, titles, now_ms, zone_of) for each in page.alerts]
    table = el("table", el("thead", header), el("tbody", *rows), class_="alert-table")
    return [head, el("div", table, class_="alert-scroll"), *_pager(page.count, number)]


def _past(alert: Alert, titles: Sequence[str], now_ms: int, zone_of: ZoneOf) -> Element:
    lasted = "–"
    if alert.ended_ms is not None and alert.ended_ms > alert.start_ms:
        lasted = formatting.duration(alert.ended_ms - alert.start_ms)
    what = el("a", f"{alert.kind} · {_device(alert)}", href=_href(alert))
    cells: list[Node] = [
        moment(alert.fired_ms, now_ms, zone_of(alert.device_id)),
        what,
        alert.rule_name,
        lasted,
        alert.outcome,
    ]
    named = zip(cells, titles, strict=True)
    return el("tr", *(el("td", each, data_head=title) for each, title in named))


def _pager(count: int, number: int) -> list[Node]:
    if count <= PAGE:
        return []
    first, last = (number - 1) * PAGE + 1, min(count, number * PAGE)
    return [
        el(
            "div",
            button("‹ Later", "page", kind="small", data_page=str(number - 1), disabled=number < 2),
            el("span", f"{first}–{last} of {count:,}", class_="quiet"),
            button("Earlier ›", "page", kind="small", data_page=str(number + 1),
                   disabled=last >= count),
            class_="alert-pager",
        )
    ]  # fmt: skip


# --- Silences ------------------------------------------------------------------------------------


def silences(
    listed: Sequence[AlertSilence], labels: dict[str, str], now_ms: int, *, may_operate: bool
) -> list[Node]:
    """The current and coming silences."""
    there = [each for each in listed if each.until_ms > now_ms]
    head = _head("Silences", "of these nothing is sent")
    if not there:
        return [head, el("p", "Nothing is silenced.", class_="alert-empty")]
    return [head, *(_silence(each, labels, now_ms, may_operate) for each in there)]


def _silence(
    silence: AlertSilence, labels: dict[str, str], now_ms: int, may_operate: bool
) -> Element:
    device = silence.device_id
    target = labels.get(device, "A device") if device else silence.group or "All devices"
    left = f"for another {formatting.duration(silence.until_ms - now_ms)}"
    end = confirmed("End…", "End silence", "end-silence", data_id=silence.id)
    details = [left, silence.reason]
    return el(
        "div",
        el(
            "div",
            el("span", target, class_="alert-name"),
            el("div", " · ".join(part for part in details if part), class_="quiet"),
        ),
        end if may_operate else None,
        class_="alert-row plain",
    )
