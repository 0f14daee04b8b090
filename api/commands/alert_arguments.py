"""What the commands of alerts share: lengths of time, who acts, and errors by option."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from api.commands.arguments import author as user
from api.commands.arguments import by_option, everything, organization
from api.errors import BadRequest, ServiceError, UserError
from api.store.base import Scope, Store
from api.timez import now_ms

if TYPE_CHECKING:
    from api.insight.alerts.management import Author

_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_OPTIONS: Final = {
    "kinds": "kind", "costPerDay": "cost", "states": "state", "duration": "for",
    "devices": "device", "groups": "group", "reminder": "remind", "receivers": "receiver",
    "until": "for", "limit": "above/--below",
}  # fmt: skip


def length_ms(text: str, option: str) -> int:
    match = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if match is None:
        raise UserError(f"{option} must be a length such as 90s, 10m, 24h or 7d")
    return int(match[1]) * _UNITS_MS[match[2]]


def scope_of(store: Store, organization_id: str) -> Scope:
    return everything(organization(store, organization_id).id)


def author(store: Store, organization_id: str) -> Author:
    from api.insight.alerts.management import Author

    return Author(user(), scope_of(store, organization_id), now_ms())


@contextmanager
def by_field() -> Generator[None]:
    """Problems of fields, by the options that were typed."""
    try:
        with by_option(_OPTIONS):
            yield
    except BadRequest:
        raise
    except ServiceError as error:
        raise UserError(error.detail) from None
