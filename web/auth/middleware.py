"""WSGI middleware around the dashboard that admits only authenticated readers.

It identifies the reader, decides on the request (`rules`), handles sign-in and sign-out itself, and
passes everything else on with the reader's client in the environ. If the service refuses that
client's credential meanwhile, the response is discarded and the session ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote

import orjson
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from api.catalog import SITE_ROOT
from api.client import Client, Credential
from api.errors import WeirError
from api.telemetry.request_record import REQUEST_RECORD, RequestRecord
from components.session import READER, EntryMethod, Reader
from web.auth import rules
from web.auth.rules import START, Because, Facts, Kind, Verdict
from web.auth.session_cookie import CookieJar, Seal, Session, Shared, SignedOutSessions
from web.auth.sign_in import (
    SENTENCES,
    CredentialCheck,
    Notice,
    SignInPage,
    Throttle,
    check_key,
    too_often,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SIGN_IN_HEADER: Final = "Weir-Sign-In"  # on a 401: where assets/session.js takes the reader
LINK_TOKEN: Final = "token"  # in the address of a sign-in link
OUTAGE_HEADER: Final = (
    "Weir-Outage"  # to an open page: why no readings are stored, and that its session stands
)
_LARGEST_FORM: Final = 8_192
CREATE: Final = "create"  # in the sign-in page's form


@dataclass(frozen=True, slots=True)
class Access:
    """The ways to sign in.

    ``demo_key`` returns the demo fleet's key, "" unless the store has that fleet alone; readers at
    this machine use it without signing in if the settings serve nobody else (``local_only``).
    ``links``: one-time sign-in links, which sign in with ``link_key``. ``proxy_bearer``: a proxy in
    front identifies the reader by a bearer token. ``folder`` records signed-out sessions,
    ``shared`` also those of other hosts. ``outage`` returns why no readings are stored, "" if they
    are. ``is_empty`` tells whether there is no organization yet, so that nobody can have a key.
    """

    secret: str = field(repr=False)
    folder: Path
    demo_key: Callable[[], str] = field(default=str, repr=False)
    local_only: bool = False
    links: Links | None = None
    link_key: str = field(default="", repr=False)
    proxy_bearer: bool = False
    shared: Shared | None = None
    outage: Callable[[], str] = str
    is_empty: Callable[[], bool] = bool
    lacks_demo: Callable[[], bool] = bool
    create_demo: Callable[[], object] = bool


class Links(Protocol):
    """One-time sign-in links."""

    def spend(self, token: str) -> bool:
        """Whether the token is valid; true once, for one process only."""
        ...


@dataclass(frozen=True, slots=True)
class SignedIn(Reader):
    """A reader with their session, if they have one."""

    session: Session | None = None


class AuthMiddleware:
    def __init__(
        self,
        application: WSGIApplication,
        client: Client,
        access: Access,
        page: SignInPage,
        *,
        clock_s: Callable[[], float] = time.time,
        attempts: Throttle | None = None,
    ) -> None:
        """``client`` provides the connection to the service; its own principal is never used."""
        self._application = application
        self._client, self._access, self._page = client, access, page
        self._clock_s = clock_s
        self._attempts = attempts or Throttle(shared=access.shared)
        self._seal = Seal(access.secret)
        self._ended = SignedOutSessions(access.folder, self._now_s, access.shared)
        self._credentials = CredentialCheck()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        exchange = _Exchange(Facts.of(environ), Request(environ))
        try:
            response = self._answer(exchange)
        except HTTPException as error:  # a form that is too large or can't be read
            response = _plain(error.code or 400, error.name)
        return response(environ, start_response)

    def _answer(self, exchange: _Exchange) -> Response:
        facts = exchange.facts
        session, stale = self._session(exchange)
        reader = self._reader(exchange, session, lapsed=stale)
        verdict = rules.judge(facts, has_reader=reader is not None)
        if verdict is Verdict.CROSS_SITE:
            return _plain(403, "Refused: this request comes from another site.")
        if verdict is Verdict.METHOD:
            return _plain(405, "Method not allowed")
        kind = rules.kind_of(facts.method, facts.path)
        if kind is Kind.SIGN_IN:
            return self._sign_in(exchange, session)
        if kind is Kind.SIGN_OUT:
            return self._sign_out(exchange, session)
        if verdict is not Verdict.PASS:
            return self._outside(exchange, verdict, Because.IDLE if stale else None)
        if reader is None:  # static
            return Response.from_app(self._application, exchange.request.environ)
        response = self._inside(exchange, reader, kind)
        if reader.refused:
            response.close()
            verdict = rules.judge(facts, has_reader=False)
            return self._outside(exchange, verdict, Because.REFUSED)
        self._renew(exchange, reader, kind, response)
        return response

    # --- The reader ------------------------------------------------------------------------------

    def _session(self, exchange: _Exchange) -> tuple[Session | None, bool]:
        """(the cookie's session if it is valid, whether there was one that has ended)."""
        sealed = exchange.request.cookies.get(exchange.jar.session, "")
        session = self._seal.open(sealed) if sealed else None
        if session is None:
            return None, False
        over = not session.alive(self._now_s) or self._ended.has(session, self._now_s)
        return (None, True) if over else (session, False)

    def _reader(
        self, exchange: _Exchange, session: Session | None, *, lapsed: bool
    ) -> SignedIn | None:
        """The reader of a request: by the proxy's token first, then by the session. A reader whose
        session has ``lapsed`` gets a message instead of being signed in some other way."""
        bearer = self._bearer(exchange)
        if bearer is not None:
            return self._as(exchange, bearer, EntryMethod.PROXY)
        if session is not None:
            return self._as(exchange, session.credential, EntryMethod.SESSION, session)
        away = lapsed or exchange.jar.away in exchange.request.cookies
        if not away and rules.opens_demo(exchange.facts, local_only=self._access.local_only):
            key = self._access.demo_key()
            return self._as(exchange, Credential.key(key), EntryMethod.DEMO) if key else None
        return None

    def _as(
        self,
        exchange: _Exchange,
        credential: Credential,
        method: EntryMethod,
        session: Session | None = None,
    ) -> SignedIn:
        refused: list[bool] = []
        seen: RequestRecord | None = exchange.request.environ.get(REQUEST_RECORD)
        if seen is not None:
            seen.kind = method.value
        client = self._client.as_principal(credential, on_unauthorized=lambda: refused.append(True))
        return SignedIn(client, method, refused, session)

    def _bearer(self, exchange: _Exchange) -> Credential | None:
        scheme, _, token = exchange.request.headers.get("Authorization", "").partition(" ")
        if not self._access.proxy_bearer or scheme.lower() != "bearer" or not token.strip():
            return None
        try:
            return Credential.bearer(token)
        except ValueError:
            return None

    # --- Inside ----------------------------------------------------------------------------------

    def _inside(self, exchange: _Exchange, reader: SignedIn, kind: Kind) -> Response:
        """Run the application. The check of an open page always asks the service; a page's data
        carries the same header, so that its browser needs no check for a while."""
        if kind is Kind.CHECK:
            self._credentials.confirm(reader.client, trusted_s=0)
            return Response(status=204, headers=self._standing())
        self._credentials.confirm(reader.client)
        if reader.refused:
            return Response(status=401)
        environ = {**exchange.request.environ, READER: reader}
        response = Response.from_app(self._application, environ)
        if kind is Kind.DATA:
            response.headers.update(self._standing())
        return response

    def _standing(self) -> dict[str, str]:
        return {OUTAGE_HEADER: quote(self._access.outage())}

    def _renew(self, exchange: _Exchange, reader: SignedIn, kind: Kind, response: Response) -> None:
        """Renew the session's cookie after a page or its data, not after checks or static files."""
        if reader.session is None or kind not in (Kind.PAGE, Kind.DATA):
            return
        renewed = reader.session.renewed(self._now_s)
        if renewed is not None:
            response.headers.add("Set-Cookie", self._cookie(exchange, renewed))

    # --- Outside ---------------------------------------------------------------------------------

    def _outside(self, exchange: _Exchange, verdict: Verdict, because: Because | None) -> Response:
        """Redirect a page to sign-in and back; tell a script the address of the sign-in page. After
        a session has ended, the demo fleet doesn't open by itself."""
        if verdict is Verdict.TO_SIGN_IN:
            next_path = rules.requested_address(exchange.facts)
            where = rules.sign_in_address(because=because, next_path=next_path)
            response = Response(status=303, headers={"Location": where})
        else:
            where = rules.sign_in_address(because=because)
            response = Response(
                orjson.dumps({"error": "signed out", "signIn": where}),
                status=401,
                content_type="application/json",
                headers={SIGN_IN_HEADER: where, "WWW-Authenticate": 'Session realm="weir"'},
            )
        if exchange.jar.session in exchange.request.cookies:
            response.headers.add("Set-Cookie", exchange.jar.dropped(exchange.jar.session))
            if because is not None:
                self._stay_away(exchange, response)
        return response

    def _stay_away(self, exchange: _Exchange, response: Response) -> None:
        """Keep the demo fleet from opening until the reader chooses it."""
        if rules.may_open_demo(exchange.facts, local_only=self._access.local_only):
            response.headers.add("Set-Cookie", exchange.jar.until_closed(exchange.jar.away, "1"))

    # --- Sign in, sign out -----------------------------------------------------------------------

    def _sign_in(self, exchange: _Exchange, session: Session | None) -> Response:
        request = exchange.request
        if exchange.facts.method != "POST":
            next_path = rules.safe_next(request.args.get("next", ""))
            because = request.args.get("because", "")
            if LINK_TOKEN in request.args and exchange.facts.method == "GET":
                return self._by_link(exchange, session, request.args[LINK_TOKEN])
            if session is not None and not because:
                return _see(next_path)
            notice = SENTENCES[Because(because)] if because in tuple(Because) else None
            return self._sign_in_page(exchange, next_path, notice)
        request.max_content_length = request.max_form_memory_size = _LARGEST_FORM
        form = request.form
        next_path = rules.safe_next(form.get("next", ""))
        if form.get("demo") and self._offers_demo(exchange):
            response = _see(next_path)
            response.headers.add("Set-Cookie", exchange.jar.dropped(exchange.jar.away))
            return response
        if form.get("demo") == CREATE and self._may_create_demo(exchange):
            return self._create_demo(exchange)
        outcome = self._try(form.get("key", ""), exchange.facts.peer)
        if isinstance(outcome, Notice):
            return self._sign_in_page(exchange, next_path, outcome)
        return self._begin(exchange, outcome, next_path)

    def _begin(self, exchange: _Exchange, credential: Credential, next_path: str) -> Response:
        response = _see(next_path)
        begun = Session.begin(credential, self._now_s)
        response.headers.add("Set-Cookie", self._cookie(exchange, begun))
        response.headers.add("Set-Cookie", exchange.jar.dropped(exchange.jar.away))
        return response

    def _by_link(self, exchange: _Exchange, session: Session | None, token: str) -> Response:
        """Use a sign-in link and redirect to an address without its token, valid or not. A prefetch
        uses up nothing. A reader who opens their used link again stays signed in."""
        if exchange.facts.prefetch:
            return Response(status=204)
        wait_s = self._attempts.wait_s(exchange.facts.peer)
        if wait_s:
            return self._sign_in_page(exchange, START, too_often(wait_s))
        links, key = self._access.links, self._access.link_key
        if links is not None and key and links.spend(token):
            return self._begin(exchange, Credential.key(key), START)
        if session is not None:
            return _see(START)
        self._attempts.failed(exchange.facts.peer)
        return _see(rules.sign_in_address(because=Because.LINK))

    def _try(self, pasted: str, address: str) -> Credential | Notice:
        wait_s = self._attempts.wait_s(address)
        if wait_s:
            return too_often(wait_s)
        outcome = check_key(self._client, pasted)
        if isinstance(outcome, Notice) and outcome.status in (401, 403):
            self._attempts.failed(address)
        return outcome

    def _sign_in_page(self, exchange: _Exchange, next_path: str, notice: Notice | None) -> Response:
        html = self._page.html(
            next_path=next_path,
            notice=notice,
            demo=self._offers_demo(exchange),
            link=bool(self._access.link_key) and exchange.facts.here,
            first_run=self._access.is_empty(),
            create_demo=self._may_create_demo(exchange),
        )
        response = Response(html, status=notice.status if notice else 200, mimetype="text/html")
        if response.status_code == 401:
            response.headers["WWW-Authenticate"] = 'Session realm="weir"'
        return response

    def _offers_demo(self, exchange: _Exchange) -> bool:
        may = rules.may_open_demo(exchange.facts, local_only=self._access.local_only)
        return may and bool(self._access.demo_key())

    def _may_create_demo(self, exchange: _Exchange) -> bool:
        """Returns whether the reader may have the demo fleet created: whom it would open for."""
        may = rules.opens_demo(exchange.facts, local_only=self._access.local_only)
        return may and self._access.lacks_demo()

    def _create_demo(self, exchange: _Exchange) -> Response:
        try:
            self._access.create_demo()
        except WeirError as error:
            return self._sign_in_page(exchange, START, Notice(503, str(error)))
        response = _see(START)
        response.headers.add("Set-Cookie", exchange.jar.dropped(exchange.jar.away))
        return response

    def _sign_out(self, exchange: _Exchange, session: Session | None) -> Response:
        """End the session for every copy of its cookie, and keep the demo fleet from opening."""
        if session is not None:
            self._ended.add(session, self._now_s)
        response = _see(rules.sign_in_address(because=Because.SIGNED_OUT))
        response.headers.add("Set-Cookie", exchange.jar.dropped(exchange.jar.session))
        self._stay_away(exchange, response)
        return response

    def _cookie(self, exchange: _Exchange, session: Session) -> str:
        value = self._seal.close(session)
        return exchange.jar.set_cookie(exchange.jar.session, value, session.left_s(self._now_s))

    @property
    def _now_s(self) -> int:
        return int(self._clock_s())


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A request with its facts and its cookies' names."""

    facts: Facts
    request: Request

    @property
    def jar(self) -> CookieJar:
        return CookieJar(self.facts.secure, self.request.environ.get(SITE_ROOT, ""))


def _see(where: str) -> Response:
    return Response(status=303, headers={"Location": where})


def _plain(status: int, text: str) -> Response:
    return Response(f"{text}\n", status=status, mimetype="text/plain")
