"""The health of a device's radio, for devices that measure no water."""

from __future__ import annotations

from api.catalog import METERLESS, NETWORK_RSSI, SIGNAL_STRENGTH
from components import formatting


def measures_water(category: str) -> bool:
    return category not in METERLESS


def radio_words(signal_strength: float | None, network_rssi: float | None) -> str:
    """``−87 dBm RSSI``, else ``−104 dBm signal``; an en dash where neither is of now."""
    value, name = radio_values(network_rssi, signal_strength)
    return f"{value} {name.partition(',')[0]}".strip()


def radio_values(
    network_rssi: float | None, signal_strength: float | None, *, nothing: str = ""
) -> tuple[str, str]:
    """(``−87 dBm``, ``RSSI, signal −104 dBm``): the number that matters, and what it is."""
    named = ((network_rssi, NETWORK_RSSI, "RSSI"), (signal_strength, SIGNAL_STRENGTH, "signal"))
    known = [
        (f"{formatting.exact(value, 0)} {metric.unit}", name)
        for value, metric, name in named
        if value is not None
    ]
    if not known:
        return formatting.NOTHING, nothing
    (value, name), *others = known
    return value, ", ".join((name, *(f"{other} {text}" for text, other in others)))
