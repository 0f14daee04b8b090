"""Mains and sub-meters in a summary: no gallon is counted twice, and the page says so."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from api.client import Device
from api.client.balance import Balance, MeteredVolume
from api.metering.cost import Price
from components import html_json
from components.directory_queries import read_directory
from components.units import US
from components.usage.sections import balance_section
from components.usage.sums import Day, DeviceUsage, counted, totals
from components.usage.table import sums


def usages(*devices: tuple[str, str | None]) -> list[DeviceUsage]:
    """One day of ten gallons for each device."""
    listed = [
        Device(serial, serial, serial, "EndDevice", serial, "", "UTC", True, None, None,
               config={"parent": parent} if parent else {})
        for serial, parent in devices
    ]  # fmt: skip

    class Server:
        def devices(self, **_: object) -> object:
            return type("Page", (), {"devices": listed})

        def organizations(self) -> tuple[()]:
            return ()

    meters = read_directory(Server(), 0).meters  # pyright: ignore[reportArgumentType]
    day = Day(1, 0, 86_400_000, 86_400_000, 10.0, 1.0, 1440, 1440)
    price = Price(0.5, "USD", own=True)
    return [DeviceUsage(meter, ZoneInfo("UTC"), (day,), price) for meter in meters]


TREE = (("MAIN", None), ("RISER", "MAIN"), ("FLAT", "RISER"), ("GARDEN", None))


def test_volume_and_cost_count_each_gallon_once() -> None:
    result = totals(usages(*TREE))
    assert (result.gallons, result.costs, result.devices, result.sub_meters) == (
        20,
        {"USD": 10},
        2,
        2,
    )
    strip = {total.name: total for total in sums(result, US)}
    assert strip["volume"].note == "of 2 devices, 2 sub-meters not counted twice"
    assert sums(totals(usages(("A", None))), US)[0].note == "of 1 device"


def test_a_sub_meter_counts_if_its_mains_are_not_summed() -> None:
    every = {each.meter.serial: each for each in usages(*TREE)}
    assert counted([every["FLAT"], every["MAIN"]]) == [every["MAIN"]]  # the riser isn't chosen
    assert totals([every["FLAT"], every["GARDEN"]]).gallons == 20


def test_a_cycle_of_parents_loses_no_device() -> None:
    assert totals(usages(("A", "B"), ("B", "A"))).gallons == 20


def test_the_balance_names_its_meters_and_its_coverage() -> None:
    volumes = [MeteredVolume(n, n, n.title(), g) for n, g in (("MAIN", 100.0), ("FLAT", 94.0))]
    result = Balance(volumes[0], (volumes[1],), 94.0, 6.0, 0.06, 20, 24)
    text = str(html_json.as_nodes(balance_section([result], US)))
    for words in ("Main", "Flat", "100 gal", "94 gal", "6 gal", "6.0%", "20 of 24 h"):
        assert words in text
    assert "every hour of the range" not in text
    assert balance_section([], US) == []
