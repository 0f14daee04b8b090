"""Tokens of embeds: JWTs signed with Weir's own secret, for a frame on another site.

A token is valid only for the embed that it names. Its audience differs from other tokens', so that
no other endpoint accepts it, and the embed endpoints accept nothing else. What an embed may see is
looked up, never read from its token, so a token may live as long as its embed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any, Final

import jwt
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from api import timez
from api.auth.authenticator import bearer
from api.auth.principal import Principal, Recent, no_credential, unauthorized
from api.auth.tokens import LEEWAY_S, LOCAL_ALGORITHM, MAX_LENGTH, storable
from api.catalog import CREDENTIAL_CACHE_S
from api.domain.embeds import ENDED, grant_now, reason_of, scope_of, state_of
from api.errors import Unauthorized
from api.settings import LOCAL_ISSUER, Settings
from api.store.base import Directory, Grant, Scope
from api.store.web.base import Embed, Embeds

AUDIENCE: Final = "embed"
FAR_S: Final = 7_258_118_400  # 2200: expiry of the link token of an embed without an end
TOKEN_EXPIRED: Final = "token-expired"
_REQUIRED: Final = ("exp", "iat", "iss", "aud", "sub", "jti")
_CACHED: Final = 4096


def issue_embed_token(
    settings: Settings, embed: Embed, now_ms: int, ttl_s: int | None = None
) -> tuple[str, int | None]:
    """Returns a token of that embed and when it expires (epoch ms): after ``ttl_s``, but never
    later than the embed. Without ``ttl_s`` it expires with the embed; None where that has no
    end."""
    now_s, ends_ms = now_ms // 1000, embed.definition.expires_ms
    ends_s = FAR_S if ends_ms is None else ends_ms // 1000
    expires_s = ends_s if ttl_s is None else min(ends_s, now_s + ttl_s)
    claims: dict[str, Any] = {
        "iss": LOCAL_ISSUER,
        "aud": AUDIENCE,
        "sub": embed.id,
        "iat": now_s,
        "exp": expires_s,
        "jti": secrets.token_hex(8),
    }
    token = jwt.encode(claims, settings.secret, algorithm=LOCAL_ALGORITHM)
    return token, None if expires_s == FAR_S else expires_s * 1000


class _Claims(BaseModel):
    model_config = ConfigDict(strict=True)

    sub: Annotated[str, AfterValidator(storable)]
    exp: float


@dataclass(frozen=True, slots=True)
class _CachedEmbed:
    """A cached embed. ``principal`` is None where its creator is no longer active."""

    embed: Embed
    granted: Grant | None
    principal: Principal | None


class EmbedAuthenticator:
    """``principal(api_key, authorization)`` like `Authenticator`, but only for embeds' tokens.

    For a token that is no longer valid, the error's ``reason`` says why: expired, revoked or
    stopped for the embed, token-expired for the token itself. Other tokens get a plain 401.
    """

    def __init__(
        self,
        directory: Directory,
        embeds: Embeds,
        settings: Settings,
        *,
        clock_s: Callable[[], float] = monotonic,
        now_ms: Callable[[], int] = timez.now_ms,
    ) -> None:
        self._directory, self._embeds, self._secret = directory, embeds, settings.secret
        self._clock_s, self._now_ms = clock_s, now_ms
        self._cache = Recent[str, _CachedEmbed](CREDENTIAL_CACHE_S, _CACHED, clock_s)

    def principal(self, api_key: str | None, authorization: str | None) -> Principal:
        """Raises Unauthorized where the credential isn't valid."""
        token = bearer(authorization)
        if api_key is not None or token is None:
            raise no_credential()
        claims, now_ms = self._claims(token), self._now_ms()
        cached = self._cache.get(claims.sub) or self._find(claims.sub, now_ms)
        if cached is None:
            raise _invalid()
        state = state_of(cached.embed, cached.granted, now_ms)
        if state in ENDED:
            raise _ended(ENDED[state], reason_of(state))
        if claims.exp * 1000 <= now_ms:
            raise _ended("This embed's token has expired.", TOKEN_EXPIRED)
        assert cached.principal is not None  # an active embed has one
        return cached.principal

    def was_valid(self, api_key: str | None, authorization: str | None) -> bool:
        """Always False: these requests have no rate limit here, since many viewers share one
        principal."""
        return False

    def _find(self, embed_id: str, now_ms: int) -> _CachedEmbed | None:
        read_at_s = self._clock_s()
        embed = self._embeds.embed(embed_id)
        if embed is None:
            return None
        granted = grant_now(self._directory, embed, now_ms)
        principal = None
        if granted is not None:
            scope = scope_of(self._directory, embed, granted)
            principal = Principal(
                _identity(embed, scope),
                "embed",
                scope,
                embed_id=embed.id,
                sees_notes=embed.definition.notes,
            )
        return self._cache.put(embed_id, _CachedEmbed(embed, granted, principal), at_s=read_at_s)

    def _claims(self, token: str) -> _Claims:
        """Returns the claims of a token issued by Weir, expired or not. Raises Unauthorized for any
        other."""
        try:
            if len(token) > MAX_LENGTH:
                raise _invalid()
            claims = jwt.decode(
                token,
                self._secret,
                algorithms=[LOCAL_ALGORITHM],
                audience=AUDIENCE,
                issuer=LOCAL_ISSUER,
                leeway=LEEWAY_S,
                options={"require": list(_REQUIRED), "verify_exp": False},
            )
            return _Claims.model_validate(claims)
        except (jwt.PyJWTError, ValidationError):
            raise _invalid() from None


def _identity(embed: Embed, scope: Scope) -> str:
    """Returns an id that changes when the embed's devices change."""
    devices = ",".join(sorted(scope.grant.devices))
    return f"{embed.id}-{hashlib.sha256(devices.encode()).hexdigest()[:16]}"


def _invalid() -> Unauthorized:
    return unauthorized("The bearer token is not valid.", bearer_error=True)


def _ended(detail: str, reason: str) -> Unauthorized:
    return unauthorized(detail, bearer_error=True, reason=reason)
