"""WSGI middleware that delivers the dashboard: safety headers, 404s, and static files that are
compressed once and cached for good."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

import brotli
from flask_compress import Compress
from werkzeug.test import Client, EnvironBuilder
from werkzeug.wrappers import Request, Response

from api.timez import zone_names

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Flask

STATIC_PREFIXES: Final = ("/assets/", "/_dash-component-suites/", "/_favicon.ico")
SMALLEST_COMPRESSED: Final = 512
BROTLI_QUALITY: Final = 9  # once per file and process; 11 takes 20 times as long for 7 % less
GZIP_LEVEL: Final = 6

_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_REVALIDATED: Final = "public, no-cache"
# Dash puts a package script's version and time into its name, and an asset's time into its query.
_FINGERPRINT: Final = re.compile(r"\.v[\w-]+m[0-9a-fA-F]+(?=\.)", re.ASCII)
# The only spelling of a file's path: no part is empty or begins with a dot.
_PLAIN: Final = re.compile(r"(?:/[\w@-][\w@.-]*)+", re.ASCII)
_COMPRESSIBLE: Final = re.compile(r"text/|/javascript|/json|\+xml")

RESOURCE_POLICY: Final = "Cross-Origin-Resource-Policy"
_SAFETY: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def compress(server: Flask, *types: str) -> None:
    """Compress dynamic responses, at levels that cost less time than they save. For a wall's 165
    kB, zstd is as small as brotli in a quarter of the time."""
    server.config.update(
        COMPRESS_ALGORITHM=["zstd", "br", "gzip"],
        COMPRESS_ZSTD_LEVEL=3,
        COMPRESS_BR_LEVEL=4,
        COMPRESS_MIMETYPES=list(types),
    )
    Compress(server)


def content_security_policy(
    script_hashes: Iterable[str], *, framed_by: Iterable[str] = ("'none'",)
) -> str:
    """A policy that allows only resources of this host, framed only by ``framed_by``. Inline styles
    are allowed, since Dash and plotly.js use them; inline scripts only with the given hashes."""
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *script_hashes)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "frame-src 'self'",  # an embed's preview; on all pages, which are one document
            "form-action 'self'",
            "base-uri 'none'",
            "object-src 'none'",
            " ".join(("frame-ancestors", *framed_by)),
        )
    )


def _cache_control(headers: Iterable[tuple[str, str]]) -> str:
    """The Cache-Control of a response: ``private, max-age=…`` stays, anything else is no-store."""
    value = dict(headers).get("Cache-Control", "")
    return value if value.startswith("private, max-age=") else "private, no-store"


class _File(NamedTuple):
    """A static file in its encodings, smallest first."""

    content_type: str
    etag: str
    bodies: dict[str, bytes]


class StaticDelivery:
    """``is_page``: whether a path has a page. ``policy``: the pages' content security policy, which
    depends on their inline scripts. ``loaded_by``: default Cross-Origin-Resource-Policy."""

    def __init__(
        self,
        application: WSGIApplication,
        *,
        is_page: Callable[[str], bool],
        policy: Callable[[], str],
        loaded_by: str = "same-origin",
    ) -> None:
        self._application = application
        self._safety = {**_SAFETY, RESOURCE_POLICY: loaded_by}
        self._is_page = is_page
        self._policy = policy
        self._files: dict[str, _File] = {}
        self._lock = Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        reading = request.method in ("GET", "HEAD")
        if reading and request.path.startswith(STATIC_PREFIXES):
            return self._static(request)(environ, start_response)
        return self._dynamic(request, environ, start_response)

    # --- Pages and their data --------------------------------------------------------------------

    def _dynamic(
        self, request: Request, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        path = request.path

        def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> object:
            kind = dict(headers).get("Content-Type", "")
            added = dict(self._safety)
            added[RESOURCE_POLICY] = dict(headers).get(RESOURCE_POLICY, added[RESOURCE_POLICY])
            if kind.startswith("text/html"):
                added |= {"Content-Security-Policy": self._policy(), "Cache-Control": "no-store"}
                if status.startswith("200") and not self._is_page(path):
                    status = "404 NOT FOUND"
            else:
                added |= {"Cache-Control": _cache_control(headers)}
            remaining = [(name, value) for name, value in headers if name not in added]
            return start_response(status, [*remaining, *added.items()], exc_info)  # pyright: ignore[reportArgumentType, reportCallIssue]

        return self._application(environ, start)  # pyright: ignore[reportArgumentType]

    # --- Static files ----------------------------------------------------------------------------

    def _static(self, request: Request) -> Response:
        file = self._file(request.path)
        if file is None:
            return Response("Not found\n", status=404, headers=self._safety)
        versioned = _FINGERPRINT.search(request.path) or request.args.keys() & {"m", "v"}
        encoding = next(
            (e for e in file.bodies if e != "identity" and request.accept_encodings[e] > 0),
            "identity",
        )
        response = Response(
            file.bodies[encoding], content_type=file.content_type, headers=self._safety
        )
        if encoding != "identity":
            response.headers["Content-Encoding"] = encoding
        response.headers["Vary"] = "Accept-Encoding"
        response.headers["Cache-Control"] = _IMMUTABLE if versioned else _REVALIDATED
        response.set_etag(f"{file.etag}-{encoding}")
        return response.make_conditional(request)

    def _file(self, path: str) -> _File | None:
        """The file of a path, ignoring its fingerprint, so that each file is compressed and cached
        once."""
        if _PLAIN.fullmatch(path) is None:
            return None
        name = _FINGERPRINT.sub("", path)
        return self._files.get(name) or self._load(name)

    def _load(self, path: str) -> _File | None:
        """Read the file from the application and cache it in its encodings."""
        environ = EnvironBuilder(path=path).get_environ()
        response = Client(self._application).open(environ)
        body = response.get_data()
        response.close()
        kind = response.headers.get("Content-Type", "application/octet-stream")
        if response.status_code != 200 or kind.startswith("text/html"):  # a page is no file
            return None
        file = _File(kind, hashlib.sha256(body).hexdigest()[:32], _encoded(body, kind))
        with self._lock:
            self._files[path] = file
        return file


def _encoded(body: bytes, content_type: str) -> dict[str, bytes]:
    """The body by encoding, smallest first."""
    if len(body) < SMALLEST_COMPRESSED or not _COMPRESSIBLE.search(content_type):
        return {"identity": body}
    return {
        "br": brotli.compress(body, quality=BROTLI_QUALITY),
        "gzip": gzip.compress(body, GZIP_LEVEL, mtime=0),
        "identity": body,
    }


# --- Scripts and styles, each kind as one file ---------------------------------------------------

ASSETS: Final = Path(__file__).resolve().parent.parent / "assets"
# The base styles, in this order; all others follow by name.
FOUNDATION: Final = ("style.css", "bar.css", "controls.css")
PLOTLY: Final = "vendor/plotly-cartesian.min.js"
SIGN_IN_STYLES: Final = (*FOUNDATION, "head/sign-in.css")

_KINDS: Final = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Bundle:
    """Several files as one, in the assets' folder, so that relative addresses stay valid."""

    name: str
    body: bytes

    @property
    def path(self) -> str:
        return f"/assets/{self.name}"

    @property
    def address(self) -> str:
        return f"{self.path}?v={hashlib.sha256(self.body).hexdigest()[:16]}"

    def answer(self) -> tuple[bytes, dict[str, str]]:
        """Body and headers of the response."""
        return self.body, {"Content-Type": _KINDS[self.name.rpartition(".")[2]]}


