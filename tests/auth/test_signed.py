"""Signed addresses: what opens, what doesn't, and in whose name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import pytest

from api.auth import Authenticator
from api.auth.signed import SignedAddresses
from api.settings import Settings
from api.store.base import Grant
from tests.auth.directory import Clock
from tests.world import ACME, CLOSED, LONE, METER, OTHER, SECRET, SETTINGS, TWIN, World, opened

DAY_S = 86_400
PATH = f"/export/devices/{METER}/chart.png"
SAID = [("range", "7d"), ("zone", "Asia/Kolkata"), ("theme", "dark")]
EVERYTHING = Grant(everything=True)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(f"sqlite:///{tmp_path_factory.mktemp('signed') / 'weir.sqlite'}") as world:
        yield world


@dataclass
class Desk:
    world: World
    clock: Clock
    addresses: SignedAddresses

    def key(self, grant: Grant = EVERYTHING, organization: str = ACME, **details: object) -> str:
        return self.world.new_key(grant, organization, **details)[1]

    def sees(self, token: str | None) -> set[str] | None:
        """The devices of the token's scope; None where there is no token."""
        if token is None:
            return None
        principal = Authenticator(self.world.store, SETTINGS).principal(None, f"Bearer {token}")
        found = self.world.store.resolve(principal.scope, [METER, TWIN, LONE])
        return {device.id for device in found if device is not None}


@pytest.fixture
def desk(world: World) -> Desk:
    from api.timez import now_ms

    clock = Clock(now_ms() / 1000)  # tokens are checked by the true clock
    return Desk(world, clock, SignedAddresses(world.store, SETTINGS, now_ms=clock.ms))


def test_an_address_as_it_was_signed_opens_for_its_device_alone(desk: Desk) -> None:
    query = desk.addresses.sign(PATH, SAID, desk.key(), DAY_S)
    assert desk.sees(desk.addresses.opened(PATH, query, METER)) == {METER}


def test_the_order_of_its_parameters_doesnt_matter(desk: Desk) -> None:
    pairs = parse_qsl(desk.addresses.sign(PATH, SAID, desk.key(), DAY_S))
    assert desk.addresses.opened(PATH, urlencode(pairs[::-1]), METER) is not None


def test_the_key_itself_isnt_in_it(desk: Desk) -> None:
    secret, key_id = desk.world.new_key(EVERYTHING)
    query = desk.addresses.sign(PATH, SAID, key_id, DAY_S)
    assert secret not in query
    assert key_id in query


