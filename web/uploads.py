"""Passes the import page's requests on to the service, as the reader who is signed in."""

from __future__ import annotations

from typing import Final

from flask import request
from werkzeug.wrappers import Response

from api.catalog import IMPORT_PIECE_BYTES
from api.errors import Forbidden, NotFound, WeirError
from components import session
from web.problems import problem

PATH: Final = "/import/files"


def rules() -> list[tuple[str, str, list[str]]]:
    """(address, name, methods) of what `forward` serves."""
    one = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    return [(PATH, "imports", ["GET", "POST"]), (f"{PATH}/<path:rest>", "import", one)]


def forward(rest: str = "") -> Response:
    """The service decides who may; a reader without the role is refused before the body is read."""
    if not session.me().role.may_administer:
        return problem(Forbidden("Importing files is for administrators."))
    if any(part in ("", ".", "..") for part in rest.split("/")) and rest:
        return problem(NotFound("There is no such import."))
    request.max_content_length = IMPORT_PIECE_BYTES
    try:
        response = session.current_client().imports(
            request.method,
            f"/{rest}" if rest else "",
            request.args.to_dict(),
            request.get_data(cache=False),
            request.content_type or "application/json",
        )
    except WeirError as error:
        return problem(error)
    headers = {"Cache-Control": "no-store"}
    if response.content_type.startswith("text/csv"):
        headers["Content-Disposition"] = 'attachment; filename="refused-rows.csv"'
    return Response(response.body, response.status, headers, content_type=response.content_type)
