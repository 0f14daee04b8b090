"""What every command shares: settings, a store, its answer as table or JSON, one line on errors.

A command returns data, and this prints it. It raises errors of ours, and this says them. What
takes long to import (numpy, database drivers, the web server) is imported inside the commands
that need it, so that the others answer at once.
"""

from __future__ import annotations

import getpass
import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar, cast

import click
from flask import Flask, current_app
from flask.cli import AppGroup
from flask.helpers import get_debug_flag

from api.errors import (
    BadRequest,
    ConfigurationError,
    StoreMissing,
    Unavailable,
    UserError,
    WeirError,
)
from api.ingest.file_lock import writing
from api.settings import Settings, unknown_variables
from api.store.base import AuditEntry, Device, Grant, Organization, Scope, Store
from api.store.web.base import WebStore
from api.timez import now_ms, parse_instant, stamp

Load = Callable[[], Settings]
_EXTENSION = "weir-settings"
_OTHER_NAME: Final = "weir"


# --- What commands ask for -----------------------------------------------------------------------


def remember(app: Flask, load: Load) -> None:
    app.extensions[_EXTENSION] = load


def settings() -> Settings:
    """Raises ConfigurationError at the first bad value."""
    return current_app.extensions[_EXTENSION]()


@contextmanager
def opened(*, read_only: bool = False) -> Generator[Store]:
    """The store of the settings, checked to be there and of this schema, closed at the end."""
    from api.store.open import open_store

    url = settings().database
    with nullcontext() if read_only else writing(url):
        store = open_store(url, read_only=read_only)
        try:
            store.check()
            yield store
        finally:
            store.close()


@contextmanager
def opened_web(*, read_only: bool = False) -> Generator[WebStore]:
    """The same of what the web writes."""
    from api.store.open import open_web_store

    url = settings().database
    with nullcontext() if read_only else writing(url):
        web = open_web_store(url, read_only=read_only)
        try:
            web.check()
            yield web
        finally:
            web.close()


def ensure_store(url: str) -> None:
    """Create the embedded store, and the web's beside it, where there is none yet; a server's
    database is left alone."""
    from api.store.open import open_store, open_web_store

    if not url.startswith("sqlite:"):
        return
    stores: tuple[_Upgradable, ...] = (open_store(url), open_web_store(url))
    for each in stores:
        with _connected(each) as store:
            try:
                store.check()
            except StoreMissing:
                store.upgrade()


def upgrade_store(url: str) -> tuple[int, int]:
    """Create the store or bring its schema up to date: (version before, version now). The web's
    schema beside it has numbers of its own."""
    from api.store.open import open_store, open_web_store

    with writing(url), _connected(open_store(url)) as store:
        versions = store.upgrade()
    with _connected(open_web_store(url)) as web:
        web.upgrade()
    return versions


class _Upgradable(Protocol):
    def check(self) -> None: ...
    def upgrade(self) -> tuple[int, int]: ...
    def close(self) -> None: ...


S = TypeVar("S", bound=_Upgradable)


@contextmanager
def _connected(store: S) -> Generator[S]:
    """The store whether it is there or not. ConfigurationError where its place can't be used."""
    try:
        yield store
    except StoreMissing:
        raise
    except Unavailable as error:
        raise ConfigurationError(f"WEIR_DATABASE can't be used: {error.detail}") from error
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise ConfigurationError(f"WEIR_DATABASE can't be used: {reason}") from None
    finally:
        store.close()


def organization(store: Store, organization_id: str) -> Organization:
    row = store.organization(organization_id)
    if row is None:
        raise UserError(f"--org {organization_id}: no such organization; see flask orgs list")
    return row


def everything(organization_id: str) -> Scope:
    """The eyes of whoever may use the command line."""
    return Scope(organization_id, Grant(everything=True))


def device_ids(store: Store, organization_id: str, identifiers: Sequence[str]) -> list[str]:
    """The UUIDs of devices named by any identifier; UserError for one that isn't there."""
    devices = store.resolve(everything(organization_id), identifiers)
    for identifier, device in zip(identifiers, devices, strict=True):
        if device is None:
            raise UserError(f"--device {identifier}: not found in this organization")
    return [device.id for device in devices if device is not None]


