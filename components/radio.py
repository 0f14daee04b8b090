"""The health of a device's radio, for devices that measure no water."""

from __future__ import annotations

from api.catalog import METERLESS, NETWORK_RSSI, SIGNAL_STRENGTH
from components import formatting


def measures_water(category: str) -> bool:
    return category not in METERLESS


def radio_words(signal_strength: float | None, network_rssi: float | None) -> str:
    """``−87 dBm RSSI``, else ``−104 dBm signal``; an en dash where neither is of now."""
    for value, metric, name in (
        (network_rssi, NETWORK_RSSI, "RSSI"),
        (signal_strength, SIGNAL_STRENGTH, "signal"),
    ):
        if value is not None:
            return f"{formatting.exact(value, 0)} {metric.unit} {name}"
    return formatting.NOTHING
