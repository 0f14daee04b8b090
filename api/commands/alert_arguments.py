"""Shared by the commands of alerts and of billing: the author of a change, lengths of time, and
errors by option."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from api.commands.arguments import ORG, by_option, everything, organization
from api.commands.arguments import author as user
from api.commands.command import Group
from api.commands.store_access import opened
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
    """Reports problems of fields by the options that were typed."""
    try:
        with by_option(_OPTIONS):
            yield
    except BadRequest:
        raise
    except ServiceError as error:
        raise UserError(error.detail) from None


@contextmanager
def changing(organization_id: str) -> Generator[tuple[Store, Author]]:
    """Yields the store and the author of a change, with `by_field`."""
    with opened() as store, by_field():
        yield store, author(store, organization_id)


def add_delete(group: Group, noun: str, does: str, function: str) -> None:
    """Adds the command that deletes one object by its id. ``function``: ``module:name`` of the
    function in `api.insight` that deletes it, imported when the command runs."""

    def delete(organization_id: str, **given: str) -> object:
        module, _, name = function.partition(":")
        (id,) = given.values()
        with changing(organization_id) as (store, author):
            getattr(import_module(f"api.insight.{module}"), name)(store, author, id)
        return {"deleted": id}

    delete.__doc__ = does
    group.command("delete")(click.argument(f"{noun}_id")(ORG(delete)))
