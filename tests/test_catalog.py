"""The catalog's rows equal the interface's tables."""

from __future__ import annotations

from api import catalog
from api.store.base import RegisterRow


def test_resolutions_are_the_interfaces_in_order() -> None:
    names = [r.name for r in catalog.RESOLUTIONS]
    assert names == ["raw", "1min", "5min", "10min", "1hour", "day", "month", "total"]


def test_each_stored_level_is_a_whole_number_of_the_one_below() -> None:
    for finer, coarser in zip(catalog.STORED, catalog.STORED[1:], strict=False):
        assert coarser.fixed_ms % finer.fixed_ms == 0


def test_adaptive_goes_from_coarse_to_fine() -> None:
    assert [r.name for r in catalog.LADDER] == ["1hour", "10min", "5min", "1min", "raw"]


def test_raw_rows_have_the_interfaces_columns() -> None:
    assert catalog.RAW.columns == (
        "recorded_at", "flow_rate", "flow_duration", "flow_amount", "quality", "signal_strength",
        "network_rssi", "onboard_temperature",
    )  # fmt: skip


def test_aggregated_rows_have_one_shape() -> None:
    columns = set(catalog.AGGREGATE_COLUMNS)
    averaged = {"flow_rate", "flow_amount", "quality", "signal_strength", "network_rssi",
                "onboard_temperature"}  # fmt: skip
    extremes = averaged - {"flow_amount"}
    assert columns == (
        {f"avg_{m}" for m in averaged}
        | {f"{f}_{m}" for f in ("min", "max") for m in extremes}
        | {"total_flow_amount"}
    )
    stamps = {r.name: r.columns[0] for r in catalog.RESOLUTIONS if r.stamp}
    assert stamps["5min"] == "bucket_5min"
    assert stamps["day"] == stamps["month"] == "bucket"
    assert catalog.TOTAL.columns == catalog.AGGREGATE_COLUMNS


def test_filter_fields_are_the_interfaces() -> None:
    raw = {"flowRate", "flowAmount", "flowDuration", "quality", "signalStrength", "networkRssi",
           "onboardTemperature"}  # fmt: skip
    assert set(catalog.RAW_FILTER_FIELDS) == raw
    metrics = ("FlowRate", "Quality", "SignalStrength", "NetworkRssi", "OnboardTemperature")
    extremes = {function + metric for function in ("min", "max") for metric in metrics}
    assert set(catalog.AGGREGATED_FILTER_FIELDS) == (raw - {"flowDuration"}) | extremes


def test_an_unprefixed_field_filters_the_average() -> None:
    assert catalog.AGGREGATED_FILTER_FIELDS["flowAmount"].name == "avg_flow_amount"
    assert catalog.AGGREGATED_FILTER_FIELDS["minFlowRate"].name == "min_flow_rate"


def test_a_register_has_a_field_for_each_metric_sent_with_it() -> None:
    assert RegisterRow._fields[4:] == tuple(m.name for m in catalog.BESIDE_REGISTER)
