"""Origins that may frame an embed: exact, and safe inside a Content-Security-Policy."""

from __future__ import annotations

import re
from ipaddress import IPv4Address
from typing import Final
from urllib.parse import urlsplit

_NAME: Final = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?")
_USUAL_PORTS: Final = {"https": 443, "http": 80}
_LOOPBACK: Final = ("localhost", "127.0.0.1")


def origin(text: str) -> str:
    """Returns the origin as a browser writes it: ``https://host[:port]`` in lower case, without the
    default port.

    ``http`` is allowed for loopback only. Raises ValueError for anything else, including wildcards
    and paths.
    """
    scheme, host, port, bare = _parts(text.strip())
    if scheme not in _USUAL_PORTS or not host or not bare:
        raise ValueError(f"{_shown(text)} is not an origin such as https://portal.example")
    if not (_NAME.fullmatch(host) and len(host) <= 253):
        raise ValueError(
            f"{_shown(text)}: the host must be a plain name (xn--… for other scripts) or an"
            " IPv4 address, without wildcards"
        )
    if scheme == "http" and host not in _LOOPBACK:
        raise ValueError(f"{_shown(text)}: http is for localhost alone; elsewhere use https")
    if host.replace(".", "").isdigit():
        _address(text, host)
    return (
        f"{scheme}://{host}"
        if port in (None, _USUAL_PORTS[scheme])
        else f"{scheme}://{host}:{port}"
    )


def _parts(text: str) -> tuple[str, str, int | None, bool]:
    """Returns scheme, host and port, and whether nothing else follows except a slash."""
    try:
        split = urlsplit(text)
        scheme, host, port = split.scheme.lower(), split.hostname or "", split.port
    except ValueError:
        return "", "", None, False
    rest = split.path.removeprefix("/") + split.query + split.fragment
    bare = not rest and "@" not in split.netloc and not text.endswith(("?", "#"))
    plain = text.isprintable()  # the parser silently drops anything else
    return scheme, host, port, bare and plain and port != 0


def _address(text: str, host: str) -> None:
    try:
        IPv4Address(host)
    except ValueError:
        raise ValueError(f"{_shown(text)}: the host must be a name or an address") from None


def _shown(text: str) -> str:
    return repr(text[:80])
