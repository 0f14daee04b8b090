"""Weir's command line: the commands of `weir` and `flask`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click
from flask import Flask
from flask.cli import AppGroup

from api.commands.store_access import Load, remember

COMMANDS: Final[Mapping[str, str]] = {  # name → module and attribute
    "db": "db:group",
    "rollups": "db:rollups",
    "orgs": "orgs:group",
    "devices": "devices:group",
    "groups": "groups:group",
    "keys": "keys:group",
    "tokens": "keys:tokens",
    "sign-in": "sign_in:group",
    "embeds": "embeds:group",
    "images": "images:group",
    "readings": "readings:group",
    "registers": "registers:group",
    "insight": "insight:group",
    "alerts": "alerts:group",
    "tariffs": "billing:tariffs",
    "budgets": "billing:budgets",
    "reports": "billing:reports",
    "notes": "annotations:notes",
    "maintenance": "annotations:maintenance",
    "corrections": "annotations:corrections",
    "audit": "audit:group",
    "mqtt": "mqtt:group",
    "demo": "demo:group",
    "serve": "serve:serve",
    "web-worker": "web_worker:web_worker",
    "writer": "writer:writer",
    "backup": "backup:backup",
    "restore": "backup:restore",
}


class Commands(AppGroup):
    """Imports a command when it is called: importing all of them took half the time of a short
    command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, attribute = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(f"{__name__}.{module}"), attribute)
        return command


def register(app: Flask, load: Load) -> None:
    """Gives ``app`` every command. ``load`` reads the settings; each command calls it, so that a
    ConfigurationError becomes one line and not a stack trace."""
    remember(app, load)
    app.cli = Commands(app.name)
