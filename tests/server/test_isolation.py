"""Two principals of one service with warm caches: neither ever sees data of the other."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import COLUMNS_TYPE
from tests.world import FOREIGN, METER, World, opened

PRINCIPALS = ("all", "group", "devices", "both", "foreign", "token", "token for one")
IDENTIFIERS = (METER, FOREIGN, "M-1", "net-m1", "net-f1", "T-1", "L/1", "O-1", "Q 1")


@pytest.fixture(scope="module")
def world(place_url: str) -> Iterator[World]:
    with opened(place_url) as world:
        yield world


def paths() -> st.SearchStrategy[str]:
    one = st.sampled_from(IDENTIFIERS).map(lambda text: quote(text, safe=""))
    many = st.lists(one, min_size=1, max_size=9).map(",".join)
    ends = "from=2026-03-08T06:00:00Z&to=2026-03-08T09:00:00Z"
    return st.one_of(
        st.sampled_from(
            ["/organizations/mine", "/device", "/device?active=null&pagination=true",
             "/device?serialNumber=M-1"]
        ),
        one.map(lambda id: f"/flow/datapoints/{id}?resolution=1hour&limit=3"),
        one.map(lambda id: f"/flow/datapoints/{id}?resolution=day&count=true"),
        one.map(lambda id: f"/flow/adaptive/{id}?{ends}&maxDatapoints=20"),
        many.map(lambda ids: f"/flow/latest?ids={ids}&metrics=lastSeen,uptime,quality&{ends}"),
    )  # fmt: skip


requests = st.tuples(
    st.sampled_from(PRINCIPALS), paths(), st.sampled_from(["application/json", COLUMNS_TYPE])
)


@settings(deadline=None, max_examples=12)
@given(st.lists(requests, min_size=2, max_size=12))
def test_interleaved_responses_equal_those_to_each_alone(
    world: World, sequence: list[tuple[str, str, str]]
) -> None:
    """Each response equals that of a fresh service, after any earlier requests with any
    validators."""
    etags = ["*none*"]
    for by, path, accept in sequence:
        headers = {**world.credentials[by].headers, "Accept": accept}
        url = f"/management/v1{path}"
        answer = world.client.get(url, headers=headers)
        alone = World(world.store).client.get(url, headers=headers)
        assert answer.status_code == alone.status_code
        if answer.status_code == 200:
            assert answer.data == alone.data
            etag = answer.headers["ETag"]
            theirs = {"If-None-Match": ", ".join(e for e in etags if e != etag)}
            assert world.client.get(url, headers=headers | theirs).status_code == 200
            etags.append(etag)
        _assert_only_its_own(world, by, answer.data)


def _assert_only_its_own(world: World, by: str, body: bytes) -> None:
    """The body has no id of a device that the principal may not see."""
    sees = {FOREIGN} if by == "foreign" else world.credentials[by].sees
    for id in world.devices:
        assert id in sees or id.encode() not in body


def test_validators_differ_between_principals_even_for_equal_bodies(world: World) -> None:
    answers = [
        world.get("/flow/datapoints/no-such", {"resolution": "raw"}, by=b) for b in PRINCIPALS
    ]
    assert {answer.status_code for answer in answers} == {404}
    empty = {by: world.get("/device", {"serialNumber": "none"}, by=by) for by in PRINCIPALS}
    assert {orjson.loads(answer.data) == [] for answer in empty.values()} == {True}
    assert len({answer.headers["ETag"] for answer in empty.values()}) == len(PRINCIPALS)
