"""Which application answers which path, and the site below a path of its host as WEIR_PUBLIC_URL
says: https://host/weir."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from api.catalog import SITE_ROOT

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


_LEADING: Final = ("location", "weir-sign-in")  # the latter takes a page's script to sign in


class Mounted:
    """``site`` below ``root``, "" for none. A proxy may pass the path on whole or without the root:
    both get the same answer."""

    def __init__(self, site: WSGIApplication, root: str) -> None:
        self._site, self._root = site, root

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._root:
            return self._site(environ, start_response)
        environ["SCRIPT_NAME"] = environ[SITE_ROOT] = self._root
        environ["PATH_INFO"] = below(self._root, environ.get("PATH_INFO", ""))

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            mounted = [(name, self._above(name, value)) for name, value in headers]
            return start_response(status, mounted, *([exc_info] if exc_info else []))

        return self._site(environ, start)

    def _above(self, name: str, value: str) -> str:
        """Where a header leads, from the host's root."""
        leads = name.lower() in _LEADING and value.startswith("/")
        return value if not leads or below(self._root, value) != value else self._root + value


def below(root: str, path: str) -> str:
    """The path without the root, where it has it."""
    if root and (path == root or path.startswith(f"{root}/")):
        return path.removeprefix(root) or "/"
    return path


def by_path(
    rooms: Mapping[tuple[str, ...], WSGIApplication], fallback: WSGIApplication
) -> WSGIApplication:
    """Each path goes to the application that has it or a path above it, else to ``fallback``."""
    owners = [(own, room) for paths, room in rooms.items() for own in paths]

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = "/" + environ.get("PATH_INFO", "").lstrip("/")
        matching = (room for own, room in owners if path == own or path.startswith(f"{own}/"))
        return next(matching, fallback)(environ, start_response)

    return application
