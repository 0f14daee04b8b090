"""Sends to any service that Apprise supports, if Apprise is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from api.insight.receivers.email import plain_text
from api.insight.receivers.kind import Answer, Field, Kind, Means, Message, headline_of, subject_of
from api.settings import Settings

# Only in these addresses may the user choose a host; all others lead to their own service.
_SELF_HOSTED: Final = 443


def send(message: Message, means: Means) -> Answer:
    from api.insight.receivers.guarded_http import Refused, addresses

    library = _library()
    if library is None:
        return Answer(False, MISSING, hopeless=True)
    url = message.secret["url"]
    try:
        addresses(urlsplit(url).hostname or "", _SELF_HOSTED, means.networks)
    except Refused as error:
        return Answer(False, str(error))
    except (OSError, UnicodeError):
        pass  # a token, not a host: the service's own address is fixed
    sender = library.Apprise()
    if not sender.add(url):
        return Answer(False, "Apprise can't read this address.", hopeless=True)
    title = f"{headline_of(message)}: {subject_of(message)}"
    if sender.notify(title=title, body=plain_text(message, message.report_address(means))):
        return Answer(True, "Apprise sent it.")
    return Answer(False, "The service didn't take it.")


def check(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    url = body.get("url")
    if not isinstance(url, str) or "://" not in url or len(url) > 2_000:
        raise ValueError("url must be an Apprise address, such as slack://…")
    library = _library()
    if library is None:
        raise ValueError(f"can't be made: {MISSING}")
    if not library.Apprise().add(url):
        raise ValueError("url isn't an address that Apprise knows")
    return {"shown": f"{url.partition('://')[0]}://…"}, {"url": url}


MISSING: Final = "Apprise is not installed (pip install apprise)."


def missing(settings: Settings) -> str:
    return "" if importlib.util.find_spec("apprise") else MISSING


def _library() -> Any:
    try:
        return importlib.import_module("apprise")
    except ImportError:
        return None


KIND: Final = Kind(
    name="apprise",
    label="Apprise",
    fields=(Field("url", "Address", "slack://…", secret=True),),
    check=check,
    send=send,
    missing=missing,
)
