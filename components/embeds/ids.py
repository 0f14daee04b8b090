"""The page's parts, by name."""

from __future__ import annotations

from enum import StrEnum


class Ids(StrEnum):
    GO = "embeds-go"
    CHOSEN = "embeds-chosen"
    LIST = "embeds-list"
    PANEL = "embeds-panel"
    REVOKE = "embeds-revoke"
    REVOKE_SAID = "embeds-revoke-said"
    SNIPPET = "embeds-snippet"
    MAKE = "embeds-make"
    MAKE_SAID = "embeds-make-said"
    # The form's fields
    TITLE = "embed-title"
    VIEW = "embed-view"
    METRIC = "embed-metric"
    METRIC_FIELD = "embed-metric-field"
    DEVICES = "embed-devices"
    DEVICES_FOUND = "embed-devices-found"
    SEARCH = "embed-search"
    WINDOW = "embed-window"
    FIXED = "embed-fixed"
    FIRST = "embed-first"
    LAST = "embed-last"
    ZONE = "embed-zone"
    UNITS = "embed-units"
    THEME = "embed-theme"
    CONTROLS = "embed-controls"
    ORIGINS = "embed-origins"
    ENDS = "embed-ends"
    ENDS_ON = "embed-ends-on"
    ENDS_ON_FIELD = "embed-ends-on-field"


# A problem is said at one of these, named as the service names its fields.
FIELDS = ("title", "view", "devices", "metric", "window", "zone", "units", "theme", "controls",
          "origins", "expires")  # fmt: skip


def problem_id(field: str) -> str:
    return f"embed-{field}-problem"
