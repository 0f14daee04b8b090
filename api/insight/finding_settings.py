"""The settings of findings: which ones are in effect for a device, a group or the organization,
where they are set, and how they are changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from api.errors import BadRequest, ParameterProblem
from api.insight.finding_inputs import Layer, layered, layers_of
from api.insight.findings import KINDS, Kind
from api.insight.findings.model import Setting
from api.insight.findings.registry import check
from api.store.base import AuditEntry, Device, FindingLevel, FindingSetting, Scope, Store

DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Target:
    """What the settings apply to: a device, a group, or (neither) the organization."""

    device: Device | None = None
    group: str | None = None

    @property
    def level(self) -> FindingLevel:
        if self.device is not None:
            return "device"
        return "organization" if self.group is None else "group"

    @property
    def name(self) -> str:
        """Returns the store's name of it: the device's UUID, the group's name, "" for the
        organization."""
        return self.device.id if self.device is not None else self.group or ""


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting in effect. ``origin`` is "default", "config" or a level, ``of`` the group's name.
    ``own``: set at the target itself; ``inherited``: the value without that."""

    kind: Kind
    setting: Setting
    value: float
    origin: str
    of: str
    own: bool
    inherited: float


def effective(store: Store, scope: Scope, target: Target) -> list[Effective]:
    """Returns every setting of every kind, in the order of the registry."""
    stored = layered(store.finding_settings(scope.organization_id))
    if target.device is not None:
        groups = store.groups_by_device([target.device.key]).get(target.device.key, [])
        layers = layers_of(stored, groups, target.device.id, target.device.config)
    else:
        layers = layers_of(stored, () if target.group is None else (target.group,))
    return [
        _effective(kind, setting, layers, target) for kind in KINDS for setting in kind.all_settings
    ]


def _effective(kind: Kind, setting: Setting, layers: Sequence[Layer], target: Target) -> Effective:
    value, origin, of = setting.default, DEFAULT, ""
    inherited, own = value, False
    for layer in layers:
        given = layer.settings.get(kind.name, {}).get(setting.name)
        own = (layer.origin, layer.target) == (target.level, target.name)
        if given is not None:
            value, origin = given, layer.origin
            of = layer.target if origin == "group" else ""
        if not own:
            inherited = value
    return Effective(kind, setting, value, origin, of, own and origin == target.level, inherited)


def checked(kind: Kind, given: Mapping[str, object]) -> dict[str, float | None]:
    """Checks settings from a request: numbers, booleans for those that are on or off, None to
    inherit. Raises BadRequest naming each bad one."""
    by_name = {setting.name: setting for setting in kind.all_settings}
    values: dict[str, float | None] = {}
    problems: list[ParameterProblem] = []
    for name, value in given.items():
        setting = by_name.get(name)
        if setting is None:
            words = f"{kind.name} has no setting {name[:80]!r}; it has {', '.join(by_name)}"
            problems.append(ParameterProblem("set", words))
            continue
        try:
            values[name] = None if value is None else check(setting, str(value))
        except ValueError as error:
            problems.append(ParameterProblem(name, str(error).removeprefix(f"{name} ")))
    if not given:
        problems.append(ParameterProblem("set", "must name a setting"))
    if problems:
        raise BadRequest("Some settings are invalid; errors lists them.", errors=tuple(problems))
    return values


def change(
    store: Store,
    organization_id: str,
    target: Target,
    kind: Kind,
    values: Mapping[str, float | None],
    *,
    by: str,
    at_ms: int,
) -> None:
    """Sets some, and clears others (None). Devices concerned become due; the audit log records the
    change."""
    level, name = target.level, target.name
    stored = {
        each.name: each.value
        for each in store.finding_settings(organization_id)
        if (each.level, each.target, each.kind) == (level, name, kind.name)
    }
    subject = f"{kind.name} of {level} {name}".strip()

    def audit(action: str, names: Iterable[str], after: Mapping[str, float] | None) -> AuditEntry:
        before = {each: stored.get(each) for each in names}
        return AuditEntry(at_ms, organization_id, by, "settings", action, subject, before, after)

    def row(name_: str, value: float) -> FindingSetting:
        return FindingSetting(level, name, kind.name, name_, value)

    new = {each: value for each, value in values.items() if value is not None}
    if new:
        settings = [row(*each) for each in new.items()]
        store.save_finding_settings(organization_id, settings, [audit("set", new, new)])
    gone = [each for each, value in values.items() if value is None and each in stored]
    if gone:
        dropped = [row(each, 0.0) for each in gone]
        store.drop_finding_settings(organization_id, dropped, [audit("unset", gone, None)])
