"""An alert rule: devices, condition, duration and receivers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import orjson

from api.catalog import DAY_MS, HOUR_MS, METRICS, MINUTE_MS, Metric
from api.insight.findings import KIND_BY_NAME, SEVERITIES
from api.metering.cost import money
from api.metering.status import State
from api.metering.units import plain
from api.store.base.alerts import RuleRow

Source = Literal["finding", "state", "value", "budget"]
SOURCES: Final[tuple[Source, ...]] = ("finding", "state", "value", "budget")
STATES: Final = (State.SILENT.value, State.DEGRADED.value, State.NO_DATA.value)
BUDGET_WORDS: Final = "A budget is likely to be exceeded (80 %)"
COMPARISONS: Final = ("above", "below")
METRIC_BY_NAME: Final[Mapping[str, Metric]] = {
    metric.name: metric for metric in METRICS if metric.averaged and not metric.totalled
}
NAME_LENGTH: Final = 120
MOST_DEVICES: Final = 1_000
LONGEST_MS: Final = 30 * DAY_MS
FIELDS: Final = (
    "name", "enabled", "source", "kinds", "severity", "costPerDay", "states", "metric",
    "comparison", "limit", "duration", "devices", "groups", "hold", "reminder", "receivers",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """``source``: open findings, states, a value against a limit, or budgets that a month will
    likely exceed.

    ``kinds`` empty: all kinds, of at least ``severity`` and, unless 0, ``cost_per_day``. ``metric``
    ``comparison`` ``limit`` must hold for ``duration_ms``. ``devices`` (UUIDs) and ``groups``
    empty: all devices. ``hold_ms`` passes before the alert fires. ``reminder_ms`` 0: no reminders.
    ``receivers`` by id.
    """

    name: str
    source: Source = "finding"
    enabled: bool = True
    kinds: tuple[str, ...] = ()
    severity: str = "notice"
    cost_per_day: float = 0.0
    states: tuple[str, ...] = ()
    metric: str = ""
    comparison: str = "above"
    limit: float = 0.0
    duration_ms: int = 0
    devices: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    hold_ms: int = 0
    reminder_ms: int = 0
    receivers: tuple[str, ...] = ()

    def covers(self, device_id: str, groups: Collection[str]) -> bool:
        if not self.devices and not self.groups:
            return True
        return device_id in self.devices or any(name in self.groups for name in groups)

    def wants(self, kind: str, rank: int, cost_per_day: float | None) -> bool:
        """Whether the rule matches a finding of that kind, severity rank and cost."""
        return (
            self.source == "finding"
            and (not self.kinds or kind in self.kinds)
            and rank <= SEVERITIES.index(self.severity)
            and (cost_per_day or 0.0) >= self.cost_per_day
        )

    def as_json(self) -> dict[str, Any]:
        """Returns the rule as a request body has it; times in seconds."""
        return {
            "name": self.name,
            "enabled": self.enabled,
            "source": self.source,
            "kinds": list(self.kinds),
            "severity": self.severity,
            "costPerDay": self.cost_per_day,
            "states": list(self.states),
            "metric": self.metric or None,
            "comparison": self.comparison,
            "limit": self.limit,
            "duration": self.duration_ms // 1000,
            "devices": list(self.devices),
            "groups": list(self.groups),
            "hold": self.hold_ms // 1000,
            "reminder": self.reminder_ms // 1000,
            "receivers": list(self.receivers),
        }

    def words(self, currency: str) -> str:
        """Describes the condition: Leak, Burst; at least warning. ``currency``: of the least
        cost."""
        if self.source == "state":
            return ", ".join(each.replace("-", " ") for each in self.states).capitalize()
        if self.source == "value":
            metric = METRIC_BY_NAME[self.metric]
            text = f"{metric.label} {self.comparison} {plain(self.limit)} {metric.unit}"
            return f"{text} for {length(self.duration_ms)}" if self.duration_ms else text
        if self.source == "budget":
            return BUDGET_WORDS
        kinds = ", ".join(KIND_BY_NAME[kind].label for kind in self.kinds) or "Any finding"
        least = "" if self.severity == "notice" else f", at least {self.severity}"
        amount = money(self.cost_per_day, currency)
        cost = f", from {amount} a day" if self.cost_per_day else ""
        return kinds + least + cost


@dataclass(frozen=True, slots=True)
class StoredRule:
    id: str
    organization_id: str
    rule: Rule
    created_by: str
    created_ms: int
    updated_ms: int

    @classmethod
    def of(cls, row: RuleRow) -> StoredRule:
        return cls(
            row.id,
            row.organization_id,
            parse_rule(orjson.loads(row.definition)),
            row.created_by,
            row.created_ms,
            row.updated_ms,
        )

    def row(self) -> RuleRow:
        return RuleRow(
            id=self.id,
            organization_id=self.organization_id,
            name=self.rule.name,
            enabled=int(self.rule.enabled),
            live=int(self.rule.source in ("state", "value")),
            definition=orjson.dumps(self.rule.as_json()).decode(),
            created_by=self.created_by,
            created_ms=self.created_ms,
            updated_ms=self.updated_ms,
        )


class RuleProblems(ValueError):
    """``by_field``: what is wrong, in words that follow the field's name."""

    def __init__(self, by_field: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name} {words}" for name, words in by_field.items()))
        self.by_field = dict(by_field)


