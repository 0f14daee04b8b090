"""Credentials: who is asking, and which devices they may see."""

from api.auth.authenticator import Authenticator, bearer, key_digest
from api.auth.principal import API_KEY, BEARER, Principal
from api.auth.tokens import READ, issue_token

__all__ = [
    "API_KEY",
    "BEARER",
    "READ",
    "Authenticator",
    "Principal",
    "bearer",
    "issue_token",
    "key_digest",
]
