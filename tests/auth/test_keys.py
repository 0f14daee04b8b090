"""Which texts are credentials, and how soon a key stops working."""

from __future__ import annotations

from uuid import uuid4

import pytest

from api import timez
from api.auth import issue_token
from api.catalog import CREDENTIAL_CACHE_S
from api.errors import Forbidden, ServiceError, Unauthorized
from tests.auth.directory import Clock, FakeDirectory, authenticator
from tests.world import SETTINGS

UUID = "6a1279f0-d474-4d4d-8896-5d852b0ae3cf"


@pytest.fixture
def directory() -> FakeDirectory:
    return FakeDirectory()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def refused(
    directory: FakeDirectory, api_key: str | None, bearer: str | None = None
) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        authenticator(directory, Clock()).principal(api_key, bearer)
    return caught.value


@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_a_key_works_in_any_letter_case(directory: FakeDirectory, clock: Clock, case) -> None:
    secret = directory.new_key()
    principal = authenticator(directory, clock).principal(case(secret), None)
    assert (principal.id, principal.kind) == ("key_1", "key")
    assert principal.scope.organization_id == "org"


@pytest.mark.parametrize(
    "text", ["key_", "key_3f9a", "KEY_3F9A", f"key_3f9a.{UUID}", f"any-id.{UUID}"]
)
def test_a_key_id_or_combined_value_is_forbidden_with_the_reason(
    directory: FakeDirectory, text: str
) -> None:
    error = refused(directory, text)
    assert isinstance(error, Forbidden)
    assert "only the part after the dot" in error.detail
    assert text not in str(error)
    assert directory.requests == 0


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "x", UUID[:-1], UUID + "0", UUID.replace("-", ""), f"{{{UUID}}}",
        f"urn:uuid:{UUID}",
        f" {UUID}", f"{UUID} ", f"{UUID},{UUID}", f"{UUID}, {UUID}", f"key_1,{UUID}",
        f".{UUID}", f"{UUID}.", f"a.b.{UUID}", f"Bearer {UUID}", UUID.replace("6", "٦"), "key 1",
    ],
)  # fmt: skip
def test_any_other_text_is_unauthorized_without_a_look_up(
    directory: FakeDirectory, text: str
) -> None:
    assert isinstance(refused(directory, text), Unauthorized)
    assert directory.requests == 0


def test_unknown_expired_and_revoked_keys_get_the_same_response(directory: FakeDirectory) -> None:
    now = Clock().ms()
    secrets = [
        str(uuid4()),
        directory.new_key(expires_ms=now),
        directory.new_key(revoked_ms=now),
        directory.new_key("gone"),
    ]
    directory.close("gone")
    errors = {repr(refused(directory, secret)) for secret in secrets}
    assert len(errors) == 1
    assert "Bearer realm" in errors.pop()


def test_a_valid_key_is_cached_for_a_while(directory: FakeDirectory, clock: Clock) -> None:
    secret, gate = directory.new_key(), authenticator(directory, clock)
    for _ in range(5):
        gate.principal(secret, None)
    assert directory.requests == 1
    clock.at_s += CREDENTIAL_CACHE_S + 0.001
    gate.principal(secret, None)
    assert directory.requests == 2


@pytest.mark.parametrize("loss", ["revoked", "organization closed", "gone"])
def test_a_revocation_takes_effect_within_seconds(
    directory: FakeDirectory, clock: Clock, loss: str
) -> None:
    secret, gate = directory.new_key(), authenticator(directory, clock)
    gate.principal(secret, None)
    if loss == "revoked":
        directory.change(secret, revoked_ms=clock.ms())
    elif loss == "gone":
        directory.keys.clear()
    else:
        directory.close("org")
    clock.at_s += CREDENTIAL_CACHE_S + 0.001
    with pytest.raises(Unauthorized):
        gate.principal(secret, None)
    assert CREDENTIAL_CACHE_S < 10


def test_expiry_takes_effect_at_once(directory: FakeDirectory, clock: Clock) -> None:
    secret = directory.new_key(expires_ms=clock.ms() + 1)
    gate = authenticator(directory, clock)
    gate.principal(secret, None)
    clock.at_s += 0.001
    with pytest.raises(Unauthorized):
        gate.principal(secret, None)


def test_a_new_key_works_at_once(directory: FakeDirectory, clock: Clock) -> None:
    gate, secret = authenticator(directory, clock), directory.new_key()
    key = directory.keys.popitem()[1]
    with pytest.raises(Unauthorized):
        gate.principal(secret, None)
    directory.keys[key.digest] = key
    assert gate.principal(secret, None).id == "key_1"


@pytest.mark.parametrize("api_key", ["", "x", UUID, "key_1"])
def test_the_key_header_decides_alone(directory: FakeDirectory, clock: Clock, api_key: str) -> None:
    directory.new_key()
    token = f"Bearer {issue_token(SETTINGS, 'org', None, 60)}"
    assert isinstance(refused(directory, api_key, token), Unauthorized | Forbidden)


@pytest.mark.parametrize(
    "authorization", [None, "", "Basic eDp5", "Bearer", "Token abc", "bearerx y"]
)
def test_a_request_without_a_credential_gets_a_challenge(
    directory: FakeDirectory, authorization: str | None
) -> None:
    error = refused(directory, None, authorization)
    assert isinstance(error, Unauthorized)
    expected = 'Bearer realm="weir"'
    if authorization == "Bearer":
        expected += ', error="invalid_token"'
    assert error.challenges == (expected, 'ApiKey realm="weir"')


def test_the_cache_of_valid_keys_is_bounded(directory: FakeDirectory, clock: Clock) -> None:
    gate = authenticator(directory, clock)
    secrets = [directory.new_key() for _ in range(4200)]
    for secret in secrets:
        gate.principal(secret, None)
    assert not gate.was_valid(secrets[0], None)
    assert gate.was_valid(secrets[-1], None)


# --- Reading and sending need different keys ------------------------------------------------------


@pytest.mark.parametrize("ingest", [False, True])
def test_a_key_works_only_for_its_purpose(
    directory: FakeDirectory, clock: Clock, ingest: bool
) -> None:
    mine, other = directory.new_key(ingest=ingest), directory.new_key(ingest=not ingest)
    door = authenticator(directory, clock, ingest=ingest)
    assert door.principal(mine, None).id == "key_1"
    for _ in range(2):  # the second time from the cache
        with pytest.raises(Forbidden, match=r"--ingest" if ingest else "only send readings"):
            door.principal(other, None)
    directory.change(other, revoked_ms=1)
    clock.at_s += CREDENTIAL_CACHE_S + 1
    with pytest.raises(Unauthorized):
        door.principal(other, None)


def test_no_bearer_token_sends_readings(directory: FakeDirectory, clock: Clock) -> None:
    directory.new_key()
    token = issue_token(SETTINGS, "org", None, 3600)
    door = authenticator(directory, Clock(timez.now_ms() / 1000), ingest=True)
    with pytest.raises(Forbidden, match="--ingest"):
        door.principal(None, f"Bearer {token}")
    with pytest.raises(Unauthorized):
        door.principal(None, "Bearer nonsense")