def parse_rule(body: Mapping[str, Any]) -> Rule:
    """Parses a rule from JSON. Raises RuleProblems with every bad field. Fields that its source
    doesn't use get their defaults."""
    reader = _Reader(body)
    for name in body:
        if name not in FIELDS:
            reader.problems[name] = "is not a field of a rule"
    source: Any = reader.word("source", SOURCES, "finding")
    common: dict[str, Any] = {
        "name": reader.text("name", NAME_LENGTH),
        "source": source,
        "enabled": reader.flag("enabled", default=True),
        "devices": reader.texts("devices"),
        "groups": reader.texts("groups"),
        "hold_ms": reader.seconds("hold"),
        "reminder_ms": reader.seconds("reminder"),
        "receivers": reader.texts("receivers"),
    }
    if not common["name"]:
        reader.problems.setdefault("name", "is required")
    if 0 < common["reminder_ms"] < 10 * MINUTE_MS:
        reader.problems["reminder"] = "must be 0 or at least 600 seconds"
    own = _OWN[source](reader)
    if reader.problems:
        raise RuleProblems(reader.problems)
    return Rule(**common, **own)


def _of_findings(reader: _Reader) -> dict[str, Any]:
    return {
        "kinds": reader.words("kinds", tuple(KIND_BY_NAME)),
        "severity": reader.word("severity", SEVERITIES, "notice"),
        "cost_per_day": reader.number("costPerDay", 0.0, least=0.0),
    }


def _of_states(reader: _Reader) -> dict[str, Any]:
    states = reader.words("states", STATES)
    if not states:
        reader.problems.setdefault("states", "needs at least one state")
    return {"states": states}


def _of_values(reader: _Reader) -> dict[str, Any]:
    metric = reader.word("metric", tuple(METRIC_BY_NAME), "")
    if not metric:
        reader.problems.setdefault("metric", "is required")
    if reader.body.get("limit") is None:
        reader.problems["limit"] = "is required"
    return {
        "metric": metric,
        "comparison": reader.word("comparison", COMPARISONS, "above"),
        "limit": reader.number("limit", 0.0),
        "duration_ms": reader.seconds("duration"),
    }


def _of_budgets(reader: _Reader) -> dict[str, Any]:
    return {}


class _Reader:
    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        self.problems: dict[str, str] = {}

    def text(self, name: str, longest: int) -> str:
        value = self.body.get(name, "")
        if not isinstance(value, str):
            self.problems[name] = "must be a string"
            return ""
        text = " ".join(value.split())
        if len(text) > longest or not text.isprintable():
            self.problems[name] = f"must be printable text of at most {longest} characters"
        return text

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.body.get(name, default)
        if not isinstance(value, bool):
            self.problems[name] = "must be true or false"
            return default
        return value

    def number(self, name: str, default: float, *, least: float | None = None) -> float:
        value = self.body.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e12:
            self.problems[name] = "must be a number"
            return default
        if least is not None and value < least:
            self.problems[name] = f"must be at least {plain(least)}"
        return float(value)

    def seconds(self, name: str) -> int:
        """Returns milliseconds."""
        value = self.number(name, 0.0, least=0.0)
        if value * 1000 > LONGEST_MS:
            self.problems[name] = f"must be at most {LONGEST_MS // 1000} seconds"
        return int(value) * 1000

    def word(self, name: str, words: Collection[str], default: str) -> str:
        value = self.body.get(name)
        if value is None:
            return default
        if value not in words:
            self.problems[name] = f"must be one of {', '.join(words)}"
            return default
        return str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        value: Any = self.body.get(name)
        if value is None:
            return ()
        listed = cast(list[Any], value) if isinstance(value, list) else [None]
        if not all(isinstance(each, str) and each for each in listed):
            self.problems[name] = "must be a list of strings"
            return ()
        if len(listed) > MOST_DEVICES:
            self.problems[name] = f"may have at most {MOST_DEVICES} entries"
        return tuple(dict.fromkeys(str(each) for each in listed))

    def words(self, name: str, words: Collection[str]) -> tuple[str, ...]:
        chosen = self.texts(name)
        if unknown := [each for each in chosen if each not in words]:
            self.problems[name] = f"has no {unknown[0][:80]!r}; there are {', '.join(words)}"
        return chosen


def length(span_ms: int) -> str:
    """Formats a duration: 10 min, 4 h 12 min, 2 d 4 h."""
    minutes = max(0, span_ms) // MINUTE_MS
    days, hours = minutes // 1440, minutes % 1440 // 60
    if span_ms >= DAY_MS:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if span_ms >= HOUR_MS:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{minutes} min" if span_ms >= MINUTE_MS else f"{max(0, span_ms) // 1000} s"


_OWN: Final[Mapping[Source, Callable[[_Reader], dict[str, Any]]]] = {
    "finding": _of_findings,
    "state": _of_states,
    "value": _of_values,
    "budget": _of_budgets,
}
