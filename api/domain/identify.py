"""Resolves a device identifier within a scope.

Unknown, of another organization, outside the grant, or inactive and not named by UUID: all give the
same "not found", so that a response never reveals whether a device exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.errors import NotFound
from api.store.base import Device, Directory, Scope

NO_SUCH_DEVICE: Final = "Device not found, or you don't have access."


def storable(text: str) -> bool:
    """Whether every store can hold the text. Databases refuse NUL, and UTF-8 has no encoding for
    half of a surrogate pair, which JSON may contain."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def identify(directory: Directory, scope: Scope, identifier: str) -> Device:
    """Returns the device of the identifier. Raises NotFound if the scope has none."""
    device = directory.resolve(scope, [identifier])[0] if storable(identifier) else None
    if device is None:
        raise NotFound(NO_SUCH_DEVICE)
    return device


def identify_each(directory: Directory, scope: Scope, identifiers: Sequence[str]) -> list[Device]:
    """Returns the visible devices in the requested order, each once, at its first position."""
    valid = [identifier for identifier in identifiers if storable(identifier)]
    device = directory.resolve(scope, valid) if valid else []
    return list({device.key: device for device in device if device is not None}.values())
