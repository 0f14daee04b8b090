"""The page of a device that measures no water."""

from __future__ import annotations

import pytest

from components.device.cards import CARDS
from components.device.kpi_cards import KPI_ROWS
from components.formatting import measures_water, radio_values, radio_words


@pytest.mark.parametrize(
    ("rssi", "signal", "values", "words"),
    [
        (-87.4, -104.0, ("−87 dBm", "RSSI, signal −104 dBm"), "−87 dBm RSSI"),
        (None, -104.0, ("−104 dBm", "signal"), "−104 dBm signal"),
        (None, None, ("–", "no current reading"), "–"),
    ],
)
def test_a_radio_is_described_by_its_available_values(
    rssi: float | None, signal: float | None, values: tuple[str, str], words: str
) -> None:
    assert radio_values(rssi, signal, nothing="no current reading") == values
    assert radio_words(signal, rssi) == words


def test_a_gateways_page_has_its_radio_and_no_water() -> None:
    shown = {row.id for row in KPI_ROWS if row.suits(water=measures_water("Gateway"), priced=True)}
    assert shown == {"kpi-last", "kpi-radio", "kpi-uptime", "kpi-quality"}
    meters = {
        row.id for row in KPI_ROWS if row.suits(water=measures_water("EndDevice"), priced=True)
    }
    assert meters == {row.id for row in KPI_ROWS} - {"kpi-radio"}
    assert {row.id for row in CARDS if row.water} == {
        "device-days",
        "device-heat",
        "device-register",
    }
