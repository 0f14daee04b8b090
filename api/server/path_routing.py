"""Routes paths to applications, and serves the site below a path of its host, as in
WEIR_PUBLIC_URL=https://host/weir."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from api.catalog import SITE_ROOT

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


_LEADING: Final = ("location", "weir-sign-in")  # the second is for scripts


class Mounted:
    """Serves ``site`` under the path ``root`` ("" for none). Works whether the proxy keeps or
    strips the root."""

    def __init__(self, site: WSGIApplication, root: str) -> None:
        self._site, self._root = site, root

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._root:
            return self._site(environ, start_response)
        environ["SCRIPT_NAME"] = environ[SITE_ROOT] = self._root
        environ["PATH_INFO"] = without_root(self._root, environ.get("PATH_INFO", ""))

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            mounted = [(name, self._above(name, value)) for name, value in headers]
            return start_response(status, mounted, *([exc_info] if exc_info else []))

        return self._site(environ, start)

    def _above(self, name: str, value: str) -> str:
        """Returns a header's value; a path in it is prefixed with the root."""
        leads = name.lower() in _LEADING and value.startswith("/")
        return (
            value if not leads or without_root(self._root, value) != value else self._root + value
        )


def without_root(root: str, path: str) -> str:
    """Returns the path without the root; unchanged if it isn't below the root."""
    if root and (path == root or path.startswith(f"{root}/")):
        return path.removeprefix(root) or "/"
    return path


def by_path(
    applications: Mapping[tuple[str, ...], WSGIApplication], fallback: WSGIApplication
) -> WSGIApplication:
    """Sends each path to the application of that path or of a parent, else to ``fallback``."""
    owners = [(own, application_) for paths, application_ in applications.items() for own in paths]

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = "/" + environ.get("PATH_INFO", "").lstrip("/")
        matching = (
            application_
            for own, application_ in owners
            if path == own or path.startswith(f"{own}/")
        )
        return next(matching, fallback)(environ, start_response)

    return application
