"""Signed addresses: which open, which don't, and with whose access."""

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
PARAMETERS = [("range", "7d"), ("zone", "Asia/Kolkata"), ("theme", "dark")]
EVERYTHING = Grant(everything=True)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(f"sqlite:///{tmp_path_factory.mktemp('signed') / 'weir.sqlite'}") as world:
        yield world


@dataclass
class Signing:
    world: World
    clock: Clock
    addresses: SignedAddresses

    def key(self, grant: Grant = EVERYTHING, organization: str = ACME, **details: object) -> str:
        return self.world.new_key(grant, organization, **details)[1]

    def sees(self, token: str | None) -> set[str] | None:
        """The ids of the devices in the token's scope; None without a token."""
        if token is None:
            return None
        principal = Authenticator(self.world.store, SETTINGS).principal(None, f"Bearer {token}")
        result = self.world.store.resolve(principal.scope, [METER, TWIN, LONE])
        return {device.id for device in result if device is not None}


@pytest.fixture
def signing(world: World) -> Signing:
    from api.timez import now_ms

    clock = Clock(now_ms() / 1000)  # tokens are checked by the real clock
    return Signing(world, clock, SignedAddresses(world.store, SETTINGS, now_ms=clock.ms))


def test_an_unchanged_address_opens_its_device_only(signing: Signing) -> None:
    query = signing.addresses.sign(PATH, PARAMETERS, signing.key(), DAY_S)
    assert signing.sees(signing.addresses.opened(PATH, query, METER)) == {METER}


def test_the_order_of_its_parameters_doesnt_matter(signing: Signing) -> None:
    pairs = parse_qsl(signing.addresses.sign(PATH, PARAMETERS, signing.key(), DAY_S))
    assert signing.addresses.opened(PATH, urlencode(pairs[::-1]), METER) is not None


def test_the_address_does_not_contain_the_key(signing: Signing) -> None:
    secret, key_id = signing.world.new_key(EVERYTHING)
    query = signing.addresses.sign(PATH, PARAMETERS, key_id, DAY_S)
    assert secret not in query
    assert key_id in query


Change = Callable[[dict[str, str]], object]
CHANGES: dict[str, Change] = {
    "another range": lambda signed: signed.update(range="30d"),
    "one parameter more": lambda signed: signed.update(width="900"),
    "one parameter less": lambda signed: signed.pop("theme"),
    "a later end": lambda signed: signed.update(exp=str(int(signed["exp"]) + 1)),
    "no end": lambda signed: signed.pop("exp"),
    "an end that is no number": lambda signed: signed.update(exp="never"),
    "another key": lambda signed: signed.update(key="key_other"),
    "no key": lambda signed: signed.pop("key"),
    "an empty signature": lambda signed: signed.update(sig=""),
    "half of a signature": lambda signed: signed.update(sig=signed["sig"][:20]),
    "another signature": lambda signed: signed.update(
        sig=signed["sig"][:-1] + "\N{OGHAM SPACE MARK}"
    ),
    "a signature in other letters": lambda signed: signed.update(sig=signed["sig"].swapcase()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_makes_an_address_invalid(signing: Signing, change: Change) -> None:
    result = dict(parse_qsl(signing.addresses.sign(PATH, PARAMETERS, signing.key(), DAY_S)))
    change(result)
    assert signing.addresses.opened(PATH, urlencode(result), METER) is None


@pytest.mark.parametrize("path", [PATH.replace(METER, TWIN), PATH.replace("png", "svg"),
                                  "/export/fleet.png", PATH + "/", PATH.upper()])  # fmt: skip
def test_an_address_is_valid_for_its_own_path_only(signing: Signing, path: str) -> None:
    query = signing.addresses.sign(PATH, PARAMETERS, signing.key(), DAY_S)
    assert signing.addresses.opened(path, query, METER) is None


def test_a_repeated_parameter_makes_an_address_invalid(signing: Signing) -> None:
    query = signing.addresses.sign(PATH, PARAMETERS, signing.key(), DAY_S)
    for more in ("&range=7d", "&sig=x", "&exp=9999999999"):
        assert signing.addresses.opened(PATH, query + more, METER) is None


def test_an_address_expires_to_the_second(signing: Signing) -> None:
    signing.clock.at_s = round(signing.clock.at_s)
    query = signing.addresses.sign(PATH, PARAMETERS, signing.key(), 60)
    signing.clock.at_s += 59.999
    assert signing.addresses.opened(PATH, query, METER) is not None
    signing.clock.at_s += 0.001
    assert signing.addresses.opened(PATH, query, METER) is None


def test_another_secret_cannot_open_an_address(signing: Signing) -> None:
    query = signing.addresses.sign(PATH, PARAMETERS, signing.key(), DAY_S)
    other = Settings.from_env({"WEIR_SECRET_KEY": SECRET + "!"})
    stranger = SignedAddresses(signing.world.store, other, now_ms=signing.clock.ms)
    assert stranger.opened(PATH, query, METER) is None


def test_revoking_a_key_ends_its_addresses_at_once(signing: Signing) -> None:
    key_id = signing.key()
    query = signing.addresses.sign(PATH, PARAMETERS, key_id, DAY_S)
    assert signing.addresses.opened(PATH, query, METER) is not None
    signing.world.store.revoke_key(key_id, signing.clock.ms())
    assert signing.addresses.opened(PATH, query, METER) is None


def test_an_expired_key_ends_its_addresses(signing: Signing) -> None:
    key_id = signing.key(expires_ms=signing.clock.ms() + 10_000)
    query = signing.addresses.sign(PATH, PARAMETERS, key_id, DAY_S)
    assert signing.addresses.opened(PATH, query, METER) is not None
    signing.clock.at_s += 10
    assert signing.addresses.opened(PATH, query, METER) is None


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
def test_an_address_follows_the_present_access_of_its_key(
    signing: Signing, grant: Grant, organization: str, opens: bool
) -> None:
    query = signing.addresses.sign(PATH, PARAMETERS, signing.key(grant, organization), DAY_S)
    seen = signing.sees(signing.addresses.opened(PATH, query, METER))
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
def test_an_address_of_the_wall_shows_all_devices_of_its_key(
    signing: Signing, grant: Grant, sees: set[str]
) -> None:
    query = signing.addresses.sign("/export/fleet.png", [], signing.key(grant), DAY_S)
    assert signing.sees(signing.addresses.opened("/export/fleet.png", query, None)) == sees


def test_only_reading_keys_can_sign(signing: Signing) -> None:
    secret, key_id = signing.world.new_key(EVERYTHING)
    assert signing.addresses.signer({"service-api-key": secret}) == key_id
    sending, _ = signing.world.new_key(EVERYTHING, ingest=True)
    for headers in (
        {"service-api-key": sending},
        {"service-api-key": "00000000-0000-4000-8000-000000000000"},
        {"Authorization": "Bearer x"},
        {},
    ):
        assert signing.addresses.signer(headers) is None


def test_the_same_address_gives_the_same_principal(signing: Signing) -> None:
    """So replies cached for the principal are used again."""
    query = signing.addresses.sign(PATH, PARAMETERS, signing.key(), DAY_S)
    tokens = {signing.addresses.opened(PATH, query, METER) for _ in range(3)}
    assert len(tokens) == 1
