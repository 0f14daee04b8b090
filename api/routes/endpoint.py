"""The definition of an endpoint: its place in the document, and the function that handles a
call."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from api.auth import Principal
from api.catalog import Metric
from api.openapi import JSON_TYPE, Operation
from api.params import Body, Query
from api.roles import Role
from api.settings import Settings
from api.store.base import Scope, Store
from api.store.web.base import WebStore

Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class Call(Generic[Q]):
    """One request, after its credential and its query were checked.

    ``identifier`` is the device's in the path. ``columns`` requests the columnar response, where
    there is one, with these metrics. ``root`` is the path below which the site is served, or "".
    ``principal`` is None for public routes; ``web`` is None without embeds.
    """

    store: Store
    scope: Scope
    query: Q
    identifier: str = ""
    columns: Collection[Metric] | None = None
    root: str = ""
    principal: Principal | None = None
    web: WebStore | None = None
    settings: Settings | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: an object for JSON, and its media type."""

    body: Any
    media_type: str = JSON_TYPE


@dataclass(frozen=True, slots=True)
class Route:
    """``cacheable``: the same for everyone, so that anyone may cache it for a while. ``role``: the
    lowest role that may call it."""

    operation: Operation
    answer: Callable[[Call[Any]], Reply]
    cacheable: bool = False
    role: Role = Role.VIEWER


@dataclass(frozen=True, slots=True)
class ActionCall(Generic[B]):
    """One request that changes something, after its credential and its body were checked. ``store``
    is writable; ``by`` names the credential, and is no secret."""

    store: Store
    principal: Principal
    body: B
    identifier: str
    now_ms: int
    settings: Settings | None = None

    @property
    def scope(self) -> Scope:
        return self.principal.scope

    @property
    def by(self) -> str:
        return self.principal.id


@dataclass(frozen=True, slots=True)
class Action:
    """A route that changes something. ``role``: the lowest role that may call it. ``body_bytes``:
    largest body."""

    operation: Operation
    answer: Callable[[ActionCall[Any]], Reply]
    body: type[Body]
    role: Role = Role.OPERATOR
    body_bytes: int = 64 * 1024
