"""Embeds are stored unchanged, listed newest first, and revoked for good."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from api.embeds import EmbedDefinition, Fixed, Rolling
from api.errors import UserError
from api.store.base import Grant
from api.store.web.base import Embed, Maker, WebStore

DEVICE = "00000000-0000-4000-8000-000000000001"
CHART = EmbedDefinition("chart", (DEVICE,), "flow_rate")
WALL = EmbedDefinition(
    "wall",
    tuple(str(uuid.uuid4()) for _ in range(50)),
    origins=("https://portal.example", "https://wiki.example:8443"),
    window=Rolling(7 * 86_400),
    zone="Pacific/Apia",
    units="metric",
    theme="dark",
    controls=("range", "theme"),
    title="Zählerwand <b>&amp; '\"; DROP TABLE embed --",
    expires_ms=1_900_000_000_000,
)
BY_KEY = Maker("key_1", key_id="key_1")
GRANTED = Grant(groups=frozenset({"north", "süd"}), devices=frozenset({DEVICE}))


def new(organization_id: str = "org-1", **changes: Any) -> Embed:
    made = Embed(uuid.uuid4().hex, organization_id, BY_KEY, CHART, 1_700_000_000_000)
    return replace(made, **changes)


@pytest.mark.parametrize(
    "embed",
    [
        new(),
        new(definition=WALL),
        new(definition=replace(CHART, window=Fixed(0, 86_399_999))),
        new(maker=Maker("command", granted=Grant(everything=True))),
        new(maker=Maker("token", granted=GRANTED)),
        new(maker=Maker("token", granted=Grant())),
        new(revoked_ms=1_700_000_000_001),
    ],
)
def test_an_embed_is_read_as_it_was_created(web: WebStore, embed: Embed) -> None:
    web.create_embed(embed)
    assert web.embed(embed.id) == embed
    assert web.embeds("org-1") == [embed]


def test_a_missing_embed_is_not_found(web: WebStore) -> None:
    assert web.embed("nothing") is None
    assert web.embeds("org-1") == []


def test_an_id_is_unique(web: WebStore) -> None:
    embed = new()
    web.create_embed(embed)
    with pytest.raises(UserError, match=embed.id):
        web.create_embed(replace(embed, organization_id="org-2"))
    assert web.embeds("org-2") == []


def test_an_organization_lists_its_own_newest_first(web: WebStore) -> None:
    mine = [new(created_ms=at) for at in (1_000, 3_000, 2_000)]
    for embed in (*mine, new("org-2")):
        web.create_embed(embed)
    assert web.embeds("org-1") == [mine[1], mine[2], mine[0]]


def test_revoking_is_final_and_the_first_time_counts(web: WebStore) -> None:
    embed, other = new(), new()
    web.create_embed(embed)
    web.create_embed(other)
    assert web.revoke_embed(embed.id, 5_000)
    assert web.revoke_embed(embed.id, 9_000)
    assert web.embed(embed.id) == replace(embed, revoked_ms=5_000)
    assert web.embed(other.id) == other
    assert not web.revoke_embed("nothing", 5_000)
