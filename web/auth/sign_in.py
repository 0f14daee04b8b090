"""The sign-in page, plain HTML that needs no script, and the limit of failed attempts."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from threading import Lock
from time import monotonic
from typing import Final

from api.catalog import UUID_FORM
from api.client import Client, Credential
from api.errors import Forbidden, TooManyRequests, Unauthorized, WeirError
from web.auth.rules import SIGN_IN, START, Because
from web.auth.session_cookie import Shared

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>Sign in · Weir</title>
    {head}
  </head>
  <body>
    <header class="bar">
      <a class="brand" href="{start}"><span class="mark" aria-hidden="true"></span>Weir</a>
      <div class="tools"><button id="theme-switch" type="button" class="button icon"
        title="Light or dark" aria-label="Switch between light and dark">◐</button></div>
    </header>
    <main class="sign-in">
      <h1>Sign in</h1>
      {first_run}
      {notice}
      <form class="card" method="post" action="{action}">
        <input type="hidden" name="next" value="{next}">
        <input type="text" name="username" value="service key" autocomplete="username" hidden>
        <label for="key">Service API key</label>
        <input id="key" name="key" type="password" required autofocus maxlength="200"
          autocomplete="current-password" autocapitalize="none" spellcheck="false"
          aria-describedby="{described}"{invalid}>
        <p id="key-help" class="quiet">As shown when the key was created. It is stored encrypted:
          no page in this browser can read it.</p>
        <button type="submit" class="button primary">Sign in</button>
      </form>
      {link}
      {demo}
    </main>
  </body>
</html>
"""
_DEMO: Final = """<form class="own" method="post" action="{action}">
        <input type="hidden" name="next" value="{next}">
        <input type="hidden" name="demo" value="1">
        <button type="submit" class="button">Continue with the demo fleet</button>
      </form>"""
_LINK: Final = """<p class="quiet">Or open the sign-in link that <code>weir serve</code> printed.
        It works once; <code>weir sign-in link</code> prints a new one.</p>"""

_CREATE: Final = """<form class="first-demo" method="post" action="{action}">
          <p>See Weir with sixty simulated meters, which you can remove at any time.</p>
          <input type="hidden" name="demo" value="create">
          <button type="submit" class="button primary">Try the demo</button>
        </form>"""
_RUN: Final = "<p>To see Weir with a simulated fleet, run <code>weir demo</code>.</p>"
_FIRST_RUN: Final = """<section class="card first-run">
        <h2>Nothing is stored here yet</h2>
        {create}
        <p>To begin with your own meters, create an organization and a key to sign in with:</p>
        <pre>weir orgs create &quot;Your organization&quot;
weir keys create --org ID --role administrator --name &quot;Your name&quot;</pre>
      </section>"""


@dataclass(frozen=True, slots=True)
class SignInPage:
    """``head`` is the HTML of the page's styles and script."""

    head: str
    root: str = ""  # the site's path

    def html(
        self,
        *,
        next_path: str = START,
        notice: Notice | None = None,
        demo: bool = False,
        link: bool = False,
        first_run: bool = False,
        create_demo: bool = False,
    ) -> str:
        """The page. Never contains the typed key, which may be valid for another system. ``demo``:
        offer the demo fleet. ``link``: explain how to get a sign-in link.
        ``first_run``: explain how to begin, since no key exists yet. ``create_demo``: offer to
        create the demo fleet."""
        alarming = notice is not None and notice.alarming
        values = {"action": self.root + SIGN_IN, "next": escape(next_path)}
        return _PAGE.format(
            **values,
            start=self.root + START,
            head=self.head,
            notice=_notice(notice),
            described="notice key-help" if alarming else "key-help",
            invalid=' aria-invalid="true"' if notice and notice.status in (400, 401, 403) else "",
            demo=_DEMO.format(**values) if demo else "",
            link=_LINK if link else "",
            first_run=_first_run(_CREATE.format(**values) if create_demo else _RUN)
            if first_run or create_demo
            else "",
        )


def _first_run(create: str) -> str:
    return _FIRST_RUN.replace("{create}", create)


def _notice(notice: Notice | None) -> str:
    if notice is None:
        return ""
    kind = "sign-in-status bad" if notice.alarming else "sign-in-status"
    role = "alert" if notice.alarming else "status"
    return f'<p id="notice" class="{kind}" role="{role}">{escape(notice.text)}</p>'


# --- A pasted key, tried on the service ----------------------------------------------------------

