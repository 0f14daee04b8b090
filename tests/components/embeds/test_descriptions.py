"""Texts about an embed, and the devices that the form offers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.client import Embed, EmbedDefinition, Fixed, Rolling
from components.directory_queries import Meter
from components.embeds import preview
from components.embeds.queries import MOST, offered, within_limit
from tests.tables import cases
from tests.world import ms

LABELS = {"d-1": "Tenant 12 main", "d-2": "Lobby"}
CHART = EmbedDefinition("chart", ("d-1",), "volume")
EMBED = Embed("emb_1", "org", CHART, "active", "key_1", ms("2026-03-01T10:00Z"))


@cases(
    ("window", "text"),
    [
        (Rolling(86_400), "last 24 h"),
        (Rolling(3_600), "last 1 h"),
        (Rolling(7 * 86_400), "last 7 d"),
        (Rolling(5_400), "last 1 h 30 min"),
    ],
)
def test_a_rolling_window_in_words(window: Rolling, text: str) -> None:
    assert preview.window(replace(CHART, window=window)) == text


def test_a_fixed_window_says_its_zone() -> None:
    window = Fixed(ms("2026-03-08T07:00Z"), ms("2026-03-08T12:00Z"))
    text = preview.window(replace(CHART, window=window, zone="America/Denver"))
    assert "00:00" in text
    assert text.endswith("America/Denver")


def test_an_embed_is_named_by_its_title_or_its_view() -> None:
    wall = replace(EMBED, definition=EmbedDefinition("wall", ("d-1", "d-2")))
    titled = replace(EMBED, definition=replace(CHART, title="Lobby"))
    assert preview.name_of(EMBED, LABELS) == "Tenant 12 main"
    assert preview.name_of(wall, LABELS) == "2 devices"
    assert preview.name_of(titled, LABELS) == "Lobby"
    assert "Tenant 12 main" in preview.line(titled, LABELS)
    assert preview.name_of(EMBED, {}) == "d-1"


@pytest.mark.parametrize(
    ("origins", "text"),
    [((), "this site only"), (("https://a.example:8443",), "a.example:8443"),
     (("https://a.example", "https://b.example"), "2 sites")],
)  # fmt: skip
def test_the_sites_in_words(origins: tuple[str, ...], text: str) -> None:
    assert preview.sites(replace(CHART, origins=origins)) == text


def test_every_state_has_a_shape_and_a_word_of_its_own() -> None:
    states = list(preview.STATES.values())
    assert len({each.mark for each in states}) == len({each.word for each in states}) == 4
    assert preview.state_of(replace(EMBED, state="else")).word == "Unknown"


def test_the_end_in_words() -> None:
    now = ms("2026-05-01T00:00Z")
    ending = replace(EMBED, definition=replace(CHART, expires_ms=ms("2026-06-01T00:00Z")))
    assert preview.ends(EMBED, now) == "no expiry"
    assert preview.ends(ending, now).startswith("until")
    assert preview.ends(ending, ms("2026-07-01T00:00Z")).startswith("ended")
    assert preview.ends(replace(ending, revoked_ms=now), now).startswith("revoked")


def test_every_part_of_a_definition_is_described() -> None:
    facts = dict(preview.facts_of(EMBED, LABELS, ms("2026-05-01T00:00Z")))
    assert facts["Devices"] == "Tenant 12 main"
    assert facts["Viewers may change"] == "nothing"
    many = replace(EMBED, definition=replace(CHART, devices=tuple(f"x{n}" for n in range(9))))
    assert dict(preview.facts_of(many, {}, 0))["Devices"].endswith("and 3 more")


# --- The devices to choose from ------------------------------------------------------------------


def meter(number: int, label: str) -> Meter:
    serial = f"S-{number:03}"
    return Meter(f"d-{number}", label, serial, "UTC", True, None, None, 40, None, "USD", (),
                 f"{label}\n{serial}".casefold())  # fmt: skip


METERS = [meter(n, f"Zone {n:03}") for n in range(30)]


def test_chosen_devices_come_first_and_a_search_filters_the_others() -> None:
    shown, more = offered(METERS, ["d-7"], "zone 01")
    assert shown[0] == ("d-7", "Zone 007 · S-007")
    assert [id for id, _ in shown[1:]] == [f"d-{n}" for n in range(10, 20)]
    assert more == 0


def test_a_long_list_is_cut_and_counted() -> None:
    shown, more = offered(METERS, [], "")
    assert (len(shown), more) == (MOST, 30 - MOST)


def test_a_chosen_device_that_is_not_listed_stays() -> None:
    assert offered(METERS, ["gone"], "nothing like it") == ([("gone", "gone")], 0)


def test_a_view_of_one_device_keeps_the_last_chosen() -> None:
    assert within_limit("chart", ["a", "b"]) == ["b"]
    assert within_limit("wall", ["a", "b"]) == ["a", "b"]
    assert within_limit("chart", []) == []
