"""Decides who may get which response, as pure functions of a request's facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote, urlencode

from api.telemetry.client_address import from_another_site, from_this_machine
from components.session import SIGN_OUT
from web.static import STATIC_PREFIXES

SIGN_IN: Final = "/sign-in"
CHECK: Final = "/session"
START: Final = "/"  # after sign-in, without a requested page

SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
_READING: Final = ("GET", "HEAD")
_LONGEST_NEXT: Final = 2_000
_OWN_SITE: Final = ("same-origin", "none")  # none: the reader typed the address


class Kind(StrEnum):
    """What a path is for."""

    STATIC = "static"
    SIGN_IN = "sign in"
    SIGN_OUT = "sign out"
    CHECK = "check"
    DATA = "data"
    PAGE = "page"


class Verdict(StrEnum):
    PASS = "pass"
    TO_SIGN_IN = "to sign-in"  # 303
    SIGNED_OUT = "signed out"  # 401
    CROSS_SITE = "cross-site"  # 403
    METHOD = "method"  # 405


class Because(StrEnum):
    """Why a reader has to sign in, as in the sign-in page's address."""

    REFUSED = "refused"  # the service refuses the key
    IDLE = "idle"
    SIGNED_OUT = "signed-out"
    LINK = "link"  # a sign-in link that was used or has expired


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a request that decide. Texts are as sent, "" if missing. ``here``: from this
    machine without a proxy. ``foreign``: caused by a page of another origin."""

    method: str = "GET"
    path: str = "/"
    query: str = ""
    host: str = ""
    peer: str = ""
    origin: str = ""
    fetch_site: str = ""
    fetch_mode: str = ""
    fetch_dest: str = ""
    prefetch: bool = False
    here: bool = False
    foreign: bool = False
    secure: bool = False

    @classmethod
    def of(cls, environ: Mapping[str, Any]) -> Facts:
        # A client that forges https only makes its own cookie stricter.
        proto = environ.get("HTTP_X_FORWARDED_PROTO", "").partition(",")[0].strip().lower()
        return cls(
            method=environ.get("REQUEST_METHOD", "GET"),
            path=environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8", "replace"),
            query=environ.get("QUERY_STRING", ""),
            host=environ.get("HTTP_HOST", ""),
            peer=environ.get("REMOTE_ADDR", ""),
            origin=environ.get("HTTP_ORIGIN", ""),
            fetch_site=environ.get("HTTP_SEC_FETCH_SITE", ""),
            fetch_mode=environ.get("HTTP_SEC_FETCH_MODE", ""),
            fetch_dest=environ.get("HTTP_SEC_FETCH_DEST", ""),
            prefetch="prefetch" in environ.get("HTTP_SEC_PURPOSE", ""),
            here=from_this_machine(environ),
            foreign=from_another_site(environ),
            secure="https" in (environ.get("wsgi.url_scheme"), proto),
        )


def kind_of(method: str, path: str) -> Kind:
    """The kind of a path. Unknown paths count as pages, so that new ones need a sign-in."""
    if method in _READING and path.startswith(STATIC_PREFIXES):
        return Kind.STATIC
    own = {SIGN_IN: Kind.SIGN_IN, SIGN_OUT: Kind.SIGN_OUT, CHECK: Kind.CHECK}.get(path)
    if own is not None:
        return own
    return Kind.DATA if path.startswith(("/_dash-", "/_reload-hash")) else Kind.PAGE


def judge(facts: Facts, *, has_reader: bool) -> Verdict:
    """``has_reader``: the request has a valid session or token, or may see the demo fleet."""
    kind = kind_of(facts.method, facts.path)
    if cross_site(facts):
        return Verdict.CROSS_SITE
    if kind is Kind.SIGN_IN:
        return Verdict.PASS if facts.method in (*_READING, "POST") else Verdict.METHOD
    if kind is Kind.SIGN_OUT:
        return Verdict.PASS if facts.method == "POST" else Verdict.METHOD
    if has_reader or kind is Kind.STATIC:
        return Verdict.PASS
    if kind is Kind.PAGE and facts.method in _READING:
        return Verdict.TO_SIGN_IN
    return Verdict.SIGNED_OUT


def cross_site(facts: Facts) -> bool:
    """Whether another site makes a browser change, load or probe something here. It may open a page
    in a window, as any link does. A request with neither Sec-Fetch-Site nor Origin isn't from a
    browser, so that it can't misuse a session."""
    if facts.fetch_site and facts.method != "OPTIONS":
        return facts.fetch_site not in _OWN_SITE and not _opens_window(facts)
    if facts.method in SAFE_METHODS:
        return False
    return bool(facts.origin) and _authority(facts.origin) != facts.host.lower()


def _opens_window(facts: Facts) -> bool:
    """Whether the request is a top-level navigation, not a frame or a part of a page."""
    request = (facts.method, facts.fetch_mode, facts.fetch_dest)
    return request == ("GET", "navigate", "document")


def _authority(origin: str) -> str:
    """Host and port of an origin as a Host header writes them; "null" has none."""
    return origin.lower().partition("://")[2]


def may_open_demo(facts: Facts, *, local_only: bool) -> bool:
    """Whether the reader may choose the demo fleet: at this machine, if the settings serve nobody
    else (``local_only``)."""
    return local_only and facts.here


def opens_demo(facts: Facts, *, local_only: bool) -> bool:
    """Whether the demo fleet opens without a click: not if another site led here."""
    return may_open_demo(facts, local_only=local_only) and not facts.foreign


def safe_next(target: str) -> str:
    """The path of this site to go to after sign-in. Anything else becomes the start page, above all
    what a browser would read as another host."""
    plain = target.isascii() and target.isprintable() and " " not in target and "\\" not in target
    if (
        not plain
        or len(target) > _LONGEST_NEXT
        or not target.startswith("/")
        or target.startswith("//")
    ):
        return START
    path = target.partition("?")[0].partition("#")[0]
    return target if kind_of("GET", path) is Kind.PAGE else START


def requested_address(facts: Facts) -> str:
    """Path and query of a request, to return to after sign-in."""
    path = quote(facts.path, safe="/:@!$&'()*+,;=~")
    return safe_next(f"{path}?{facts.query}" if facts.query else path)


def sign_in_address(*, because: Because | None = None, next_path: str = START) -> str:
    params = {"because": because.value} if because else {}
    if next_path != START:
        params["next"] = next_path
    return f"{SIGN_IN}?{urlencode(params)}" if params else SIGN_IN
