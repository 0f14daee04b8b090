"""The classes of commands and groups. A command returns data, which is printed as a table or as
JSON; an error becomes one line and exit status 1.

What takes long to import (numpy, database drivers, the web server) is imported inside the commands
that need it, so that the others respond at once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import click
from flask.cli import AppGroup
from flask.helpers import get_debug_flag

from api.errors import (
    WeirError,
)
from api.settings import unknown_variables
from api.timez import stamp

_FORMAT: Final = "weir-format"


_OTHER_NAME: Final = "weir"


def warn(message: str) -> None:
    click.echo(f"Warning: {_line(message)}", err=True)


def when(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else stamp(instant_ms)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer that also decides the exit status."""

    data: object
    exit_code: int


def _remember_format(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    context.meta[_FORMAT] = value


def json_wanted() -> bool:
    """Whether the running command was asked for JSON."""
    return bool(click.get_current_context().meta.get(_FORMAT))


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
            if not ctx.params.get("while_parent"):  # whose parent has printed it
                for variable in unknown_variables(os.environ):
                    warn(f"unknown setting {variable}")
            result = super().invoke(ctx)
        outcome = result if isinstance(result, Outcome) else Outcome(result, 0)
        if outcome.data is not None:
            as_json = ctx.meta.get(_FORMAT)
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
