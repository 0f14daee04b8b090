"""Where a request came from, behind proxies too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final
from urllib.parse import urlsplit

Network = IPv4Network | IPv6Network

# Headers that only proxies add, as WSGI names them: whole names' beginnings and ends.
_PROXY_STARTS: Final = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED",
    "HTTP_X_REAL_IP",
    "HTTP_TAILSCALE_",
    "HTTP_CDN_LOOP",
)
_PROXY_ENDS: Final = ("_CLIENT_IP", "_CONNECTING_IP")
_OWN_SITE: Final = ("", "same-origin", "none")  # none: typed in, or a bookmark


def passed_on(environ: Mapping[str, Any]) -> bool:
    """Whether the request says that a proxy sent it. One that says nothing can't be noticed."""
    # No browser speaks HTTP/1.0; proxies that add no header of their own often do.
    old = environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    return old or any(n.startswith(_PROXY_STARTS) or n.endswith(_PROXY_ENDS) for n in environ)


def from_this_machine(environ: Mapping[str, Any]) -> bool:
    """Whether somebody at this machine asks, by one of its own names, with no proxy in between.
    The name keeps out a foreign page whose host name was made to resolve to this machine."""
    return (
        is_loopback(environ.get("REMOTE_ADDR", ""))
        and is_loopback(_host_name(environ.get("HTTP_HOST", "")))
        and not passed_on(environ)
    )


def from_another_site(environ: Mapping[str, Any]) -> bool:
    """Whether a browser says that a page of another origin caused the request."""
    if environ.get("HTTP_SEC_FETCH_SITE", "") not in _OWN_SITE:
        return True
    host = environ.get("HTTP_HOST", "").lower()
    said = (environ.get(name, "") for name in ("HTTP_ORIGIN", "HTTP_REFERER"))
    return any(address and _authority(address) != host for address in said)


def is_loopback(name: str) -> bool:
    """Whether that address, or host name without a port, is this machine's loopback."""
    if name.lower() == "localhost":
        return True
    found = _address(name)
    return found is not None and found.is_loopback


def _host_name(host: str) -> str:
    """A Host header without its port; "" where it is malformed."""
    if any(sign in host for sign in "@/\\?#"):
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _authority(address: str) -> str:
    """Host and port of an origin or URL, as a Host header writes them; "" where it has none."""
    try:
        return urlsplit(address.lower()).netloc
    except ValueError:
        return ""


def client_address(environ: Mapping[str, Any], trusted: Sequence[Network]) -> str:
    """The address nearest to the client that a ``trusted`` proxy vouches for; the peer's own where
    it isn't one. What the client itself wrote into X-Forwarded-For stands further left."""
    address = environ.get("REMOTE_ADDR", "")
    said = environ.get("HTTP_X_FORWARDED_FOR", "")
    for earlier in reversed([part.strip() for part in said.split(",")]):
        if not _is_of(address, trusted) or _address(earlier) is None:
            break
        address = earlier
    return address


def is_secure(environ: Mapping[str, Any], trusted: Sequence[Network]) -> bool:
    """Whether the client speaks TLS with us, or with the proxy that says so."""
    if environ.get("wsgi.url_scheme") == "https":
        return True
    said = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
    return said == "https" and _is_of(environ.get("REMOTE_ADDR", ""), trusted)


def _is_of(address: str, networks: Sequence[Network]) -> bool:
    if not networks:
        return False
    found = _address(address)
    return found is not None and any(found in network for network in networks)


def _address(text: str) -> Any:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
