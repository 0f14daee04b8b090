"""The `weir` command: Weir's commands, which `flask` has too, by section, and none of Flask's
own."""

from __future__ import annotations

import gc
from typing import Any, Final

import click
from click.shell_completion import get_completion_class
from flask import Flask
from flask.cli import ScriptInfo

from weir import prepare

PROGRAM: Final = "weir"
SECTIONS: Final = {
    "Serving": ("serve", "demo", "writer", "web-worker", "mqtt"),
    "The store": ("db", "backup", "restore", "rollups"),
    "Organizations, devices, credentials": (
        "orgs",
        "devices",
        "groups",
        "keys",
        "tokens",
        "sign-in",
        "embeds",
    ),
    "Readings, images, reports": ("readings", "registers", "images", "report", "reports"),
    "Findings and alerts": ("insight", "alerts"),
    "Money": ("tariffs", "budgets"),
    "Notes, maintenance, corrections": ("notes", "maintenance", "corrections", "audit"),
}
OTHERS: Final = "More"
_COMPLETE: Final = "_WEIR_COMPLETE"


class Sections(click.Group):
    """The commands of the app and of Weir itself; the help lists them by section."""

    def __init__(self, app: Flask, **more: Any) -> None:
        super().__init__(PROGRAM, **more)
        self.app = app

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self.app.cli.list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        return own or self.app.cli.get_command(ctx, cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        from api.commands.command import check_name

        check_name(self, ctx, args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from api.commands.command import help_rows

        every = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        placed = {name for names in SECTIONS.values() for name in names}
        rest = tuple(name for name in every if name not in placed)
        for title, names in (SECTIONS | {OTHERS: rest}).items():
            rows = help_rows((name, every[name]) for name in names if name in every)
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def command_line() -> click.Group:
    """Returns every command of Weir, without those of Flask. Doesn't read settings yet."""
    prepare()
    import app
    from api.catalog import BACKEND_VERSION

    flask_app = app.create_app()
    group = Sections(
        flask_app,
        context_settings={"obj": ScriptInfo(create_app=lambda: flask_app)},
        help="Dashboard and data service for fleets of flow meters. `weir demo` shows it.",
    )
    group.add_command(completion)
    return click.version_option(BACKEND_VERSION, prog_name="Weir", message="%(prog)s %(version)s")(
        group
    )


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands in bash, zsh or fish.

    In ~/.bashrc: eval "$(weir completion bash)"
    """
    completer = get_completion_class(shell)
    assert completer is not None  # click supports all three
    click.echo(completer(context.find_root().command, {}, PROGRAM, _COMPLETE).source())


def main() -> None:
    gc.disable()  # no garbage comes of imports
    group = command_line()
    gc.enable()
    group(prog_name=PROGRAM)
