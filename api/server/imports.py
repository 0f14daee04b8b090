"""``/insight/v1/imports``: files of readings, uploaded in pieces, previewed and imported in the
background. For administrators with a credential for all devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

import orjson
from flask import Flask, Response, request

from api.auth import Principal, require
from api.catalog import IMPORT_PIECE_BYTES, IMPORTS_PATH
from api.errors import BadRequest, Forbidden
from api.openapi import JSON_TYPE
from api.params import Body, read_body
from api.roles import Role
from api.server.credential_gate import Gate

WHOLE: Final = "Importing files needs a credential for all of the organization's devices."
LARGEST_BODY: Final = 64 * 1024


class Imports(Protocol):
    """Implemented by `api.ingest.imports.service`. Each raises ServiceError; the first argument is
    the organization, the second an import's id."""

    def create(self, organization_id: str, by: str, name: str, size: int) -> dict[str, Any]: ...
    def append(
        self, organization_id: str, id: str, offset: int, content: bytes
    ) -> dict[str, Any]: ...
    def change(
        self, organization_id: str, id: str, settings: Mapping[str, str]
    ) -> dict[str, Any]: ...
    def begin(self, organization_id: str, id: str) -> dict[str, Any]: ...
    def pause(self, organization_id: str, id: str) -> dict[str, Any]: ...
    def undo(self, organization_id: str, id: str) -> dict[str, Any]: ...
    def remove(self, organization_id: str, id: str) -> dict[str, Any]: ...
    def recent(self, organization_id: str) -> dict[str, Any]: ...
    def describe(self, organization_id: str, id: str) -> dict[str, Any]: ...
    def refused(self, organization_id: str, id: str) -> str: ...


class NewImport(Body):
    name: str
    size: int


class ChangedImport(Body):
    settings: dict[str, str]


def add_import_routes(app: Flask, imports: Imports, gate: Gate) -> None:
    views, one = _Views(imports, gate), f"{IMPORTS_PATH}/<id>"
    for rule, method, name, view in (
        (IMPORTS_PATH, "GET", "recent", views.recent),
        (IMPORTS_PATH, "POST", "create", views.create),
        (one, "GET", "describe", views.act(imports.describe)),
        (one, "PATCH", "change", views.change),
        (one, "DELETE", "remove", views.act(imports.remove)),
        (f"{one}/content", "PUT", "append", views.append),
        (f"{one}/refused", "GET", "refused", views.refused),
        (f"{one}/begin", "POST", "begin", views.act(imports.begin)),
        (f"{one}/pause", "POST", "pause", views.act(imports.pause)),
        (f"{one}/undo", "POST", "undo", views.act(imports.undo)),
    ):
        app.add_url_rule(rule, f"imports-{name}", view, methods=[method])


class _Views:
    """Each view checks the credential first."""

    def __init__(self, imports: Imports, gate: Gate) -> None:
        self._imports, self._gate = imports, gate

    def _enter(self) -> Principal:
        principal = self._gate.enter(request.environ)
        require(principal, Role.ADMINISTRATOR)
        if not principal.scope.grant.everything:
            raise Forbidden(WHOLE)
        return principal

    def _organization(self) -> str:
        return self._enter().scope.organization_id

    def recent(self) -> Response:
        return _json(self._imports.recent(self._organization()))

    def create(self) -> Response:
        principal = self._enter()
        new = _body(NewImport)
        made = self._imports.create(
            principal.scope.organization_id, principal.id, new.name, new.size
        )
        return _json(made, 201)

    def append(self, id: str) -> Response:
        organization = self._organization()
        offset = request.args.get("offset", "")
        if not (offset.isascii() and offset.isdigit() and len(offset) < 14):
            raise BadRequest("offset must be a whole number of bytes.")
        request.max_content_length = IMPORT_PIECE_BYTES
        content = request.get_data(cache=False)
        return _json(self._imports.append(organization, id, int(offset), content))

    def change(self, id: str) -> Response:
        organization = self._organization()
        return _json(self._imports.change(organization, id, _body(ChangedImport).settings))

    def refused(self, id: str) -> Response:
        text = self._imports.refused(self._organization(), id)
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="refused-{id}.csv"',
        }
        return Response(text, content_type="text/csv; charset=utf-8", headers=headers)

    def act(self, deed: Callable[[str, str], dict[str, Any]]) -> Callable[[str], Response]:
        return lambda id: _json(deed(self._organization(), id))


B = TypeVar("B", bound=Body)


def _body(model: type[B]) -> B:
    request.max_content_length = LARGEST_BODY
    return read_body(model, request.get_data())


def _json(body: dict[str, Any], status: int = 200) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(orjson.dumps(body), status, content_type=JSON_TYPE, headers=headers)
