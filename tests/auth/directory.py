"""A fake directory of keys that counts its look-ups, and a clock that tests move by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast
from uuid import uuid4

from api.auth import Authenticator, key_digest
from api.settings import Settings
from api.store.base import Directory, Grant, Key, Organization
from tests.world import SETTINGS


@dataclass
class Clock:
    """A manual clock. `seconds` is for lifetimes, `ms` (epoch) for expiry; both move together."""

    at_s: float = 1_000_000.0

    def seconds(self) -> float:
        return self.at_s

    def ms(self) -> int:
        return round(self.at_s * 1000)


@dataclass
class FakeDirectory:
    """The part of the store that credentials need. Counts look-ups of keys and of organizations."""

    keys: dict[bytes, Key] = field(default_factory=dict[bytes, Key])
    organizations: dict[str, Organization] = field(default_factory=dict[str, Organization])
    requests: int = 0
    organizations_asked: int = 0

    def key(self, digest: bytes) -> Key | None:
        self.requests += 1
        return self.keys.get(digest)

    def organization(self, organization_id: str) -> Organization | None:
        self.organizations_asked += 1
        return self.organizations.get(organization_id)

    def new_key(self, organization: str = "org", **details: Any) -> str:
        secret = str(uuid4())
        key = Key("key_1", organization, "n", key_digest(secret), Grant(everything=True), 0)
        self.keys[key.digest] = replace(key, **details)
        self.organizations.setdefault(
            organization, Organization(organization, "Org", active=True, created_ms=0, updated_ms=0)
        )
        return secret

    def change(self, secret: str, **details: Any) -> None:
        digest = key_digest(secret)
        self.keys[digest] = replace(self.keys[digest], **details)

    def close(self, organization: str) -> None:
        self.organizations[organization] = replace(self.organizations[organization], active=False)


def authenticator(
    directory: FakeDirectory, clock: Clock, settings: Settings = SETTINGS, *, ingest: bool = False
) -> Authenticator:
    return Authenticator(
        cast(Directory, directory),
        settings,
        ingest=ingest,
        clock_s=clock.seconds,
        now_ms=clock.ms,
    )
