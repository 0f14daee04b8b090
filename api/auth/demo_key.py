"""The demo fleet's key, for users of this machine, while the store holds no other fleet."""

from __future__ import annotations

from contextlib import suppress

from api.errors import WeirError
from api.settings import Settings
from api.store.base import Directory


class DemoKey:
    """Call it for the key; it returns "" where the store holds another organization than the demo
    fleet's. While the store can't be reached, it returns the last result."""

    def __init__(self, directory: Directory, settings: Settings, demo_organization: str) -> None:
        self._directory, self._settings, self._demo = directory, settings, demo_organization
        self._alone = False

    def __call__(self) -> str:
        with suppress(WeirError):
            self._alone = [one.id for one in self._directory.organizations()] == [self._demo]
        return self._settings.demo_key() if self._alone else ""
