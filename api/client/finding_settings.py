"""The settings of findings as typed values, and the client's methods for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from api.catalog import INSIGHT_PREFIX
from api.client.fields import a_list, an_object, maybe_text, needed_number, text
from api.client.request_protocol import Requests

_PATH: Final = f"{INSIGHT_PREFIX}/settings"


@dataclass(frozen=True, slots=True)
class FindingSettingValue:
    """A setting of a kind, and its value in effect. ``origin``: "default", "organization", "group",
    "config" or "device"; ``of`` is the group's name. ``own``: set at the requested target itself;
    ``inherited``: the value without that. ``flag``: 1 is on, 0 is off."""

    kind: str
    key: str
    label: str
    unit: str
    flag: bool
    value: float
    origin: str
    of: str | None
    own: bool
    inherited: float
    least: float
    most: float


class FindingSettingMethods(Requests, Protocol):
    """The part of `Client` for settings."""

    def finding_settings(
        self, *, device: str | None = None, group: str | None = None
    ) -> tuple[FindingSettingValue, ...]:
        """Returns the settings in effect for a device or a group, or else for the organization."""
        params = {name: v for name, v in (("device", device), ("group", group)) if v is not None}
        return _settings(self._fetch(_PATH, params))

    def change_finding_settings(
        self,
        kind: str,
        values: Mapping[str, Any],
        *,
        device: str | None = None,
        group: str | None = None,
    ) -> tuple[FindingSettingValue, ...]:
        """Sets some settings of a kind; None clears one. Raises BadRequest naming each bad one."""
        body = {"kind": kind, "set": dict(values), "device": device, "group": group}
        return _settings(self._send("PATCH", _PATH, body))


def _settings(body: Any) -> tuple[FindingSettingValue, ...]:
    return tuple(map(_setting, a_list(an_object(body, "answer").get("data"), "data")))


def _setting(body: Any) -> FindingSettingValue:
    fields = an_object(body, "setting")
    return FindingSettingValue(
        kind=text(fields, "kind"),
        key=text(fields, "key"),
        label=text(fields, "label"),
        unit=text(fields, "unit"),
        flag=fields.get("flag") is True,
        value=needed_number(fields, "value"),
        origin=text(fields, "origin"),
        of=maybe_text(fields, "of"),
        own=fields.get("own") is True,
        inherited=needed_number(fields, "inherited"),
        least=needed_number(fields, "least"),
        most=needed_number(fields, "most"),
    )
