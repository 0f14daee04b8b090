"""Where a request came from, behind proxies too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final

Network = IPv4Network | IPv6Network

# A request that says that it was passed on came from further away than its peer address.
FORWARDED: Final = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_SERVER",
    "HTTP_X_REAL_IP",
)


def passed_on(environ: Mapping[str, Any]) -> bool:
    # No browser speaks HTTP/1.0; proxies that add no header of their own often do.
    return environ.get("SERVER_PROTOCOL") == "HTTP/1.0" or any(
        name in environ for name in FORWARDED
    )


def is_loopback(address: str) -> bool:
    found = _address(address)
    return found is not None and found.is_loopback


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
