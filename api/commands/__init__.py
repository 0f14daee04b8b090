"""Weir's command line: groups of commands that `flask` finds on the app."""

from __future__ import annotations

from flask import Flask

from api.commands import (
    alerts,
    audit,
    backup,
    db,
    demo,
    devices,
    embeds,
    images,
    insight,
    keys,
    mqtt,
    orgs,
    readings,
    serve,
    sign_in,
    web_worker,
    writer,
)
from api.commands.annotations import corrections, maintenance, notes
from api.commands.store_access import Load, remember

GROUPS = (
    db.group,
    db.rollups,
    orgs.group,
    devices.group,
    keys.group,
    keys.tokens,
    sign_in.group,
    embeds.group,
    images.group,
    readings.group,
    insight.group,
    alerts.group,
    notes,
    maintenance,
    corrections,
    audit.group,
    mqtt.group,
    demo.group,
    serve.serve,
    web_worker.web_worker,
    writer.writer,
    backup.backup,
    backup.restore,
)


def register(app: Flask, load: Load) -> None:
    """Give ``app`` every command. ``load`` reads the settings; each command calls it, so that a
    ConfigurationError is its one line and not a stack trace."""
    remember(app, load)
    for group in GROUPS:
        app.cli.add_command(group)
