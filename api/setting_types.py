"""Parses the text of each kind of setting. A ValueError says what the text must be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from api.catalog import UUID_FORM

MIN_SECRET_BYTES = 32
MIN_TOKEN_CHARACTERS: Final = 16
LOCAL_ISSUER: Final = "weir"  # of the bearer tokens signed with Weir's own secret

_SITE_PATH: Final = re.compile(r"(/[A-Za-z0-9._~-]+)*", re.ASCII)

Network = IPv4Network | IPv6Network


class Shard(NamedTuple):
    """Part ``number`` of ``of``, counted from 1."""

    number: int
    of: int


class Address(NamedTuple):
    """An address to listen on."""

    host: str
    port: int


def text(value: str) -> str:
    return value


def whole(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not (value.isascii() and value.isdigit() and minimum <= int(value) <= maximum):
            raise ValueError(f"must be a whole number from {minimum} to {maximum}")
        return int(value)

    return parse


def number(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("must be a number, 0 or more")
    return number


def database(value: str) -> str:
    if value.startswith("sqlite:///") and len(value) > len("sqlite:///"):
        return value
    if value.startswith(("postgresql://", "postgres://")):
        parts = urlsplit(value)
        if parts.hostname or parse_qs(parts.query).get("host"):  # the latter is a socket's folder
            return value
    raise ValueError("must be sqlite:///path or postgresql://user@host/name")


def read_database(value: str) -> str:
    if not value:
        return value
    if value.startswith("sqlite:"):
        raise ValueError("must be a postgresql:// URL: a file has no standby")
    return database(value)


def secret(value: str) -> str:
    if value and len(value.encode()) < MIN_SECRET_BYTES:
        raise ValueError(f"must have at least {MIN_SECRET_BYTES} bytes")
    return value


def token(value: str) -> str:
    if value and not re.fullmatch(rf"[\x21-\x7e]{{{MIN_TOKEN_CHARACTERS},}}", value):
        raise ValueError(f"must have at least {MIN_TOKEN_CHARACTERS} ASCII characters, no space")
    return value


def networks(value: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
    except ValueError:
        raise ValueError(
            "must be addresses or networks such as 10.0.0.0/8, separated by commas"
        ) from None


def url(value: str) -> str:
    if value and (urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname):
        raise ValueError("must be an http:// or https:// URL")
    return value.rstrip("/")


def site(value: str) -> str:
    """Parses the address at which the site starts: a host's, or a path below it."""
    parts = urlsplit(value)
    if value and (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or "@" in parts.netloc
        or not _SITE_PATH.fullmatch(parts.path.rstrip("/"))
        or value.rstrip("/") != f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    ):
        raise ValueError(
            "must be an address such as https://weir.example or https://host.example/weir"
        )
    return value.rstrip("/")


def broker(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("mqtt", "mqtts") or not parts.hostname):
        raise ValueError("must be mqtt://user@host:port or mqtts://user@host:port")
    if parts.password is not None:
        raise ValueError("must not hold the password: WEIR_MQTT_PASSWORD_FILE names its file")
    return value


def address(value: str) -> Address | None:
    if not value:
        return None
    try:
        parts = urlsplit(f"//{value}")
        host, port = parts.hostname, parts.port
    except ValueError:
        parts = host = port = None
    if (
        parts is None
        or not host
        or port is None
        or parts.netloc != value
        or parts.username is not None
    ):
        raise ValueError("must be an address and a port, such as 0.0.0.0:1883 or [::]:8883")
    return Address(host, port)


def mail_server(value: str) -> str:
    if not value:
        return value
    parts = urlsplit(value)
    bare = not (parts.path.strip("/") or parts.query or parts.fragment or parts.password)
    if parts.scheme in ("smtp", "smtps") and parts.hostname and bare:
        return value
    raise ValueError("must be smtp://user@host:port or smtps://user@host:port, without a password")


def mail_address(value: str) -> str:
    if value and not re.fullmatch(r"[^\s@<>,;:]{1,64}@[A-Za-z0-9.-]{1,190}", value):
        raise ValueError("must be an e-mail address")
    return value


def redis(value: str) -> str:
    parts = urlsplit(value)
    if value and not (
        (parts.scheme in ("redis", "rediss") and parts.hostname)
        or (parts.scheme == "unix" and parts.path)
    ):
        raise ValueError("must be redis://host:port/0, rediss://… or unix:///path")
    return value


def client_id(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", value):
        raise ValueError("must be 1 to 64 letters, digits, dots, dashes and underscores")
    return value


def share(value: str) -> str:
    return client_id(value) if value else value


def shard(value: str) -> Shard | None:
    if not value:
        return None
    match = re.fullmatch(r"([1-9][0-9]?)/([1-9][0-9]?)", value)
    shard = Shard(*map(int, match.groups())) if match else None
    if shard is None or shard.number > shard.of:
        raise ValueError("must be a shard such as 1/3; at most 99 shards")
    return shard


def key(value: str) -> str:
    if value and not UUID_FORM.fullmatch(value):
        raise ValueError("must be a key: a UUID, without a Key ID and a dot before it")
    return value


def issuer(value: str) -> str:
    if value == LOCAL_ISSUER:
        raise ValueError(f"must not be {LOCAL_ISSUER}: that is the issuer of Weir's own tokens")
    return value


def key_set(value: str) -> str:
    if not value:
        return value
    if "://" in value:
        parts = urlsplit(value)
        if parts.hostname and (
            parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname))
        ):
            return value
        raise ValueError("must be an https:// URL (http:// on loopback only) or a file's path")
    try:
        keys = json.loads(Path(value).read_bytes())["keys"]
    except OSError as error:
        raise ValueError(f"is a file that can't be read: {error.strerror or error}") from None
    except (ValueError, RecursionError, LookupError, TypeError):
        keys = None
    if not isinstance(keys, list):
        raise ValueError("is a file without a JWK set")
    return value


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def origins(value: str) -> tuple[str, ...]:
    origins = tuple(part.strip() for part in value.split(",") if part.strip())
    for origin in origins:
        parts = urlsplit(origin)
        bare = f"{parts.scheme}://{parts.netloc}"
        if parts.scheme not in ("http", "https") or not parts.netloc or origin != bare:
            raise ValueError("must be origins such as https://portal.example, separated by commas")
    return origins


def truth(value: str) -> bool:
    if value not in ("true", "false"):
        raise ValueError("must be true or false")
    return value == "true"


def algorithm(value: str) -> str:
    if value not in ("RS256", "ES256"):
        raise ValueError("must be RS256 or ES256")
    return value
