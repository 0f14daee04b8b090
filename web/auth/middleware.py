"""The door: a layer around the dashboard's application that lets nobody in unknown.

It finds out who is looking, judges the request (`rules`), answers sign-in and sign-out itself, and
hands everything else on with the reader's client in the request's environment. When the service
refuses that client's credential meanwhile, the answer is thrown away and the session is over.
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
from api.telemetry.request_record import REQUEST_RECORD, RequestRecord
from components.session import READER, EntryMethod, Reader
from web.auth import rules
from web.auth.credential_check import CredentialCheck
from web.auth.rules import START, Because, Facts, Kind, Verdict
from web.auth.session_cookie import CookieJar, Seal, Session, Shared, SignedOutSessions
from web.auth.sign_in import SENTENCES, Notice, SignInPage, Throttle, check_key, too_often

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SIGN_IN_HEADER: Final = "Weir-Sign-In"  # on a 401: where assets/session.js takes the reader
LINK_TOKEN: Final = "token"  # in the address of a sign-in link
OUTAGE_HEADER: Final = "Weir-Outage"  # on a page's check: what assets/session.js says on top
_LARGEST_FORM: Final = 8_192


@dataclass(frozen=True, slots=True)
class Access:
    """How people may get in.

    ``demo_key`` gives the demo fleet's key, "" unless the store holds that fleet alone: somebody
    at this machine needs no other, if the settings mean nobody else (``local_only``). ``links``
    are one-time sign-in links; whoever opens one is signed in with ``link_key``. With
    ``proxy_bearer`` a proxy in front says who asks, by a bearer token.
    ``folder`` keeps the sessions that were signed out, ``shared`` also for other hosts.
    ``outage`` says why no reading comes in, "" where nothing is known to keep them.
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


class Links(Protocol):
    """One-time sign-in links."""

    def spend(self, token: str) -> bool:
        """Whether the token is valid; true once, for one process only."""
        ...


