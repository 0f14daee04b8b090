"""Assembles the OpenAPI 3.0.3 document from the operations and the models of their queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel

from api.catalog import BACKEND_VERSION, INTERFACE_VERSION, KEY_HEADER
from api.errors import PROBLEM_TYPE, STATUS_ERRORS
from api.openapi.components import COMPONENTS, STRING, Schema, ref

JSON_TYPE: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint in the document.

    ``query`` is the model that validates its query. ``of_device`` puts a device identifier into the
    path; ``public`` needs no credential. ``named``: what else the ``id`` in the path names.
    ``named_in_query``: a query may name something that doesn't exist. ``body`` is the body of a
    POST, or of ``verb``; ``status`` is that of success.
    """

    id: str
    path: str
    tag: str
    summary: str
    answer: Schema
    query: type[BaseModel]
    description: str = ""
    of_device: bool = False
    public: bool = False
    named: str = ""
    named_in_query: bool = False
    body: Schema | None = None
    verb: Literal["", "patch", "put", "delete"] = ""
    status: int = 200

    @property
    def method(self) -> str:
        return self.verb or ("get" if self.body is None else "post")

    @property
    def statuses(self) -> tuple[int, ...]:
        """Returns the statuses of its possible errors."""
        guarded = () if self.public else (401, 403, 429)
        missing = (404,) if self.of_device or self.named or self.named_in_query else ()
        changing = () if self.body is None else (409,)
        return tuple(sorted((400, 406, *guarded, *missing, *changing, 500, 503)))


@dataclass(frozen=True, slots=True)
class Info:
    """A document's description of itself, and the schemas that its responses refer to."""

    title: str
    description: str
    tags: Mapping[str, str]
    schemas: Mapping[str, Schema]
    document_tag: str


INTERFACE_INFO: Final = Info(
    title="Device flow data service",
    description="Read-only access to flow-monitoring devices and their readings."
    f" The flow endpoints are in beta and may change. Served by Weir {BACKEND_VERSION}.",
    tags={
        "management": "Organizations, devices and the service itself.",
        "flow": "Readings of devices (beta).",
    },
    schemas=COMPONENTS,
    document_tag="management",
)


def assemble(
    operations: Iterable[Operation], root: str = "", info: Info = INTERFACE_INFO
) -> dict[str, Any]:
    """Returns the whole document as a JSON object, for a site served below ``root``."""
    return {
        "openapi": "3.0.3",
        "info": {
            "title": info.title,
            "version": INTERFACE_VERSION,
            "description": info.description,
        },
        "servers": [{"url": root or "/"}],
        "security": [{name: []} for name in _SECURITY],
        "tags": [{"name": name, "description": about} for name, about in info.tags.items()],
        "paths": _paths(operations),
        "components": {
            "securitySchemes": _SECURITY,
            "schemas": info.schemas,
            "responses": {_problem_name(status): _problem(status) for status in STATUS_ERRORS},
            "headers": _HEADERS,
        },
    }


def _paths(operations: Iterable[Operation]) -> dict[str, Schema]:
    paths: dict[str, Schema] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation)
    return paths


_SECURITY: Final[dict[str, Schema]] = {
    "serviceApiKey": {
        "type": "apiKey",
        "in": "header",
        "name": KEY_HEADER,
        "description": "The key's UUID: never the Key ID, and only the part after the dot.",
    },
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
}
_UNCHANGED: Final = {"description": "Not changed since the ETag in If-None-Match."}
_HEADERS: Final[dict[str, Schema]] = {
    "ETag": {"description": "A weak validator for If-None-Match.", "schema": STRING},
    "Request-Id": {"description": "The request's id, for support.", "schema": STRING},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
}


def _headers(*names: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _described(operation: Operation) -> Schema:
    described: Schema = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation), *query_parameters(operation.query)],
        "responses": {
            str(operation.status): {
                "description": "The response.",
                "headers": _headers(*(() if operation.body else ("ETag",)), "Request-Id"),
                "content": {JSON_TYPE: {"schema": operation.answer}},
            },
            **({} if operation.body else {"304": _UNCHANGED}),
            **{
                str(status): {"$ref": f"#/components/responses/{_problem_name(status)}"}
                for status in operation.statuses
            },
        },
    }
    if operation.body is not None:
        described["requestBody"] = {"content": {JSON_TYPE: {"schema": operation.body}}}
    if operation.description:
        described["description"] = operation.description
    if operation.public:
        described["security"] = []
    return described


def _path_parameters(operation: Operation) -> list[Schema]:
    if not (operation.of_device or operation.named):
        return []
    about = operation.named or (
        "A device's UUID; or, of an active device, its serial number or network identifier."
    )
    schema: Schema = {"type": "string", "minLength": 1}
    return [{"name": "id", "in": "path", "required": True, "description": about, "schema": schema}]


def query_parameters(query: type[BaseModel]) -> list[Schema]:
    """Returns the parameters that the model validates, as the document lists them."""
    described = query.model_json_schema()
    required: list[str] = described.get("required", [])
    properties: dict[str, Schema] = described.get("properties", {})
    return [_parameter(name, name in required, schema) for name, schema in properties.items()]


def _parameter(name: str, required: bool, described: Schema) -> Schema:
    schema = dict(described)
    about = schema.pop("description", "")
    repeated = {"style": "form", "explode": True} if schema["type"] == "array" else {}
    return {
        "name": name,
        "in": "query",
        "required": required,
        "description": about,
        **repeated,
        "schema": schema,
    }


def _problem_name(status: int) -> str:
    return STATUS_ERRORS[status].__name__


def _problem(status: int) -> Schema:
    extra = ("Retry-After",) if status in (429, 503) else ()
    return {
        "description": STATUS_ERRORS[status].title,
        "headers": _headers("Request-Id", *extra),
        "content": {PROBLEM_TYPE: {"schema": ref("Problem")}},
    }
