"""Bearer tokens: what makes one valid, and each way in which one isn't."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from api.auth import issue_token
from api.auth.tokens import MAX_LENGTH
from api.catalog import CREDENTIAL_CACHE_S
from api.errors import Forbidden, ServiceError, Unauthorized
from api.roles import Role
from api.settings import Settings
from api.store.base import Grant
from tests.auth.directory import Clock, FakeDirectory, authenticator
from tests.world import SECRET, SETTINGS

DEVICE = "6a1279f0-d474-4d4d-8896-5d852b0ae3cf"


@pytest.fixture
def clock() -> Clock:
    return Clock(time.time())


@pytest.fixture
def directory() -> FakeDirectory:
    directory = FakeDirectory()
    directory.new_key("org")
    return directory


def now_s() -> int:
    return int(time.time())


def claims(**changes: Any) -> dict[str, Any]:
    """Valid claims with changes; None leaves a claim out."""
    now = now_s()
    good = {
        "iss": "weir", "aud": "weir", "sub": "someone", "iat": now, "exp": now + 60,
        "org": "org", "scope": "weir:read",
    }  # fmt: skip
    return {name: value for name, value in (good | changes).items() if value is not None}


def token(key: Any = SECRET, algorithm: str = "HS256", headers: Any = None, **changes: Any) -> str:
    return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)


def refused(directory: FakeDirectory, text: str, settings: Settings = SETTINGS) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        authenticator(directory, Clock(time.time()), settings).principal(None, f"Bearer {text}")
    return caught.value


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
def test_a_valid_token_stands_for_its_organization(
    directory: FakeDirectory, clock: Clock, scheme: str
) -> None:
    principal = authenticator(directory, clock).principal(None, f"{scheme} {token()}")
    assert principal.kind == "token"
    assert principal.scope.organization_id == "org"
    assert principal.scope.grant == Grant(everything=True)


@pytest.mark.parametrize(
    ("changes", "grant"),
    [
        ({"devices": [DEVICE]}, Grant(devices=frozenset({DEVICE}))),
        ({"devices": [DEVICE.upper()]}, Grant(devices=frozenset({DEVICE}))),
        ({"devices": []}, Grant()),
        ({"groups": ["a", "b"]}, Grant(groups=frozenset({"a", "b"}))),
        ({"groups": ["a"], "devices": [DEVICE]},
         Grant(groups=frozenset({"a"}), devices=frozenset({DEVICE}))),
        ({"scope": "openid weir:read x"}, Grant(everything=True)),
        ({"aud": ["other", "weir"]}, Grant(everything=True)),
    ],
)  # fmt: skip
def test_claims_give_a_grant(
    directory: FakeDirectory, clock: Clock, changes: dict[str, Any], grant: Grant
) -> None:
    principal = authenticator(directory, clock).principal(None, f"Bearer {token(**changes)}")
    assert principal.scope.grant == grant


@pytest.mark.parametrize(
    ("scope", "role"),
    [
        ("weir:read", Role.VIEWER),
        ("weir:read weir:embed", Role.VIEWER),
        ("weir:operate weir:read", Role.OPERATOR),
        ("weir:read weir:administer weir:operate", Role.ADMINISTRATOR),
        ("weir:read weir:administer2 viewer", Role.VIEWER),
    ],
)
def test_a_scope_gives_a_role(
    directory: FakeDirectory, clock: Clock, scope: str, role: Role
) -> None:
    gate = authenticator(directory, clock)
    principal = gate.principal(None, f"Bearer {token(scope=scope)}")
    assert principal.role is role
    plain = gate.principal(None, f"Bearer {token()}")
    assert (principal.id == plain.id) is (role is Role.VIEWER)


@pytest.mark.parametrize("role", list(Role))
def test_a_token_issued_here_has_the_role_it_was_issued_for(
    directory: FakeDirectory, clock: Clock, role: Role
) -> None:
    issued = issue_token(SETTINGS, "org", None, 60, role=role)
    assert authenticator(directory, clock).principal(None, f"Bearer {issued}").role is role


def test_a_token_issued_here_is_accepted_here(directory: FakeDirectory, clock: Clock) -> None:
    gate = authenticator(directory, clock)
    everything = gate.principal(None, f"Bearer {issue_token(SETTINGS, 'org', None, 60)}")
    assert everything.scope.grant == Grant(everything=True)
    one = gate.principal(None, f"Bearer {issue_token(SETTINGS, 'org', [DEVICE], 60)}")
    assert one.scope.grant == Grant(devices=frozenset({DEVICE}))
    assert one.id != everything.id


def _part(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _by_hand(header: dict[str, Any], payload: dict[str, Any], secret: bytes | None) -> str:
    """A token that no correct library would make."""
    text = f"{_part(json.dumps(header).encode())}.{_part(json.dumps(payload).encode())}"
    signature = b"" if secret is None else hmac.digest(secret, text.encode(), "sha256")
    return f"{text}.{_part(signature)}"


def _nested(depth: int) -> str:
    deep = _part(b"[" * depth)
    return f"{deep}.{deep}.x"


BAD_TOKENS: dict[str, Callable[[], str]] = {  # made when they are tested: some depend on the time
    "no token": lambda: "",
    "not a token": lambda: "abc",
    "two parts": lambda: "a.b",
    "three parts of nothing": lambda: "..",
    "not base64": lambda: "$.$.$",
    "a UUID": lambda: DEVICE,
    "two tokens": lambda: f"{token()},{token()}",
    "signed by another secret": lambda: token("another secret that is long enough"),
    "not signed": lambda: _by_hand({"alg": "none", "typ": "JWT"}, claims(), None),
    "another algorithm": lambda: token(algorithm="HS512", key=SECRET * 2),
    "the signature cut": lambda: token()[:-4],
    "too long": lambda: token(padding="x" * MAX_LENGTH),
    "deeply nested": lambda: _nested(5000),
    "expired": lambda: token(exp=now_s() - 31),
    "from the future": lambda: token(iat=now_s() + 300),
    "not yet": lambda: token(nbf=now_s() + 300),
    "no expiry": lambda: token(exp=None),
    "no issue time": lambda: token(iat=None),
    "no issuer": lambda: token(iss=None),
    "no audience": lambda: token(aud=None),
    "no subject": lambda: token(sub=None),
    "no organization": lambda: token(org=None),
    "an unknown issuer": lambda: token(iss="elsewhere"),
    "another audience": lambda: token(aud="elsewhere"),
    "an unknown organization": lambda: token(org="nowhere"),
    "an organization that isn't text": lambda: token(org=7),
    "an organization with a NUL": lambda: token(org="org\0"),
    "an organization that is half a character": lambda: token(org="\ud800"),
    "a subject that is half a character": lambda: token(sub="\ud800"),
    "a group that is half a character": lambda: token(groups=["\ud800"]),
    "an expiry beyond all calendars": lambda: _by_hand(
        {"alg": "HS256"}, claims(exp=1e308), SECRET.encode()
    ),
    "devices that aren't a list": lambda: token(devices=DEVICE),
    "devices that aren't UUIDs": lambda: token(devices=["M-1"]),
    "groups that aren't texts": lambda: token(groups=[1]),
    "an expiry in words": lambda: _by_hand({"alg": "HS256"}, claims(exp="soon"), SECRET.encode()),
    "an endless expiry": lambda: _by_hand(
        {"alg": "HS256"}, claims(exp=float("inf")), SECRET.encode()
    ),
    "a key that it brings along": lambda: token(headers={"jwk": {"kty": "oct", "k": "eA"}}),
    "a URL of keys": lambda: token(headers={"jku": "https://elsewhere.example/keys"}),
    "a URL of a certificate": lambda: token(headers={"x5u": "https://elsewhere.example/cert"}),
    "a certificate": lambda: token(headers={"x5c": ["MII"]}),
    "something critical": lambda: token(headers={"crit": ["exp"]}),
}


@pytest.mark.parametrize("made", BAD_TOKENS.values(), ids=BAD_TOKENS)
def test_an_invalid_token_is_refused_without_a_reason(
    directory: FakeDirectory, made: Callable[[], str]
) -> None:
    error = refused(directory, made())
    assert isinstance(error, Unauthorized)
    assert error.challenges == (
        'Bearer realm="weir", error="invalid_token"', 'ApiKey realm="weir"'
    )  # fmt: skip
    assert error.detail == "The bearer token is not valid."


@pytest.mark.parametrize("scope", ["", "weir", "weir:reading", "weir:write", None])
def test_too_little_scope_is_forbidden(directory: FakeDirectory, scope: str | None) -> None:
    error = refused(directory, token(scope=scope))
    assert isinstance(error, Forbidden)
    assert error.challenges == (
        'Bearer realm="weir", error="insufficient_scope", scope="weir:read"',
    )


def test_clocks_may_differ_by_half_a_minute(directory: FakeDirectory, clock: Clock) -> None:
    now = now_s()
    for text in (token(exp=now - 25), token(iat=now + 25), token(nbf=now + 25)):
        authenticator(directory, clock).principal(None, f"Bearer {text}")


def test_a_cached_token_is_verified_again_once_it_expires(
    directory: FakeDirectory, clock: Clock
) -> None:
    text = f"Bearer {token(exp=int(clock.at_s) - 27)}"  # valid for three more seconds
    gate = authenticator(directory, clock)
    for _ in range(3):
        gate.principal(None, text)
    assert directory.organizations_asked == 1
    clock.at_s += 3.5
    assert CREDENTIAL_CACHE_S > 3.5
    gate.principal(None, text)
    assert directory.organizations_asked == 2


def test_a_closed_organization_loses_its_tokens_within_seconds(
    directory: FakeDirectory, clock: Clock
) -> None:
    gate, text = authenticator(directory, clock), f"Bearer {token()}"
    gate.principal(None, text)
    directory.close("org")
    clock.at_s += CREDENTIAL_CACHE_S + 0.001
    with pytest.raises(Unauthorized):
        gate.principal(None, text)


def test_a_principal_s_id_follows_its_scope_not_its_token(
    directory: FakeDirectory, clock: Clock
) -> None:
    gate = authenticator(directory, clock)

    def identity(**changes: Any) -> str:
        return gate.principal(None, f"Bearer {token(**changes)}").id

    same = {identity(), identity(jti="x"), identity(exp=now_s() + 90)}
    others = {
        identity(sub="b"),
        identity(devices=[DEVICE]),
        identity(devices=[]),
        identity(groups=["a"]),
    }
    assert len(same) == 1
    assert len(others) == 4
    assert same.isdisjoint(others)


# --- An external issuer --------------------------------------------------------------------------

KEYS = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
}
STRANGERS = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
}


def jwk(algorithm: str, key: Any, kid: str | None = "k1", **changes: Any) -> dict[str, Any]:
    maker = jwt.algorithms.RSAAlgorithm if algorithm == "RS256" else jwt.algorithms.ECAlgorithm
    entry = json.loads(maker.to_jwk(key.public_key())) | ({"kid": kid} if kid else {}) | changes
    return {name: value for name, value in entry.items() if name != "key_ops"}


def external(tmp_path: Path, algorithm: str, *entries: dict[str, Any]) -> Settings:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": list(entries)}))
    return Settings.from_env(
        {
            "WEIR_SECRET_KEY": SECRET,
            "WEIR_JWT_ISSUER": "https://login.example",
            "WEIR_JWT_AUDIENCE": "meters",
            "WEIR_JWT_JWKS": str(path),
            "WEIR_JWT_ALGORITHM": algorithm,
        }
    )


def theirs(algorithm: str, key: Any = None, kid: str | None = "k1", **changes: Any) -> str:
    outer = {"iss": "https://login.example", "aud": "meters"} | changes
    headers = {"kid": kid} if kid else None
    return token(key or KEYS[algorithm], algorithm, headers, **outer)


@pytest.mark.parametrize("algorithm", KEYS)
@pytest.mark.parametrize("kid", ["k1", None])
def test_an_external_issuer_s_token_is_accepted(
    tmp_path: Path, directory: FakeDirectory, clock: Clock, algorithm: str, kid: str | None
) -> None:
    settings = external(tmp_path, algorithm, jwk(algorithm, KEYS[algorithm], kid))
    gate = authenticator(directory, clock, settings)
    assert gate.principal(None, f"Bearer {theirs(algorithm, kid=kid)}").kind == "token"
    assert gate.principal(None, f"Bearer {token()}").kind == "token"  # the local issuer's too


@pytest.mark.parametrize("algorithm", KEYS)
def test_an_external_issuer_s_token_must_meet_that_issuer_s_rules(
    tmp_path: Path, directory: FakeDirectory, algorithm: str
) -> None:
    settings = external(tmp_path, algorithm, jwk(algorithm, KEYS[algorithm]))
    other = "ES256" if algorithm == "RS256" else "RS256"
    pem = (
        KEYS[algorithm]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    in_their_name = claims(iss="https://login.example", aud="meters")
    bad = {
        "a stranger's key": theirs(algorithm, STRANGERS[algorithm]),
        "an unknown kid": theirs(algorithm, kid="k2"),
        "the local audience": theirs(algorithm, aud="weir"),
        "their key in our name": theirs(algorithm, iss="weir", aud="weir"),
        "our secret in their name": token(iss="https://login.example", aud="meters"),
        "another algorithm": theirs(other),
        "the public key as a secret": _by_hand({"alg": "HS256", "kid": "k1"}, in_their_name, pem),
        "expired": theirs(algorithm, exp=now_s() - 31),
    }
    for why, text in bad.items():
        assert isinstance(refused(directory, text, settings), Unauthorized), why
