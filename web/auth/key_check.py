"""A pasted key, tried on the service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from api.client import Client, Credential
from api.errors import Forbidden, TooManyRequests, Unauthorized, WeirError
from web.auth.rules import Because

LONGEST_KEY: Final = 200
_KEY_FORM: Final = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence on the sign-in page. ``status`` is the answer's; ``alarming`` if it went wrong."""

    status: int
    text: str
    alarming: bool = True


NOTHING: Final = Said(400, "Paste a service API key.")
KEY_ID: Final = Said(
    403, "This is a Key ID, or a Key ID and the key. Paste only the part after the dot."
)
NOT_FOR_READING: Final = Said(403, "This key only sends readings. Paste one for reading.")
UNKNOWN: Final = Said(401, "This key is unknown, has expired or was revoked.")
UNREACHABLE: Final = Said(503, "The service can't be reached now. Try again in a moment.")
BUSY: Final = Said(429, "The service has been asked too often. Try again in a moment.")
SENTENCES: Final = {
    Because.REFUSED: Said(200, "You were signed out: your key was revoked or has expired."),
    Because.IDLE: Said(200, "You were signed out, since your session has ended. Sign in again."),
    Because.LINK: Said(
        200,
        "This sign-in link was used before or has expired. Run “flask sign-in link” for a new one.",
    ),
    Because.SIGNED_OUT: Said(200, "You are signed out.", alarming=False),
}


def too_often(wait_s: int) -> Said:
    return Said(429, f"Too many keys that didn't work. Try again in {wait_s} s.")


def check_key(client: Client, pasted: str) -> Credential | Said:
    """The credential of a key that the service accepts, else what to say about it."""
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
    if problem is KEY_ID and _KEY_FORM.fullmatch(text):
        return NOT_FOR_READING
    return problem or credential


def _problem(client: Client) -> Said | None:
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