@dataclass(frozen=True, slots=True)
class SignedIn(Reader):
    """A reader, with the session that they came in by."""

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
        """``client`` is only the way to the service: nothing is ever asked as its principal."""
        self._application = application
        self._client, self._access, self._page = client, access, page
        self._clock_s = clock_s
        self._attempts = attempts or Throttle(shared=access.shared)
        self._seal = Seal(access.secret)
        self._ended = SignedOutSessions(access.folder, self._now_s, access.shared)
        self._standing = CredentialCheck()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        visit = _Visit(Facts.of(environ), Request(environ))
        try:
            response = self._answer(visit)
        except HTTPException as error:  # a form that is too large or can't be read
            response = _plain(error.code or 400, error.name)
        return response(environ, start_response)

    def _answer(self, visit: _Visit) -> Response:
        facts = visit.facts
        session, stale = self._session(visit)
        looking = self._looking(visit, session, lapsed=stale)
        verdict = rules.judge(facts, known=looking is not None)
        if verdict is Verdict.CROSS_SITE:
            return _plain(403, "Refused: this request comes from another site.")
        if verdict is Verdict.METHOD:
            return _plain(405, "Method not allowed")
        kind = rules.kind_of(facts.method, facts.path)
        if kind is Kind.SIGN_IN:
            return self._sign_in(visit, session)
        if kind is Kind.SIGN_OUT:
            return self._sign_out(visit, session)
        if verdict is not Verdict.PASS:
            return self._outside(visit, verdict, Because.IDLE if stale else None)
        if looking is None:  # static
            return Response.from_app(self._application, visit.request.environ)
        response = self._inside(visit, looking, kind)
        if looking.refused:
            response.close()
            verdict = rules.judge(facts, known=False)
            return self._outside(visit, verdict, Because.REFUSED)
        self._renew(visit, looking, kind, response)
        return response

    # --- Who is looking --------------------------------------------------------------------------

    def _session(self, visit: _Visit) -> tuple[Session | None, bool]:
        """The cookie's session if it is good, and whether there was one that is over."""
        sealed = visit.request.cookies.get(visit.jar.session, "")
        session = self._seal.open(sealed) if sealed else None
        if session is None:
            return None, False
        over = not session.alive(self._now_s) or self._ended.has(session, self._now_s)
        return (None, True) if over else (session, False)

    def _looking(self, visit: _Visit, session: Session | None, *, lapsed: bool) -> SignedIn | None:
        """A proxy's word goes first: behind it, it alone knows who asks. Whose own session has
        ``lapsed`` is told so: nobody becomes somebody else without choosing to."""
        bearer = self._bearer(visit)
        if bearer is not None:
            return self._as(visit, bearer, EntryMethod.PROXY)
        if session is not None:
            return self._as(visit, session.credential, EntryMethod.SESSION, session)
        away = lapsed or visit.jar.away in visit.request.cookies
        if not away and rules.opens_demo(visit.facts, local_only=self._access.local_only):
            key = self._access.demo_key()
            return self._as(visit, Credential.key(key), EntryMethod.DEMO) if key else None
        return None

    def _as(
        self,
        visit: _Visit,
        credential: Credential,
        method: EntryMethod,
        session: Session | None = None,
    ) -> SignedIn:
        refused: list[bool] = []
        seen: RequestRecord | None = visit.request.environ.get(REQUEST_RECORD)
        if seen is not None:
            seen.kind = method.value
        client = self._client.as_principal(credential, on_unauthorized=lambda: refused.append(True))
        return SignedIn(client, method, refused, session)

    def _bearer(self, visit: _Visit) -> Credential | None:
        scheme, _, token = visit.request.headers.get("Authorization", "").partition(" ")
        if not self._access.proxy_bearer or scheme.lower() != "bearer" or not token.strip():
            return None
        try:
            return Credential.bearer(token)
        except ValueError:
            return None

    # --- Inside ----------------------------------------------------------------------------------

    def _inside(self, visit: _Visit, looking: SignedIn, kind: Kind) -> Response:
        """An open page's check always asks the service: it is there to be the first to know."""
        if kind is Kind.CHECK:
            self._standing.confirm(looking.client, believed_s=0)
            return Response(status=204, headers={OUTAGE_HEADER: quote(self._access.outage())})
        self._standing.confirm(looking.client)
        if looking.refused:
            return Response(status=401)
        environ = {**visit.request.environ, READER: looking}
        return Response.from_app(self._application, environ)

    def _renew(self, visit: _Visit, looking: SignedIn, kind: Kind, response: Response) -> None:
        """Looking counts as use; an open page's checks don't, nor do its static files."""
        if looking.session is None or kind not in (Kind.PAGE, Kind.DATA):
            return
        renewed = looking.session.renewed(self._now_s)
        if renewed is not None:
            response.headers.add("Set-Cookie", self._cookie(visit, renewed))

    # --- Outside ---------------------------------------------------------------------------------

    def _outside(self, visit: _Visit, verdict: Verdict, because: Because | None) -> Response:
        """To the sign-in page, and back from there; for what a script asked, the way to it. Where a
        session has just ended, the demo fleet doesn't step in for it by itself."""
        if verdict is Verdict.TO_SIGN_IN:
            next_path = rules.asked_address(visit.facts)
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
        if visit.jar.session in visit.request.cookies:
            response.headers.add("Set-Cookie", visit.jar.dropped(visit.jar.session))
            if because is not None:
                self._stay_away(visit, response)
        return response

    def _stay_away(self, visit: _Visit, response: Response) -> None:
        """Until the reader chooses it, the demo fleet doesn't open by itself."""
        if rules.may_open_demo(visit.facts, local_only=self._access.local_only):
            response.headers.add("Set-Cookie", visit.jar.until_closed(visit.jar.away, "1"))

    # --- Sign in, sign out -----------------------------------------------------------------------

    def _sign_in(self, visit: _Visit, session: Session | None) -> Response:
        request = visit.request
        if visit.facts.method != "POST":
            next_path = rules.safe_next(request.args.get("next", ""))
            because = request.args.get("because", "")
            if LINK_TOKEN in request.args and visit.facts.method == "GET":
                return self._by_link(visit, session, request.args[LINK_TOKEN])
            if session is not None and not because:
                return _see(next_path)
            notice = SENTENCES[Because(because)] if because in tuple(Because) else None
            return self._ask(visit, next_path, notice)
        request.max_content_length = request.max_form_memory_size = _LARGEST_FORM
        form = request.form
        next_path = rules.safe_next(form.get("next", ""))
        if form.get("demo") and self._offers_demo(visit):
            response = _see(next_path)
            response.headers.add("Set-Cookie", visit.jar.dropped(visit.jar.away))
            return response
        outcome = self._try(form.get("key", ""), visit.facts.peer)
        if isinstance(outcome, Notice):
            return self._ask(visit, next_path, outcome)
        return self._begin(visit, outcome, next_path)

    def _begin(self, visit: _Visit, credential: Credential, next_path: str) -> Response:
        response = _see(next_path)
        begun = Session.begin(credential, self._now_s)
        response.headers.add("Set-Cookie", self._cookie(visit, begun))
        response.headers.add("Set-Cookie", visit.jar.dropped(visit.jar.away))
        return response

    def _by_link(self, visit: _Visit, session: Session | None, token: str) -> Response:
        """Spends the token and leads to an address without it, good or not. A browser that only
        loads ahead spends nothing. Whoever comes back to a link that signed them in stays in."""
        if visit.facts.prefetch:
            return Response(status=204)
        wait_s = self._attempts.wait_s(visit.facts.peer)
        if wait_s:
            return self._ask(visit, START, too_often(wait_s))
        links, key = self._access.links, self._access.link_key
        if links is not None and key and links.spend(token):
            return self._begin(visit, Credential.key(key), START)
        if session is not None:
            return _see(START)
        self._attempts.failed(visit.facts.peer)
        return _see(rules.sign_in_address(because=Because.LINK))

    def _try(self, pasted: str, address: str) -> Credential | Notice:
        wait_s = self._attempts.wait_s(address)
        if wait_s:
            return too_often(wait_s)
        outcome = check_key(self._client, pasted)
        if isinstance(outcome, Notice) and outcome.status in (401, 403):
            self._attempts.failed(address)
        return outcome

    def _ask(self, visit: _Visit, next_path: str, notice: Notice | None) -> Response:
        html = self._page.html(
            next_path=next_path,
            notice=notice,
            demo=self._offers_demo(visit),
            link=bool(self._access.link_key) and visit.facts.here,
        )
        response = Response(html, status=notice.status if notice else 200, mimetype="text/html")
        if response.status_code == 401:
            response.headers["WWW-Authenticate"] = 'Session realm="weir"'
        return response

    def _offers_demo(self, visit: _Visit) -> bool:
        may = rules.may_open_demo(visit.facts, local_only=self._access.local_only)
        return may and bool(self._access.demo_key())

    def _sign_out(self, visit: _Visit, session: Session | None) -> Response:
        """Ends the session for every copy of its cookie, and keeps the demo from stepping in."""
        if session is not None:
            self._ended.add(session, self._now_s)
        response = _see(rules.sign_in_address(because=Because.SIGNED_OUT))
        response.headers.add("Set-Cookie", visit.jar.dropped(visit.jar.session))
        self._stay_away(visit, response)
        return response

    def _cookie(self, visit: _Visit, session: Session) -> str:
        value = self._seal.close(session)
        return visit.jar.kept(visit.jar.session, value, session.left_s(self._now_s))

    @property
    def _now_s(self) -> int:
        return int(self._clock_s())


@dataclass(frozen=True, slots=True)
class _Visit:
    """A request, with the cookies that suit how it came."""

    facts: Facts
    request: Request

    @property
    def jar(self) -> CookieJar:
        return CookieJar(self.facts.secure, self.request.environ.get(SITE_ROOT, ""))


def _see(where: str) -> Response:
    return Response(status=303, headers={"Location": where})


def _plain(status: int, text: str) -> Response:
    return Response(f"{text}\n", status=status, mimetype="text/plain")