Change = Callable[[dict[str, str]], object]
CHANGES: dict[str, Change] = {
    "another range": lambda said: said.update(range="30d"),
    "one parameter more": lambda said: said.update(width="900"),
    "one parameter less": lambda said: said.pop("theme"),
    "a later end": lambda said: said.update(exp=str(int(said["exp"]) + 1)),
    "no end": lambda said: said.pop("exp"),
    "an end that is no number": lambda said: said.update(exp="never"),
    "another key": lambda said: said.update(key="key_other"),
    "no key": lambda said: said.pop("key"),
    "an empty signature": lambda said: said.update(sig=""),
    "half of a signature": lambda said: said.update(sig=said["sig"][:20]),
    "another signature": lambda said: said.update(sig=said["sig"][:-1] + "\N{OGHAM SPACE MARK}"),
    "a signature in other letters": lambda said: said.update(sig=said["sig"].swapcase()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_is_changed_closes_it(desk: Desk, change: Change) -> None:
    said = dict(parse_qsl(desk.addresses.sign(PATH, SAID, desk.key(), DAY_S)))
    change(said)
    assert desk.addresses.opened(PATH, urlencode(said), METER) is None


@pytest.mark.parametrize("path", [PATH.replace(METER, TWIN), PATH.replace("png", "svg"),
                                  "/export/fleet.png", PATH + "/", PATH.upper()])  # fmt: skip
def test_it_is_good_for_its_own_path(desk: Desk, path: str) -> None:
    query = desk.addresses.sign(PATH, SAID, desk.key(), DAY_S)
    assert desk.addresses.opened(path, query, METER) is None


def test_a_repeated_parameter_closes_it(desk: Desk) -> None:
    query = desk.addresses.sign(PATH, SAID, desk.key(), DAY_S)
    for more in ("&range=7d", "&sig=x", "&exp=9999999999"):
        assert desk.addresses.opened(PATH, query + more, METER) is None


def test_it_ends_with_its_second(desk: Desk) -> None:
    desk.clock.at_s = round(desk.clock.at_s)
    query = desk.addresses.sign(PATH, SAID, desk.key(), 60)
    desk.clock.at_s += 59.999
    assert desk.addresses.opened(PATH, query, METER) is not None
    desk.clock.at_s += 0.001
    assert desk.addresses.opened(PATH, query, METER) is None


def test_another_secret_knows_none_of_it(desk: Desk) -> None:
    query = desk.addresses.sign(PATH, SAID, desk.key(), DAY_S)
    other = Settings.from_env({"WEIR_SECRET_KEY": SECRET + "!"})
    stranger = SignedAddresses(desk.world.store, other, now_ms=desk.clock.ms)
    assert stranger.opened(PATH, query, METER) is None


def test_a_key_that_is_revoked_takes_its_addresses_along_at_once(desk: Desk) -> None:
    key_id = desk.key()
    query = desk.addresses.sign(PATH, SAID, key_id, DAY_S)
    assert desk.addresses.opened(PATH, query, METER) is not None
    desk.world.store.revoke_key(key_id, desk.clock.ms())
    assert desk.addresses.opened(PATH, query, METER) is None


def test_a_key_that_expires_takes_its_addresses_along(desk: Desk) -> None:
    key_id = desk.key(expires_ms=desk.clock.ms() + 10_000)
    query = desk.addresses.sign(PATH, SAID, key_id, DAY_S)
    assert desk.addresses.opened(PATH, query, METER) is not None
    desk.clock.at_s += 10
    assert desk.addresses.opened(PATH, query, METER) is None


@pytest.mark.parametrize(
    ("grant", "organization", "opens"),
    [
        (EVERYTHING, ACME, True),
        (Grant(devices=frozenset({METER})), ACME, True),
        (Grant(groups=frozenset({"north"})), ACME, True),
        (Grant(devices=frozenset({TWIN})), ACME, False),
        (Grant(), ACME, False),
        (EVERYTHING, OTHER, False),
        (EVERYTHING, CLOSED, False),
    ],
)
def test_it_shows_what_its_key_may_see_now(
    desk: Desk, grant: Grant, organization: str, opens: bool
) -> None:
    query = desk.addresses.sign(PATH, SAID, desk.key(grant, organization), DAY_S)
    seen = desk.sees(desk.addresses.opened(PATH, query, METER))
    assert seen == ({METER} if opens else None)


@pytest.mark.parametrize(
    ("grant", "sees"),
    [
        (EVERYTHING, {METER, TWIN, LONE}),
        (Grant(groups=frozenset({"north"})), {METER, TWIN}),
        (Grant(devices=frozenset({LONE}), groups=frozenset({"all floors"})), {LONE, TWIN}),
        (Grant(), set()),
    ],
)
def test_a_walls_address_sees_all_of_its_keys_devices(
    desk: Desk, grant: Grant, sees: set[str]
) -> None:
    query = desk.addresses.sign("/export/fleet.png", [], desk.key(grant), DAY_S)
    assert desk.sees(desk.addresses.opened("/export/fleet.png", query, None)) == sees


def test_only_keys_that_read_sign(desk: Desk) -> None:
    secret, key_id = desk.world.new_key(EVERYTHING)
    assert desk.addresses.signer({"service-api-key": secret}) == key_id
    sending, _ = desk.world.new_key(EVERYTHING, ingest=True)
    for headers in (
        {"service-api-key": sending},
        {"service-api-key": "00000000-0000-4000-8000-000000000000"},
        {"Authorization": "Bearer x"},
        {},
    ):
        assert desk.addresses.signer(headers) is None


def test_asking_again_asks_in_the_same_name(desk: Desk) -> None:
    """What is remembered for a principal is found again."""
    query = desk.addresses.sign(PATH, SAID, desk.key(), DAY_S)
    tokens = {desk.addresses.opened(PATH, query, METER) for _ in range(3)}
    assert len(tokens) == 1
