"""The finding settings in a device's ``config``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.insight.findings.registry import KIND_BY_NAME, Settings, check

_NUMBERS: Final = {
    "continuousFlowLimit": ("continuous-flow", "limit"),
    "qualityLimit": ("low-quality", "limit"),
    "highFlowLimit": ("high-flow", "limit"),
}
_BY_DESIGN: Final = "continuousFlowByDesign"


def settings_of(config: Mapping[str, Any]) -> Settings:
    """Returns the settings of each kind as a layer of `values`. Ignores anything that isn't a
    number within its bounds: the configuration may come from another system."""
    layer: dict[str, dict[str, float]] = {}
    for key, (kind, name) in _NUMBERS.items():
        value = config.get(key)
        setting = next(one for one in KIND_BY_NAME[kind].all_settings if one.name == name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                layer.setdefault(kind, {})[name] = check(setting, str(value))
            except ValueError:
                continue
    if config.get(_BY_DESIGN) is True:
        layer.setdefault("continuous-flow", {})["enabled"] = 0.0
    return layer
