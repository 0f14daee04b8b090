"""Who looks at a page: what the sign-in middleware leaves in a request's environment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from api.client import Client

READER: Final = "weir.reader"  # the key in the environment
SIGN_OUT: Final = "/sign-out"


class EntryMethod(StrEnum):
    """What a reader came in by."""

    PROXY = "proxy"
    SESSION = "session"
    DEMO = "demo"  # the demo fleet's key, at this machine
    SIGNED = "signed address"  # of one image: web/images/signed_links.py


@dataclass(frozen=True, slots=True)
class Reader:
    """``client`` asks as them. ``refused`` fills up when the service turns that client's
    credential down."""

    client: Client
    method: EntryMethod
    refused: list[bool]
