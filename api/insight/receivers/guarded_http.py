"""HTTP to addresses typed by people: no private addresses, no redirects, bounded time and size.

The host name is resolved when the connection is made, and the connection goes to the address that
was checked. A name that changes in between can't redirect it.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from time import monotonic
from typing import Any, Final

import httpcore

from api.setting_types import Network

DEADLINE_S: Final = 15.0
MOST_BYTES: Final = 2_000
_NAT64: Final = IPv6Network("64:ff9b::/96")


class Refused(Exception):
    """An address that must not be connected to."""


def is_public(text: str, networks: Sequence[Network] = ()) -> bool:
    """Whether an IP address is public, or in one of the allowed networks."""
    address = ip_address(text.partition("%")[0])
    inner = _inner(address)
    if any(
        each.version == net.version and each in net for each in (address, inner) for net in networks
    ):
        return True
    return all(each.is_global and not each.is_multicast for each in (address, inner))


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Returns the IPv4 address that an IPv6 address embeds, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def addresses(host: str, port: int, networks: Sequence[Network]) -> list[str]:
    """Returns the host's addresses that may be connected to. Raises Refused where there are none,
    OSError where the name can't be resolved."""
    resolved = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    good = [each for each in dict.fromkeys(resolved) if is_public(each, networks)]
    if not good:
        raise Refused(f"{host} is a private address. WEIR_ALERT_NETWORKS may allow it.")
    return good


class _Guarded(httpcore.SyncBackend):
    def __init__(self, networks: Sequence[Network], deadline_s: float) -> None:
        super().__init__()
        self._networks, self._deadline_s = networks, deadline_s

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception | None = None
        for address in addresses(host, port, self._networks):
            try:
                left_s = max(0.1, self._deadline_s - monotonic())
                stream = super().connect_tcp(address, port, left_s, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
            else:
                return _Bounded(stream, self._deadline_s)
        raise failed or httpcore.ConnectError("no address")


class _Bounded(httpcore.NetworkStream):
    """One deadline for the whole request, however slowly data arrives."""

    def __init__(self, stream: httpcore.NetworkStream, deadline_s: float) -> None:
        self._stream, self._deadline_s = stream, deadline_s

    def _left_s(self) -> float:
        left_s = self._deadline_s - monotonic()
        if left_s <= 0:
            raise httpcore.ReadTimeout("too slow")
        return left_s

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left_s())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left_s())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._left_s())
        return _Bounded(secured, self._deadline_s)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    networks: Sequence[Network],
    within_s: float = DEADLINE_S,
) -> tuple[int, str]:
    """Returns (status, the beginning of the response). Raises Refused, OSError, or an httpcore
    error."""
    backend = _Guarded(networks, monotonic() + within_s)
    sent_headers = {"Content-Type": "application/json", "User-Agent": "weir", **headers}
    pairs = [(name.encode(), value.encode()) for name, value in sent_headers.items()]
    with (
        httpcore.ConnectionPool(network_backend=backend) as pool,
        pool.stream("POST", url, headers=pairs, content=body) as response,
    ):
        read = b""
        for piece in response.iter_stream():
            read += piece
            if len(read) >= MOST_BYTES:
                break
        return response.status, read[:MOST_BYTES].decode("utf-8", "replace")


def failure(error: Exception) -> str:
    """Describes why a request failed, without its address."""
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, httpcore.TimeoutException | TimeoutError):
        return "No response in time."
    if isinstance(error, socket.gaierror):
        return "The host's name isn't known."
    if isinstance(error, ssl.SSLError) or "SSL" in str(error) or "certificate" in str(error):
        return "The host's TLS certificate isn't valid."
    return "The host can't be reached."


FAILURES: Final = (
    Refused,
    OSError,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    UnicodeError,
)
