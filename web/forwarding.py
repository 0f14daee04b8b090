"""Forwards requests of the administrators' pages to the service with the signed-in reader's
credential: imported files, and the administration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flask import request
from werkzeug.wrappers import Response

from api.catalog import ADMIN_BODY_BYTES, ADMIN_PREFIX, IMPORT_PIECE_BYTES, IMPORTS_PATH
from api.errors import Forbidden, NotFound, WeirError
from components import session
from web.responses import problem


@dataclass(frozen=True, slots=True)
class Forwarded:
    """``path``: of the dashboard. ``to``: the service's path. ``refusal``: the message for readers
    who aren't administrators; the service decides the rest."""

    path: str
    to: str
    body_bytes: int
    refusal: str


FORWARDED: Final = (
    Forwarded(
        "/import/files",
        IMPORTS_PATH,
        IMPORT_PIECE_BYTES,
        "Importing files is for administrators.",
    ),
    Forwarded(
        "/admin/service",
        ADMIN_PREFIX,
        ADMIN_BODY_BYTES,
        "The administration is for administrators.",
    ),
)


def rules() -> list[tuple[str, str, Callable[..., Response], list[str]]]:
    """(address, name, view function, methods) of every route."""
    every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    return [
        (f"{each.path}{rest}", f"{each.path}{rest}", _view(each), methods)
        for each in FORWARDED
        for rest, methods in (("", every[:2]), ("/<path:rest>", every))
    ]


def _view(each: Forwarded) -> Callable[..., Response]:
    def view(rest: str = "") -> Response:
        """A reader without the role is refused before the body is read."""
        if not session.me().role.may_administer:
            return problem(Forbidden(each.refusal))
        if any(part in ("", ".", "..") for part in rest.split("/")) and rest:
            return problem(NotFound("Nothing exists at this path."))
        request.max_content_length = each.body_bytes
        try:
            response = session.current_client().forward(
                request.method,
                f"{each.to}/{rest}" if rest else each.to,
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

    return view
