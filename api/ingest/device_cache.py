"""Caches an organization's devices for a few seconds for live sources."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from api.ingest.decode import Devices
from api.store.base import DeviceQuery, Directory, Grant, Scope

CACHE_S: Final = 5.0
_MOST_UNKNOWN: Final = 1_000  # most organizations without devices, such as invented names
_MOST_SCOPES: Final = 2_000  # most keys for some devices only
_ANYONE: Final = DeviceQuery(active=None)


class DeviceCache:
    """An organization's devices by identifier, and the UUIDs of their keys.

    Thread-safe. Raises what the store raises.
    """

    def __init__(self, directory: Directory, clock_s: Callable[[], float] = monotonic) -> None:
        self._directory, self._clock_s = directory, clock_s
        self._devices: dict[str, tuple[float, Devices]] = {}
        self._unknown: dict[str, tuple[float, Devices]] = {}
        self._scoped: dict[Scope, tuple[float, Devices]] = {}
        self._ids: dict[int, str] = {}
        self._organizations: tuple[float, frozenset[str]] | None = None
        self._lock = Lock()

    def devices(
        self, organization_id: str, *, within_s: float = CACHE_S, scope: Scope | None = None
    ) -> Devices:
        """Returns every device that the organization's readings may name, at most ``within_s`` old.
        A source that receives an unknown device may retry with a smaller ``within_s``. ``scope``:
        that of a sender in the organization; devices outside it are unknown."""
        with self._lock:
            now_s = self._clock_s()
            if scope is not None and not scope.grant.everything:
                return self._within(scope, now_s, within_s)
            cached = self._devices.get(organization_id) or self._unknown.get(organization_id)
            if cached is None or now_s - cached[0] > within_s:
                cached = (now_s, Devices(self._directory.ingest_keys(organization_id)))
                self._store(organization_id, cached)
            return cached[1]

    def has_organization(self, organization_id: str) -> bool:
        """Whether the organization existed at most `CACHE_S` ago, also without devices."""
        with self._lock:
            now_s = self._clock_s()
            if self._organizations is None or now_s - self._organizations[0] > CACHE_S:
                ids = frozenset(each.id for each in self._directory.organizations())
                self._organizations = (now_s, ids)
            return organization_id in self._organizations[1]

    def _within(self, scope: Scope, now_s: float, within_s: float) -> Devices:
        cached = self._scoped.get(scope)
        if cached is None or now_s - cached[0] > within_s:
            allowed = {device.key for device in self._directory.devices(scope, _ANYONE)}
            keys = self._directory.ingest_keys(scope.organization_id)
            named = {name: key for name, key in keys.items() if key in allowed}
            if len(self._scoped) >= _MOST_SCOPES:
                self._scoped.clear()
            cached = self._scoped[scope] = (now_s, Devices(named))
        return cached[1]

    def _store(self, organization_id: str, entry: tuple[float, Devices]) -> None:
        if entry[1]:
            self._devices[organization_id] = entry
            self._unknown.pop(organization_id, None)
            return
        self._devices.pop(organization_id, None)
        if len(self._unknown) >= _MOST_UNKNOWN:
            self._unknown.clear()
        self._unknown[organization_id] = entry

    def device_id(self, organization_id: str, key: int) -> str | None:
        """Returns the UUID of one of the organization's devices, active or not."""
        with self._lock:
            if key not in self._ids:  # a device's key and UUID never change
                scope = Scope(organization_id, Grant(everything=True))
                devices = self._directory.devices(scope, _ANYONE)
                self._ids.update((device.key, device.id) for device in devices)
            return self._ids.get(key)
