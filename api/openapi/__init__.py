"""The OpenAPI description of the service."""

from api.openapi.components import COMPONENTS, Schema, array, ref
from api.openapi.document import JSON_TYPE, Operation, assemble

__all__ = [
    "COMPONENTS",
    "JSON_TYPE",
    "Operation",
    "Schema",
    "array",
    "assemble",
    "ref",
]