def no_such_script(_: Exception) -> tuple[str, int]:
    """The response for a library that Dash doesn't know, for which it would respond 500."""
    return "Not found\n", 404


def versioned(asset: str) -> str:
    """An asset's address, which changes with the file's time."""
    return f"/assets/{asset}?m={(ASSETS / asset).stat().st_mtime_ns // 1_000_000}"


def styles() -> Bundle:
    others = sorted(file.name for file in ASSETS.glob("*.css") if file.name not in FOUNDATION)
    return Bundle("weir.css", _joined((*FOUNDATION, *others)))


def sign_in_styles() -> Bundle:
    """The styles of the sign-in page."""
    return Bundle("weir-sign-in.css", _joined(SIGN_IN_STYLES))


def scripts() -> Bundle:
    """All scripts, with the names of all time zones for `assets/zones.js`: in each page's layout
    they would be most of its size."""
    names = f'window.weir.zoneNames = "{" ".join(sorted(zone_names()))}".split(" ");\n'
    return Bundle("weir.js", names.encode() + joined_modules(ASSETS / "main.js"))


def _joined(names: Iterable[str]) -> bytes:
    return joined(ASSETS / name for name in names)


def joined(files: Iterable[Path]) -> bytes:
    """The files one after the other, each below its name."""
    return b"".join(part for file in files for part in _parts(file))


