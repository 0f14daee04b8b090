"""Bearer tokens: JWTs signed with the local secret, or by one external issuer.

The issuer in the token selects the verifier. The verifier's algorithm and keys are configuration,
never taken from the token. Claims: ``org`` (an organization's id); ``devices`` (UUIDs) and
``groups`` (names), both absent for all of its devices; ``scope``, which must contain ``weir:read``
(and ``weir:embed`` to create and revoke embeds, ``weir:operate`` or ``weir:administer`` for these
roles).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

import jwt
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from api import timez
from api.auth.keyset import KeySet
from api.auth.principal import BEARER, Principal, unauthorized
from api.errors import Forbidden, Unauthorized
from api.roles import Role
from api.settings import LOCAL_ISSUER, Settings
from api.store.base import Grant, Scope

LOCAL_AUDIENCE: Final = "weir"
LOCAL_ALGORITHM: Final = "HS256"
READ: Final = "weir:read"
EMBED: Final = "weir:embed"
ROLES: Final = {Role.OPERATOR: "weir:operate", Role.ADMINISTRATOR: "weir:administer"}
LEEWAY_S: Final = 30
MAX_LENGTH: Final = 8192
REQUIRED: Final = ("exp", "iat", "iss", "aud", "sub")
# Header fields that carry a key, or that must be understood: none of them is supported.
_REFUSED_HEADERS: Final = ("crit", "jku", "jwk", "x5c", "x5u")


@dataclass(frozen=True, slots=True)
class Token:
    """The principal of a verified token, until ``expires_ms`` (leeway included)."""

    principal: Principal
    expires_ms: int


def storable(text: str) -> str:
    """Refuses texts that JSON can hold but databases and UTF-8 can't: with NUL or half of a
    surrogate pair."""
    if "\0" in text:
        raise ValueError("names must not contain NUL")
    text.encode()  # UnicodeEncodeError is a ValueError
    return text


Name = Annotated[str, AfterValidator(storable)]


class Claims(BaseModel):
    """The claims of a token that Weir uses."""

    model_config = ConfigDict(strict=True)

    iss: str
    sub: Name
    exp: float = Field(le=timez.LAST_INSTANT_MS // 1000 - LEEWAY_S)
    org: Name
    scope: str = ""
    devices: list[str] | None = None
    groups: list[Name] | None = None


@dataclass(frozen=True, slots=True)
class _Verifier:
    audience: str
    algorithm: str
    key: Callable[[str | None], Any]


def issue_token(
    settings: Settings,
    organization_id: str,
    devices: Sequence[str] | None,
    ttl_s: int,
    *,
    groups: Sequence[str] | None = None,
    subject: str = "issued-here",
    may_embed: bool = False,
    role: Role = Role.VIEWER,
) -> str:
    """Returns a token of the local issuer for all of an organization's devices, or for these
    devices (UUIDs) and groups."""
    now_s = timez.now_ms() // 1000
    words = [READ, *([EMBED] if may_embed else ()), *([ROLES[role]] if role in ROLES else ())]
    claims: dict[str, Any] = {
        "iss": LOCAL_ISSUER,
        "aud": LOCAL_AUDIENCE,
        "sub": subject,
        "iat": now_s,
        "exp": now_s + ttl_s,
        "jti": secrets.token_hex(8),
        "org": organization_id,
        "scope": " ".join(words),
    }
    if devices is not None:
        claims["devices"] = list(devices)
    if groups is not None:
        claims["groups"] = list(groups)
    return jwt.encode(claims, settings.secret, algorithm=LOCAL_ALGORITHM)


class TokenVerifier:
    """Verifies tokens of the issuers in the settings."""

    def __init__(self, settings: Settings) -> None:
        secret = settings.secret
        self._verifiers = {
            LOCAL_ISSUER: _Verifier(LOCAL_AUDIENCE, LOCAL_ALGORITHM, lambda kid: secret)
        }
        if settings.jwt_issuer:
            keys = KeySet(settings.jwt_jwks, settings.jwt_algorithm)
            self._verifiers[settings.jwt_issuer] = _Verifier(
                settings.jwt_audience, settings.jwt_algorithm, keys.key
            )

    def verify(self, token: str) -> Token:
        """Raises Unauthorized for an invalid token, Forbidden if its scope is too small,
        Unavailable if the issuer's keys can't be fetched."""
        claims = self._claims(token)
        words = claims.scope.split()
        if READ not in words:
            raise Forbidden(
                f"The token's scope lacks {READ}.",
                challenges=(f'{BEARER}, error="insufficient_scope", scope="{READ}"',),
            )
        scope = _scope(claims)
        expires_ms = round((claims.exp + LEEWAY_S) * 1000)
        role = _role(words)
        principal = Principal(
            _identity(claims, scope, role), "token", scope, may_embed=EMBED in words, role=role
        )
        return Token(principal, expires_ms)

    def _claims(self, token: str) -> Claims:
        if len(token) > MAX_LENGTH:
            raise _invalid()
        try:
            issuer = jwt.decode(token, options={"verify_signature": False}).get("iss")
            verifier = self._verifiers.get(issuer) if isinstance(issuer, str) else None
            header = jwt.get_unverified_header(token)
            if verifier is None or any(name in header for name in _REFUSED_HEADERS):
                raise _invalid()
            key = verifier.key(header.get("kid"))
            if key is None:
                raise _invalid()
            claims = jwt.decode(
                token,
                key,
                algorithms=[verifier.algorithm],
                audience=verifier.audience,
                issuer=issuer,
                leeway=LEEWAY_S,
                options={"require": list(REQUIRED)},
            )
            return Claims.model_validate(claims)
        except (jwt.PyJWTError, ValidationError):
            raise _invalid() from None


def _invalid() -> Unauthorized:
    return unauthorized("The bearer token is not valid.", bearer_error=True)


def _scope(claims: Claims) -> Scope:
    if claims.devices is None and claims.groups is None:
        return Scope(claims.org, Grant(everything=True))
    try:
        devices = frozenset(str(UUID(device)) for device in claims.devices or ())
    except ValueError:
        raise _invalid() from None
    return Scope(claims.org, Grant(groups=frozenset(claims.groups or ()), devices=devices))


def _role(words: Sequence[str]) -> Role:
    """Returns the greatest role that the token's scope names."""
    return next((role for role in reversed(Role) if ROLES.get(role) in words), Role.VIEWER)


def _identity(claims: Claims, scope: Scope, role: Role) -> str:
    """Returns an id: the same for every token of one subject with one scope, so that a renewed
    token reuses cached responses; different as soon as scope or role differ."""
    grant = scope.grant
    seen = (
        claims.iss, claims.sub, scope.organization_id,
        grant.everything, sorted(grant.groups), sorted(grant.devices),
        *([role.value] if role is not Role.VIEWER else ()),
    )  # fmt: skip
    return "token-" + hashlib.sha256(repr(seen).encode()).hexdigest()[:32]
