"""The settings of findings of the organization, a group or a device, each with its origin."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify, storable
from api.errors import Forbidden, NotFound
from api.insight import finding_settings
from api.insight.finding_settings import Effective, Target
from api.openapi import Operation, ref
from api.params import Query
from api.params.finding_settings import FindingSettingsBody, FindingSettingsQuery
from api.roles import Role
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.store.base import Scope, Store

WHOLE: Final = "This credential sees only some devices, so it can't change settings of all."


def get_settings(call: Call[FindingSettingsQuery]) -> Reply:
    target = _target(call.store, call.scope, call.query.device, call.query.group)
    return Reply(_page(call.store, call.scope, target))


def change_settings(call: ActionCall[FindingSettingsBody]) -> Reply:
    body, scope = call.body, call.scope
    target = _target(call.store, scope, body.device, body.group)
    if target.level == "organization" and not scope.grant.everything:
        raise Forbidden(WHOLE)
    values = finding_settings.checked(body.kind, body.values)
    finding_settings.change(
        call.store, scope.organization_id, target, body.kind, values, by=call.by, at_ms=call.now_ms
    )
    return Reply(_page(call.store, scope, target))


def _target(store: Store, scope: Scope, device: str | None, group: str | None) -> Target:
    if device is not None:
        return Target(device=identify(store, scope, device))
    if group is not None:
        exists = storable(group) and any(each.name == group for each in store.groups(scope))
        if not exists:
            raise NotFound("Group not found, or you don't have access.")
    return Target(group=group)


def _page(store: Store, scope: Scope, target: Target) -> dict[str, Any]:
    rows = [_object(each) for each in finding_settings.effective(store, scope, target)]
    return {
        "count": len(rows),
        "limit": len(rows),
        "offset": 0,
        "level": target.level,
        "target": target.name or None,
        "data": rows,
    }


def _object(effective: Effective) -> dict[str, Any]:
    setting = effective.setting
    return {
        "kind": effective.kind.name,
        "key": setting.name,
        "label": setting.label,
        "unit": setting.unit,
        "flag": setting.flag,
        "value": effective.value,
        "origin": effective.origin,
        "of": effective.of or None,
        "own": effective.own,
        "inherited": effective.inherited,
        "least": setting.least,
        "most": setting.most,
    }


_PATH: Final = f"{INSIGHT_PREFIX}/settings"
FINDING_SETTINGS_ROUTES: Final = (
    Route(
        Operation(
            id="listFindingSettings",
            path=_PATH,
            tag="findings",
            summary="The settings of findings, each with its origin",
            description="Those of the organization; with device or group, those in effect there.",
            answer=ref("FindingSettings"),
            query=FindingSettingsQuery,
            named_in_query=True,
        ),
        get_settings,
    ),
)
FINDING_SETTINGS_ACTIONS: Final = (
    Action(
        Operation(
            id="changeFindingSettings",
            path=_PATH,
            verb="patch",
            named_in_query=True,
            tag="findings",
            summary="Sets or clears some settings of a kind",
            description="Findings of the devices concerned are evaluated again.",
            answer=ref("FindingSettings"),
            query=Query,
            body=ref("FindingSettingsBody"),
        ),
        change_settings,
        FindingSettingsBody,
        role=Role.ADMINISTRATOR,
    ),
)
