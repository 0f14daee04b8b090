"""Finds a request's client address, also behind proxies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final
from urllib.parse import urlsplit

Network = IPv4Network | IPv6Network

# Headers that only proxies add, by their WSGI names: prefixes and suffixes.
_PROXY_STARTS: Final = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED",
    "HTTP_X_REAL_IP",
    "HTTP_TAILSCALE_",
    "HTTP_CDN_LOOP",
)
_PROXY_ENDS: Final = ("_CLIENT_IP", "_CONNECTING_IP")
_OWN_SITE: Final = ("", "same-origin", "none")  # no site: typed in, or a bookmark


def passed_on(environ: Mapping[str, Any]) -> bool:
    """Whether a header shows that a proxy sent the request. A silent proxy can't be detected."""
    # No browser speaks HTTP/1.0; proxies that add no header of their own often do.
    old = environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    return old or any(n.startswith(_PROXY_STARTS) or n.endswith(_PROXY_ENDS) for n in environ)


def from_this_machine(environ: Mapping[str, Any]) -> bool:
    """Whether the request comes from this machine, by one of its own names, without a proxy.
    Checking the name stops DNS rebinding: a foreign host name that resolves to this machine."""
    return (
        is_loopback(environ.get("REMOTE_ADDR", ""))
        and is_loopback(_host_name(environ.get("HTTP_HOST", "")))
        and not passed_on(environ)
    )


def from_another_site(environ: Mapping[str, Any]) -> bool:
    """Whether the headers show that a page of another origin caused the request."""
    if environ.get("HTTP_SEC_FETCH_SITE", "") not in _OWN_SITE:
        return True
    host = environ.get("HTTP_HOST", "").lower()
    senders = (environ.get(name, "") for name in ("HTTP_ORIGIN", "HTTP_REFERER"))
    return any(address and _authority(address) != host for address in senders)


def is_loopback(name: str) -> bool:
    """Whether an address, or a host name without a port, is loopback."""
    if name.lower() == "localhost":
        return True
    address = _address(name)
    return address is not None and address.is_loopback


def _host_name(host: str) -> str:
    """A Host header without its port; "" where it is malformed."""
    if any(sign in host for sign in "@/\\?#"):
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _authority(address: str) -> str:
    """Returns host and port of an origin or URL, as in a Host header; "" where it has none."""
    try:
        return urlsplit(address.lower()).netloc
    except ValueError:
        return ""


def client_address(environ: Mapping[str, Any], trusted: Sequence[Network]) -> str:
    """The address nearest to the client that a ``trusted`` proxy reports; the peer's own if the
    peer isn't trusted. Entries further left in X-Forwarded-For may be forged by the client."""
    address = environ.get("REMOTE_ADDR", "")
    forwarded_for = environ.get("HTTP_X_FORWARDED_FOR", "")
    for earlier in reversed([part.strip() for part in forwarded_for.split(",")]):
        if not _is_of(address, trusted) or _address(earlier) is None:
            break
        address = earlier
    return address


def is_secure(environ: Mapping[str, Any], trusted: Sequence[Network]) -> bool:
    """Whether the client uses TLS, with us or with a trusted proxy."""
    if environ.get("wsgi.url_scheme") == "https":
        return True
    scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
    return scheme == "https" and _is_of(environ.get("REMOTE_ADDR", ""), trusted)


def _is_of(address: str, networks: Sequence[Network]) -> bool:
    if not networks:
        return False
    parsed = _address(address)
    return parsed is not None and any(parsed in network for network in networks)


def _address(text: str) -> Any:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
