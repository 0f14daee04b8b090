"""Authentication: from a credential to its principal and the devices that it may see."""

from api.auth.authenticator import Authenticator, bearer, key_digest
from api.auth.embeds import EmbedAuthenticator, issue_embed_token
from api.auth.principal import API_KEY, BEARER, Principal
from api.auth.roles import require
from api.auth.tokens import EMBED, READ, issue_token

__all__ = [
    "API_KEY",
    "BEARER",
    "EMBED",
    "READ",
    "Authenticator",
    "EmbedAuthenticator",
    "Principal",
    "bearer",
    "issue_embed_token",
    "issue_token",
    "key_digest",
    "require",
]
