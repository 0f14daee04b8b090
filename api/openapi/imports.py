"""The document's description of imports of files; `api.server.imports` serves them."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from api.catalog import IMPORTS_PATH
from api.openapi.components import (
    ANYTHING,
    BOOLEAN,
    INSTANT,
    NUMBER,
    STRING,
    Schema,
    array,
    one_of,
    record,
    ref,
)
from api.openapi.document import Operation

_STATES: Final = (
    "receiving", "ready", "waiting", "running", "paused", "interrupted", "done", "failed",
    "undoing", "undone",
)  # fmt: skip
_BRIEF: Final[dict[str, Schema]] = {
    "id": STRING,
    "name": STRING,
    "size": NUMBER | {"description": "Bytes."},
    "received": NUMBER | {"description": "The number of bytes received."},
    "state": one_of(_STATES),
    "pausing": BOOLEAN,
    "createdAt": INSTANT,
    "by": STRING,
    "goal": one_of(("", "import", "undo")),
    "outcome": ref("ImportOutcome"),
}
_WHOLE: Final[dict[str, Schema]] = {
    "mappings": array(STRING) | {"description": "Names of saved mappings."},
    "mapping": ANYTHING,
    "unsure": ANYTHING | {"description": "Guesses to check, with the reasons."},
    "preview": ANYTHING | {"description": "Rows as they will be stored, samples, refusals."},
    "refusedRows": array(array(STRING)) | {"description": "The first: reason, device, row."},
}

IMPORT_COMPONENTS: Final[dict[str, Any]] = {
    "ImportOutcome": record(
        {
            "state": STRING, "read": NUMBER, "stored": NUMBER, "repeated": NUMBER,
            "refused": NUMBER, "empty": NUMBER, "bytes": NUMBER, "removed": NUMBER,
            "problem": STRING,
            "causes": array(array(ANYTHING | {"type": "string"}))
            | {"description": "Reason, device, rows, a sample."},
            "created": array(STRING), "deleted": array(STRING),
            "messages": array(STRING),
        }
    ),
    "Import": record(_BRIEF | _WHOLE, optional=tuple(_WHOLE)),
    "Imports": record({"data": array(ref("Import")), "mappings": array(STRING)}),
    "NewImport": record({"name": STRING, "size": NUMBER}),
    "ChangedImport": record(
        {"settings": {"type": "object", "additionalProperties": STRING}},
        about="Settings of the mapping by name; mapping takes a saved one, save saves it.",
    ),
    "ImportPiece": {"type": "string", "format": "binary"},
    "ImportReceived": record({"received": NUMBER}),
    "RemovedImport": record({"removed": STRING}),
    "RefusedRows": STRING | {"description": "CSV."},
    "NoBody": {"type": "object"},
}  # fmt: skip


class _Nothing(BaseModel):
    """No query."""


def _operation(
    id: str, path: str, summary: str, answer: str, body: str = "", verb: Any = "", **more: Any
) -> Operation:
    return Operation(
        id=id, path=f"{IMPORTS_PATH}{path}", tag="imports", summary=summary, answer=ref(answer),
        query=_Nothing, body=ref(body) if body else None, verb=verb, **more,
    )  # fmt: skip


_ONE: Final = {"named": "An import's id."}
IMPORT_OPERATIONS: Final = (
    _operation("listImports", "", "Earlier imports, the latest first", "Imports"),
    _operation("createImport", "", "Announces a file", "Import", "NewImport", status=201),
    _operation("getImport", "/{id}", "An import, with a preview once it is ready", "Import",
               **_ONE),
    _operation("changeImport", "/{id}", "Changes settings of its mapping", "Import",
               "ChangedImport", "patch", **_ONE),
    _operation("removeImport", "/{id}", "Removes an import; its readings stay", "RemovedImport",
               "NoBody", "delete", **_ONE),
    _operation("sendImport", "/{id}/content", "Sends the next piece, starting at the byte offset",
               "ImportReceived", "ImportPiece", "put", **_ONE),
    _operation("getRefusedRows", "/{id}/refused", "The refused rows as CSV", "RefusedRows",
               **_ONE),
    *(
        _operation(f"{deed}Import", f"/{{id}}/{deed}", summary, "Import", "NoBody", **_ONE)
        for deed, summary in (
            ("begin", "Starts or continues it"),
            ("pause", "Pauses it"),
            ("undo", "Undoes an import: deletes what it stored"),
        )
    ),
)  # fmt: skip
