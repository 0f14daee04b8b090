"""Which of several ingesters stores a message, and the name of its session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from api.errors import ConfigurationError
from api.ingest.mqtt.sharding import is_ours, session_name, subscriptions
from api.ingest.mqtt.topics import UP_FILTER, up
from api.setting_types import Shard
from api.settings import Settings
from tests.tables import cases

POSTGRES = {"WEIR_DATABASE": "postgresql://weir@127.0.0.1/weir"}
PINNED = [1, 2, 3, 3, 1, 3, 3, 1]
UPLINKS = "application/a/device/+/event/up"


def settings_of(**fields: str) -> Settings:
    return Settings.from_env(
        POSTGRES | {f"WEIR_MQTT_{name}": text for name, text in fields.items()}
    )


@given(some.text(min_size=1), some.integers(1, 99))
def test_each_topic_belongs_to_exactly_one_part(topic: str, parts: int) -> None:
    takers = [n for n in range(1, parts + 1) if is_ours(Shard(n, parts), topic)]
    assert len(takers) == 1


@cases("parts", [2, 3, 4, 16])
def test_parts_are_about_even_for_any_device_names(parts: int) -> None:
    topics = [up("acme", f"70B3D57ED{number:07X}") for number in range(8_000)]
    sizes = [sum(is_ours(Shard(n, parts), t) for t in topics) for n in range(1, parts + 1)]
    assert sum(sizes) == len(topics)
    assert max(sizes) < 1.2 * len(topics) / parts


def test_the_part_of_a_topic_never_changes() -> None:
    """Not with another release or machine: otherwise a device's messages could belong to no
    part."""
    topics = [up("acme", f"N{device}") for device in range(8)]
    whose = [next(n for n in (1, 2, 3) if is_ours(Shard(n, 3), topic)) for topic in topics]
    assert whose == PINNED


@pytest.mark.parametrize(
    ("fields", "name", "filters"),
    [
        ({}, "weir", [UP_FILTER, UPLINKS]),
        ({"SHARD": "2/3"}, "weir-2-of-3", [UP_FILTER, UPLINKS]),
        (
            {"SHARE": "g", "CLIENT_ID": "north"},
            "north-of-g",
            [f"$share/g/{UP_FILTER}", f"$share/g/{UPLINKS}"],
        ),
    ],
)
def test_a_session_is_named_by_its_part(
    fields: dict[str, str], name: str, filters: list[str]
) -> None:
    assert session_name(settings_of(**fields)) == name
    assert subscriptions(settings_of(**fields), [UP_FILTER, UPLINKS]) == filters


@cases("text", ["0/3", "4/3", "1", "1/", "/3", "1/100", "a/b", "1/3/3", "01/3"])
def test_an_invalid_part_stops_the_start(text: str) -> None:
    with pytest.raises(ConfigurationError, match="WEIR_MQTT_SHARD must be a shard such as 1/3"):
        settings_of(SHARD=text)


def test_shard_and_share_exclude_each_other() -> None:
    """The broker would give a message to one ingester of the share, which need not be that of its
    part."""
    with pytest.raises(ConfigurationError, match="set WEIR_MQTT_SHARD or WEIR_MQTT_SHARE"):
        settings_of(SHARD="1/2", SHARE="g")


@cases("text", ["a/b", "#", "+", "a b", "x" * 65])
def test_an_invalid_group_stops_the_start(text: str) -> None:
    with pytest.raises(ConfigurationError, match="WEIR_MQTT_SHARE must be 1 to 64 letters"):
        settings_of(SHARE=text)