LONGEST_KEY: Final = 200


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence on the sign-in page. ``status``: of the response. ``alarming``: it is an error."""

    status: int
    text: str
    alarming: bool = True


NOTHING: Final = Notice(400, "Paste a service API key.")
KEY_ID: Final = Notice(
    403, "This is a Key ID, or a Key ID and the key. Paste only the part after the dot."
)
NOT_FOR_READING: Final = Notice(403, "This key can only send readings. Paste a reading key.")
UNKNOWN: Final = Notice(401, "This key is unknown, has expired or was revoked.")
UNREACHABLE: Final = Notice(503, "The service can't be reached now. Try again in a moment.")
BUSY: Final = Notice(429, "Too many requests. Try again in a moment.")
SENTENCES: Final = {
    Because.REFUSED: Notice(200, "You were signed out: your key was revoked or has expired."),
    Because.IDLE: Notice(200, "Your session has ended. Sign in again."),
    Because.LINK: Notice(
        200,
        "This sign-in link was used before or has expired. Run “weir sign-in link” for a new one.",
    ),
    Because.SIGNED_OUT: Notice(200, "You are signed out.", alarming=False),
}


def too_often(wait_s: int) -> Notice:
    return Notice(429, f"Too many invalid keys. Try again in {wait_s} s.")


def check_key(client: Client, pasted: str) -> Credential | Notice:
    """The credential of a key that the service accepts, else the notice for the reader."""
    text = pasted.strip()
    if not text:
        return NOTHING
    try:
        credential = Credential.key(text[: LONGEST_KEY + 1])
    except ValueError:
        return UNKNOWN
    if len(text) > LONGEST_KEY:
        return UNKNOWN
    problem = _problem(client.as_principal(credential))
    if problem is KEY_ID and UUID_FORM.fullmatch(text):
        return NOT_FOR_READING
    return problem or credential


def _problem(client: Client) -> Notice | None:
    try:
        client.organizations()
    except Unauthorized:
        return UNKNOWN
    except Forbidden:
        return KEY_ID
    except TooManyRequests:
        return BUSY
    except WeirError:
        return UNREACHABLE
    return None


# --- Limit of failed attempts ---------------------------------------------------------------------


BURST: Final = 20
SECONDS_EACH: Final = 2.0  # until one more attempt is allowed
_MOST_ADDRESSES: Final = 10_000


class Throttle:
    """Failed attempts by address, which expire one by one. Counted in this process and, with
    ``shared``, across hosts: the higher count applies."""

    def __init__(
        self, clock_s: Callable[[], float] = monotonic, shared: Shared | None = None
    ) -> None:
        self._clock_s, self._shared = clock_s, shared
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def wait_s(self, address: str) -> int:
        """Whole seconds until the address may try again; 0: now."""
        excess = self._level(address) - (BURST - 1)
        everywhere_s = self._everywhere_s(address, take=False)
        return max(0, math.ceil(excess * SECONDS_EACH), math.ceil(everywhere_s))

    def _everywhere_s(self, address: str, *, take: bool) -> float:
        if self._shared is None:
            return 0.0
        bucket = f"sign-in:{address}"
        return self._shared.wait_s(bucket, 1 / SECONDS_EACH, BURST, take=take) or 0.0

    def failed(self, address: str) -> None:
        self._everywhere_s(address, take=True)
        with self._lock:
            self._failures[address] = (self._level(address) + 1, self._clock_s())
            self._failures.move_to_end(address)
            if len(self._failures) > _MOST_ADDRESSES:
                self._failures.popitem(last=False)

    def _level(self, address: str) -> float:
        level, at_s = self._failures.get(address, (0.0, 0.0))
        return max(0.0, level - (self._clock_s() - at_s) / SECONDS_EACH)


# --- whether the service still accepts a credential -----------------------------------------------


TRUSTED_S: Final = 3  # with the service's own 5 s, a revoked key sees nothing after 10
OUTAGE_PAUSE_S: Final = 10  # after the service didn't respond
_MOST: Final = 10_000


class CredentialCheck:
    """When each credential was last accepted, or at least not refused. Thread-safe."""

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        self._clock_s = clock_s
        self._confirmed_s: OrderedDict[str, float] = OrderedDict()
        self._paused_until_s = float("-inf")
        self._lock = Lock()

    def confirm(self, client: Client, *, trusted_s: float = TRUSTED_S) -> None:
        """Ask the service whether it accepts the credential, unless it did within ``trusted_s``.
        The client handles a refusal (``on_unauthorized``); without an answer nobody is refused."""
        now_s = self._clock_s()
        confirmed_s = self._confirmed_s.get(client.principal, float("-inf"))
        if now_s - confirmed_s < trusted_s or now_s < self._paused_until_s:
            return
        try:
            client.organizations()
        except Unauthorized:
            self._confirmed_s.pop(client.principal, None)
        except (Forbidden, TooManyRequests):  # accepted, but limited
            self._remember(client.principal, now_s)
        except WeirError:
            self._paused_until_s = now_s + OUTAGE_PAUSE_S
        else:
            self._remember(client.principal, now_s)

    def _remember(self, principal: str, now_s: float) -> None:
        with self._lock:
            self._confirmed_s[principal] = now_s
            self._confirmed_s.move_to_end(principal)
            if len(self._confirmed_s) > _MOST:
                self._confirmed_s.popitem(last=False)
