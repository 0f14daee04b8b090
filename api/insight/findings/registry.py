"""The kinds of findings, one row each, in the order of evaluation: burst is before the kinds that
check whether one is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.insight.findings import (
    backwards,
    burst,
    continuous_flow,
    frost,
    high_flow,
    low_quality,
    missing_data,
    night_flow_step,
    no_use,
    register_back,
    silent,
    stuck,
    unusual_day,
    weak_signal,
)
from api.insight.findings.model import Kind, Setting
from api.metering.units import METRIC_UNITS, plain

KINDS: Final[tuple[Kind, ...]] = (
    continuous_flow.KIND,
    burst.KIND,
    night_flow_step.KIND,
    high_flow.KIND,
    unusual_day.KIND,
    no_use.KIND,
    stuck.KIND,
    backwards.KIND,
    silent.KIND,
    missing_data.KIND,
    low_quality.KIND,
    weak_signal.KIND,
    frost.KIND,
    register_back.KIND,
)
KIND_BY_NAME: Final = {kind.name: kind for kind in KINDS}

Settings = Mapping[str, Mapping[str, float]]
"""Kind → setting → value. Missing settings have their default."""


def defaults(kind: Kind) -> dict[str, float]:
    return {setting.name: setting.default for setting in kind.all_settings}


def values(kind: Kind, *layers: Settings) -> dict[str, float]:
    """Returns the settings of a kind. The last layer takes precedence: organization, group,
    device."""
    merged = defaults(kind)
    for layer in layers:
        merged.update(layer.get(kind.name, {}))
    return merged


def parse(kind: Kind, name: str, text: str) -> float:
    """Parses a setting that a person typed. Raises ValueError with a message for the user."""
    setting = next((each for each in kind.all_settings if each.name == name), None)
    if setting is None:
        names = ", ".join(each.name for each in kind.all_settings)
        raise ValueError(f"{kind.name} has no setting {name!r}; it has {names}")
    return check(setting, text)


def check(setting: Setting, text: str) -> float:
    """Raises ValueError for anything but a number within the setting's range."""
    words = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}
    text = words.get(text.strip().lower(), text) if setting.flag else text
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if setting.flag and value not in (0, 1):
        raise ValueError(f"{setting.name} must be on or off")
    if not setting.least <= value <= setting.most:
        raise ValueError(
            f"{setting.name} must be a number from {_bound(setting.least, setting)}"
            f" to {_bound(setting.most, setting)}"
        )
    return value


def _bound(value: float, setting: Setting) -> str:
    """Formats a bound, with the unit if it is one that readers may see converted."""
    unit = f" {setting.unit}" if setting.unit in METRIC_UNITS else ""
    return f"{plain(value)}{unit}"
