"""Organizations, devices and the version."""

from __future__ import annotations

from api.catalog import BACKEND_VERSION, PATH_PREFIX
from api.domain.devices import list_devices
from api.openapi import Operation, array, ref
from api.params import DeviceListQuery, Query
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import device_object, organization_object
from api.store.base import DeviceQuery


def organizations_mine(call: Call[Query]) -> Reply:
    organization = call.store.organization(call.scope.organization_id)
    return Reply([organization_object(organization)] if organization else [])


def version(call: Call[Query]) -> Reply:
    return Reply({"version": BACKEND_VERSION})


def devices(call: Call[DeviceListQuery]) -> Reply:
    params = call.query
    query = DeviceQuery(
        active=params.active,
        serial_number=params.serial_number,
        network_unique_identifier=params.network_unique_identifier,
        order_by=params.order_by,
        descending=params.descending,
        limit=params.limit,
        offset=params.offset,
    )
    page = list_devices(call.store, call.scope, query, counted=params.pagination)
    objects = [device_object(device) for device in page.devices]
    return Reply({"data": objects, "total": page.total} if params.pagination else objects)


MANAGEMENT_ROUTES = (
    Route(
        Operation(
            id="listMyOrganizations",
            path=f"{PATH_PREFIX}/organizations/mine",
            tag="management",
            summary="The organizations that the credential is scoped to",
            answer=array(ref("Organization")),
            query=Query,
        ),
        organizations_mine,
    ),
    Route(
        Operation(
            id="getVersion",
            path=f"{PATH_PREFIX}/version",
            tag="management",
            summary="The version of the backend",
            answer=ref("VersionResponse"),
            query=Query,
            public=True,
        ),
        version,
        cacheable=True,
    ),
    Route(
        Operation(
            id="listDevices",
            path=f"{PATH_PREFIX}/device",
            tag="management",
            summary="The devices that the credential may see",
            description="An array of Device, or with pagination=true an object with data and"
            " total. Devices outside the credential's scope are left out.",
            answer={"oneOf": [array(ref("Device")), ref("PaginatedDeviceResponse")]},
            query=DeviceListQuery,
        ),
        devices,
    ),
)
