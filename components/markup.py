"""Attributes that Dash's components take only by name, such as aria-label."""

from __future__ import annotations

from typing import Any


def labelled(name: str) -> dict[str, Any]:
    """The name that a screen reader gives an element."""
    return {"aria-label": name}


def attributes(**values: str) -> dict[str, Any]:
    """``aria_hidden="true"`` as ``aria-hidden``, ``data_set="zone"`` as ``data-set``."""
    return {name.replace("_", "-"): value for name, value in values.items()}
