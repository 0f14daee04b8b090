"""What an endpoint is: its place in the document, and the function that answers a call."""

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
    """One request, after its credential and its query were found good. ``identifier`` is the
    device's in the path; ``columns`` asks for the columnar answer where there is one, of these
    metrics. ``root`` is the path below which the site stands, or "". ``principal`` is None where
    the route is public, ``web`` where there are no embeds."""

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
    """What to answer: an object that JSON can hold, and the media type to call it."""

    body: Any
    media_type: str = JSON_TYPE


@dataclass(frozen=True, slots=True)
class Route:
    """``cacheable``: the same for everyone, so that anybody may keep it for a while. ``role``: the
    least that may ask."""

    operation: Operation
    answer: Callable[[Call[Any]], Reply]
    cacheable: bool = False
    role: Role = Role.VIEWER


@dataclass(frozen=True, slots=True)
class ActionCall(Generic[B]):
    """One request that changes something, after its credential and its body were found good.
    ``store`` takes writes; ``by`` names the credential, and is no secret."""

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
    """A route that changes something. ``role``: the least that may. ``body_bytes``: what is read of
    a body."""

    operation: Operation
    answer: Callable[[ActionCall[Any]], Reply]
    body: type[Body]
    role: Role = Role.OPERATOR
    body_bytes: int = 64 * 1024