def _parts(file: Path) -> Iterator[bytes]:
    yield f"/* {file.name} */\n".encode()
    yield file.read_bytes()
    yield b"\n"


# --- ES modules as one script ---------------------------------------------------------------------


_IMPORT: Final = re.compile(
    r'^[ ]*import (?:(?:\* as (?P<all>\w+)|(?P<names>\{[^}]*\})) from )?"(?P<path>\.[^"]+)";$',
    re.MULTILINE,
)
_EXPORTED: Final = re.compile(
    r"^([ ]*)export (?=(?:const|class|function|async function) (\w+))", re.MULTILINE
)
_EXPORTS: Final = re.compile(r"^[ ]*export \{([^}]*)\};$", re.MULTILINE)
_OTHER: Final = re.compile(r"^[ ]*(?:import\b(?!\s*\()|export\b).*$", re.MULTILINE)


class ModuleError(ValueError):
    """A module that can't be joined: the message names its file."""


def joined_modules(entry: Path) -> bytes:
    """The entry and all that it imports, each once, before its first use: one script in strict
    mode.

    A page loads one classic script, which runs before Dash's renderer starts; native modules would
    run after it and cost a request each. Each module becomes a function that returns its exports.
    Only these forms of ``import`` and ``export`` are supported; for any other, or a circle, raises
    ModuleError.
    """
    modules: dict[Path, str] = {}
    _collect(entry.resolve(), modules, ())
    body = "".join(modules.values())
    return f'(() => {{\n"use strict";\nconst modules = {{}};\n{body}}})();\n'.encode()


def _collect(file: Path, modules: dict[Path, str], importers: tuple[Path, ...]) -> None:
    if file in importers:
        circle = " → ".join(each.name for each in (*importers, file))
        raise ModuleError(f"modules import each other in a circle: {circle}")
    if file in modules:
        return
    if any(file.name == other.name for other in modules):
        raise ModuleError(f"two modules are named {file.name}")
    source = file.read_text("utf-8")
    for match in _IMPORT.finditer(source):
        _collect((file.parent / match["path"]).resolve(), modules, (*importers, file))
    modules[file] = _wrapped(file, source)


def _wrapped(file: Path, source: str) -> str:
    exported: list[str] = []

    def note(match: re.Match[str]) -> str:
        exported.append(match[2])
        return match[1]

    def note_all(match: re.Match[str]) -> str:
        exported.extend(name.strip() for name in match[1].split(",") if name.strip())
        return ""

    body = _EXPORTS.sub(note_all, _EXPORTED.sub(note, _IMPORT.sub(_bound, source)))
    if other := _OTHER.search(body):
        raise ModuleError(f"{file.name}: can't join “{other[0].strip()}”")
    if odd := [name for name in exported if not name.isidentifier()]:
        raise ModuleError(f"{file.name}: can't export “{odd[0]}”")
    result = ", ".join(exported)
    return (
        f'/* {file.name} */\nmodules["{file.name}"] = (() => {{\n{body}'
        f"return {{ {result} }};\n}})();\n"
    )


def _bound(match: re.Match[str]) -> str:
    """An import as a reference to an earlier function's result."""
    module = f'modules["{Path(match["path"]).name}"]'
    if match["all"]:
        return f"const {match['all']} = {module};"
    if match["names"]:
        return f"const {re.sub(r' as ', ': ', match['names'])} = {module};"
    return ""
