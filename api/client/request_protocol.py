"""The methods by which each part of `Client` sends its requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from api.client.transport import Params


class Requests(Protocol):
    """`Client` provides both methods; they raise the errors of `api.errors`."""

    def _fetch(self, path: str, params: Params, accept: str = "application/json") -> Any: ...

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> Any: ...