@contextmanager
def by_option(options: Mapping[str, str], otherwise: str = "") -> Generator[None]:
    """What the service says of a parameter, said of the option that was typed: ``options`` by the
    parameter's name, without dashes; by default the name itself. ``otherwise`` begins what is said
    of no parameter."""
    try:
        yield
    except BadRequest as error:
        named = (f"--{options.get(e.parameter, e.parameter)} {e.detail}" for e in error.errors)
        raise UserError("; ".join(named) or otherwise + error.detail) from None


def instant(option: str, text: str) -> int:
    """Epoch ms of an option's date-time. UserError names the option."""
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UserError(f"{option} {error}") from None


def author() -> str:
    """Who types: the user of the operating system, for the audit log."""
    try:
        return f"command:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run as a user without a name
        return f"command:{os.getuid()}"


def audited(
    organization_id: str,
    kind: str,
    action: str,
    subject: str,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
) -> list[AuditEntry]:
    """What the audit log says of a command."""
    at_ms = now_ms()
    return [
        AuditEntry(at_ms, organization_id, author(), kind, action, subject, before, after, reason)
    ]


def one_device(store: Store, organization_id: str, identifier: str) -> Device:
    (found,) = store.resolve(everything(organization_id), [identifier])
    if found is None:
        raise UserError(f"--device {identifier}: not found in this organization")
    return found


def reevaluate(store: Store, organization_id: str, keys: Sequence[int]) -> None:
    """Bring status and findings of devices up to date whose readings were changed by hand; a writer
    that runs does so too."""
    from api.insight.evaluator import Evaluator
    from api.insight.projection import Projection

    Projection(store).rebuild(keys, now_ms())
    for key in keys:
        Evaluator(store).up_to_date(organization_id, key)


def warn(message: str) -> None:
    click.echo(f"Warning: {_line(message)}", err=True)


def when(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else stamp(instant_ms)


# --- Commands ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer that also decides the exit status."""

    data: object
    exit_code: int


def _remember_format(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    context.meta[_EXTENSION] = value


def json_wanted() -> bool:
    """Whether the running command was asked for JSON."""
    return bool(click.get_current_context().meta.get(_EXTENSION))


class Command(click.Command):
    """A command whose return value is its answer: an object, or a list of objects."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(
            click.Option(
                ["--json"],
                is_flag=True,
                expose_value=False,
                help="Print JSON.",
                callback=_remember_format,
            )
        )

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> None:
        with _one_line():
            if not ctx.params.get("while_parent"):  # whose parent has said so
                for variable in unknown_variables(os.environ):
                    warn(f"unknown setting {variable}")
            result = super().invoke(ctx)
        outcome = result if isinstance(result, Outcome) else Outcome(result, 0)
        if outcome.data is not None:
            as_json = ctx.meta.get(_EXTENSION)
            click.echo(json.dumps(outcome.data) if as_json else table(outcome.data))
        ctx.exit(outcome.exit_code)


class Group(AppGroup):
    """A group of such commands."""

    command_class = Command

    def resolve_command(self, *args: Any, **kwargs: Any) -> Any:
        with _one_line():
            return super().resolve_command(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Generator[None]:
    """Every error as one line and exit status 1; with `flask --debug` the whole story."""
    try:
        yield
    except click.UsageError as error:
        raise click.ClickException(_line(error.format_message())) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except WeirError as error:
        raise click.ClickException(_line(str(error))) from None
    except Exception as error:
        if get_debug_flag():
            raise
        message = f"{type(error).__name__}: {error}"
        raise click.ClickException(f"unexpected error: {_line(message)}") from error


def _line(text: str) -> str:
    """On one line, with commands named by the program that was typed: `weir` has the same ones."""
    context = click.get_current_context(silent=True)
    program = context.find_root().info_name if context else None
    named = re.sub(r"\bflask(?= [a-z])", program, text) if program == _OTHER_NAME else text
    return " ".join(named.split())


# --- Tables --------------------------------------------------------------------------------------


def table(data: object) -> str:
    """An object as names and values, a list of objects as a table with a heading."""
    if isinstance(data, Mapping):
        rows = [(str(name), _cell(v)) for name, v in cast("Mapping[str, object]", data).items()]
        return _aligned(rows)
    listed = cast("list[Mapping[str, object]]", data)
    if not listed:
        return "(none)"
    return _aligned([tuple(listed[0]), *(tuple(map(_cell, row.values())) for row in listed)])


def _aligned(rows: Iterable[tuple[str, ...]]) -> str:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return _line(value if isinstance(value, str) else json.dumps(value))
