"""The classes of commands and groups. A command returns data, which is printed as a table or as
JSON; an error becomes one line and exit status 1.

Slow imports (settings, numpy, database drivers, the web server) are inside the commands that need
them, so that the others respond at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from select import poll
from typing import Any, Final, cast

import click
from flask.cli import AppGroup
from flask.helpers import get_debug_flag

from api.errors import (
    WeirError,
)
from api.suggestions import nearest
from api.timez import stamp

_FORMAT: Final = "weir-format"
LONGEST_HELP: Final = 200  # characters of a command in a list of commands


def note(message: str) -> None:
    click.echo(_line(message), err=True)


def warn(message: str) -> None:
    click.echo(f"Warning: {_line(message)}", err=True)


def when(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else stamp(instant_ms)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result that also sets the exit status."""

    data: object
    exit_code: int


def _remember_format(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    context.meta[_FORMAT] = value


def json_wanted() -> bool:
    """Whether --json was given to the running command."""
    return bool(click.get_current_context().meta.get(_FORMAT))


class Command(click.Command):
    """A command whose return value is its result: an object, or a list of objects."""

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
            if not ctx.params.get("while_parent"):  # its parent has printed it
                from api.settings import unknown_variables

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

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        with _one_line():
            check_name(self, ctx, args)
            return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl(help_rows(commands))

    def invoke(self, ctx: click.Context) -> Any:
        with _one_line():
            return super().invoke(ctx)


def help_rows(commands: Iterable[tuple[str, click.Command | None]]) -> list[tuple[str, str]]:
    """Returns the names of commands, and the first sentence of each command's help as a whole."""
    return [(n, c.get_short_help_str(LONGEST_HELP)) for n, c in commands if c and not c.hidden]


def check_name(group: click.Group, context: click.Context, arguments: list[str]) -> None:
    """Fails for an unknown command that resembles another one, and names that one."""
    if not arguments or group.get_command(context, arguments[0]) is not None:
        return
    if meant := nearest(arguments[0], group.list_commands(context)):
        context.fail(f"No such command '{arguments[0]}': did you mean {meant}?")


@contextmanager
def _one_line() -> Generator[None]:
    """Prints every error as one line with exit status 1; with `flask --debug` the whole
    traceback."""
    try:
        yield
    except click.UsageError as error:
        raise click.ClickException(_line(error.format_message())) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except WeirError as error:
        raise click.ClickException(_line(str(error))) from None
    except Exception as error:
        if get_debug_flag() or _reader_is_gone(error):  # click then ends quietly, with status 1
            raise
        message = f"{type(error).__name__}: {error}"
        raise click.ClickException(f"unexpected error: {_line(message)}") from error


def _reader_is_gone(error: Exception) -> bool:
    """Whether writing failed since the program that reads standard output has ended, as `head`
    does; a connection to another server may break too."""
    if not isinstance(error, BrokenPipeError):
        return False
    output = poll()
    output.register(sys.stdout, 0)
    return bool(output.poll(0))


def _line(text: str) -> str:
    return " ".join(text.split())


def table(data: object) -> str:
    """Formats an object as names and values, a list of objects as a table with a heading."""
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
    return _line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
