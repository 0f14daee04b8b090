"""Settings, read once from the environment. The table below is the documentation's source."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api import setting_types as types
from api.errors import ConfigurationError
from api.setting_types import LOCAL_ISSUER as LOCAL_ISSUER
from api.setting_types import MIN_SECRET_BYTES, Network, Shard


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: the environment's name, its default as text, how it is read, what it means."""

    name: str
    default: str
    parse: Callable[[str], Any]
    meaning: str

    @property
    def attribute(self) -> str:
        return self.name.removeprefix("WEIR_").lower()


TABLE: tuple[Setting, ...] = (
    Setting(
        "WEIR_DATABASE",
        "sqlite:///instance/weir.sqlite",
        types.database,
        "Where readings are kept: `sqlite:///path` or `postgresql://user:password@host/name`.",
    ),
    Setting(
        "WEIR_DATABASE_READ",
        "",
        types.read_database,
        "Where web workers read, if elsewhere: a standby of the Postgres in `WEIR_DATABASE`, best"
        " with the primary behind it:"
        " `postgresql://user@standby,primary/name?target_session_attrs=prefer-standby`.",
    ),
    Setting(
        "WEIR_RAW_MONTHS",
        "0",
        types.whole(0, 1200),
        "Whole months of raw readings that `flask readings prune` keeps; rollups stay for good."
        " 0: none are let go unless it is told how many to keep.",
    ),
    Setting(
        "WEIR_SECRET_KEY",
        "",
        types.secret,
        "Signs bearer tokens and sessions; at least 32 bytes. Unset: made once and kept in"
        " `instance/secret_key`, readable by its owner only.",
    ),
    Setting("WEIR_HOST", "127.0.0.1", types.text, "The address that `flask serve` listens on."),
    Setting("WEIR_PORT", "8050", types.whole(0, 65_535), "The port that `flask serve` listens on."),
    Setting(
        "WEIR_PUBLIC_URL",
        "",
        types.site,
        "Where readers reach this site: `https://weir.example`. It stands in what is handed on:"
        " embeds' snippets, signed links of images. Unset: as a page was asked for, and for"
        " commands `http://WEIR_HOST:WEIR_PORT`.",
    ),
    Setting("WEIR_WORKERS", "2", types.whole(1, 64), "Web worker processes of `flask serve`."),
    Setting(
        "WEIR_API_URL",
        "",
        types.url,
        "A remote server of the interface for the dashboard to show; then there is no store and no"
        " service here: `/management` answers 404, `/healthz` still does. Unset: this one.",
    ),
    Setting(
        "WEIR_API_KEY",
        "",
        types.key,
        "The service-api-key with which the dashboard signs in by itself, for readers at this"
        " machine and only while listening on loopback. Unset: the demo fleet's, if there.",
    ),
    Setting(
        "WEIR_PROXY_BEARER",
        "false",
        types.truth,
        "`true`: a proxy in front of the dashboard says who asks, by `Authorization: Bearer …`.",
    ),
    Setting(
        "WEIR_CORS_ORIGINS",
        "",
        types.origins,
        "Origins whose pages may call the interface from a browser, separated by commas.",
    ),
    Setting(
        "WEIR_RATE_LIMIT",
        "1000",
        types.number,
        "Requests per second that one key may make over the network, ten times that in a burst;"
        " 0 switches the limits off.",
    ),
    Setting(
        "WEIR_JWT_ISSUER",
        "",
        types.issuer,
        "`iss` of an external issuer of bearer tokens; not `weir`, which is Weir's own.",
    ),
    Setting(
        "WEIR_JWT_AUDIENCE", "weir", types.text, "`aud` that the external issuer's tokens carry."
    ),
    Setting(
        "WEIR_JWT_JWKS",
        "",
        types.key_set,
        "The external issuer's key set: an https:// URL (http:// on loopback only) or a file's"
        " path.",
    ),
    Setting(
        "WEIR_JWT_ALGORITHM",
        "RS256",
        types.algorithm,
        "The one algorithm accepted from the external issuer: RS256 or ES256.",
    ),
    Setting(
        "WEIR_MQTT_URL",
        "",
        types.broker,
        "The MQTT 5 broker for readings in and out: `mqtt://user@host:port`, or `mqtts://…` with"
        " TLS. Unset: none.",
    ),
    Setting(
        "WEIR_MQTT_PASSWORD_FILE",
        "",
        types.text,
        "A file with nothing but the broker user's password.",
    ),
    Setting(
        "WEIR_MQTT_CA_FILE",
        "",
        types.text,
        "The certificates that `mqtts://` trusts, a PEM file; unset: the system's.",
    ),
    Setting(
        "WEIR_MQTT_CLIENT_ID",
        "weir",
        types.client_id,
        "Names our session with the broker, which keeps for it what comes while we are away:"
        " another one for each installation, and never changed.",
    ),
    Setting(
        "WEIR_MQTT_SHARD",
        "",
        types.shard,
        "Of several ingesters on one Postgres, which this is, such as `1/3`: it takes the devices"
        " whose hash is its own. Unset: all of them.",
    ),
    Setting(
        "WEIR_MQTT_SHARE",
        "",
        types.share,
        "A group of ingesters on one Postgres among which the broker divides messages as it likes,"
        " each with a `WEIR_MQTT_CLIENT_ID` of its own. Unset: none.",
    ),
    Setting(
        "WEIR_MQTT_MAPPING",
        "",
        types.text,
        "A TOML or JSON file of LoRaWAN network servers' topics and of each meter model's fields.",
    ),
    Setting(
        "WEIR_MQTT_PUBLISH",
        "true",
        types.truth,
        "`true`: each stored reading is published to the broker as well.",
    ),
    Setting(
        "WEIR_REDIS_URL",
        "",
        types.redis,
        "A Redis for several hosts: sessions that were signed out, failed sign-ins and rate limits"
        " hold on all of them. Unset, or while it is away: on each by itself.",
    ),
    Setting(
        "WEIR_REQUEST_LOG",
        "",
        types.text,
        "A line of JSON for each request: `stderr`, or a file's path. Unset: none.",
    ),
    Setting(
        "WEIR_METRICS_TOKEN",
        "",
        types.token,
        "Opens `/metrics` to whoever sends it as `Authorization: Bearer …`. Unset: only requests"
        " from this machine that no proxy passed on may see it.",
    ),
    Setting(
        "WEIR_TRUSTED_PROXIES",
        "",
        types.networks,
        "Addresses or networks of the proxies in front, separated by commas: who asks, and whether"
        " by TLS, is what they say in `X-Forwarded-For` and `X-Forwarded-Proto`. Unset: nobody is"
        " believed, the peer's address counts.",
    ),
    Setting(
        "WEIR_HSTS_S",
        "0",
        types.whole(0, 63_072_000),
        "Seconds for which browsers are to use this site by TLS alone (`Strict-Transport-Security`,"
        " on answers that went out by TLS). 0: they aren't told.",
    ),
    Setting(
        "WEIR_DISK_MIN_MB",
        "1024",
        types.whole(0, 100_000_000),
        "With less free space than so many megabytes beside the store, `/readyz` says degraded.",
    ),
    Setting(
        "WEIR_INSTANCE",
        "instance",
        types.text,
        "The folder for what Weir makes itself: the secret key, the demo fleet's key, sessions that"
        " were signed out, the writer's socket, when MQTT messages came that don't say of when they"
        " are.",
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, parsed. Made by `from_env`; tests make their own with `from_env({...})`."""

    database: str
    database_read: str
    raw_months: int
    secret_key: str
    host: str
    port: int
    public_url: str
    workers: int
    api_url: str
    api_key: str
    proxy_bearer: bool
    cors_origins: tuple[str, ...]
    rate_limit: float
    jwt_issuer: str
    jwt_audience: str
    jwt_jwks: str
    jwt_algorithm: str
    mqtt_url: str
    mqtt_password_file: str
    mqtt_ca_file: str
    mqtt_client_id: str
    mqtt_shard: Shard | None
    mqtt_share: str
    mqtt_mapping: str
    mqtt_publish: bool
    redis_url: str
    request_log: str
    metrics_token: str
    trusted_proxies: tuple[Network, ...]
    hsts_s: int
    disk_min_mb: int
    instance: str

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Settings:
        """Raises ConfigurationError, one line naming the setting, at the first bad value."""
        values: dict[str, Any] = {}
        for setting in TABLE:
            try:
                values[setting.attribute] = setting.parse(
                    environ.get(setting.name) or setting.default
                )
            except ValueError as error:
                raise ConfigurationError(f"{setting.name} {error}") from None
        return cls(**values)

    def __post_init__(self) -> None:
        """ConfigurationError where settings that are fine alone don't go together."""
        if self.database.startswith("sqlite:"):
            if self.database_read:
                raise ConfigurationError("WEIR_DATABASE_READ goes with a WEIR_DATABASE on Postgres")
            if self.mqtt_shard or self.mqtt_share:
                raise ConfigurationError(
                    f"WEIR_MQTT_{'SHARD' if self.mqtt_shard else 'SHARE'} goes with a"
                    " WEIR_DATABASE on Postgres: an embedded store has one writer"
                )
        if self.mqtt_shard and self.mqtt_share:  # a message would often reach only a wrong one
            raise ConfigurationError("WEIR_MQTT_SHARD and WEIR_MQTT_SHARE exclude each other")
        if bool(self.jwt_issuer) != bool(self.jwt_jwks):
            raise ConfigurationError("WEIR_JWT_ISSUER and WEIR_JWT_JWKS go together: set both")

    @property
    def reading(self) -> str:
        """The store that web workers read."""
        return self.database_read or self.database

    @property
    def secret(self) -> str:
        """The signing secret: as set, or made at first need and kept in the instance folder.
        Raises ConfigurationError where it can't be kept or had."""
        if self.secret_key:
            return self.secret_key
        path = Path(self.instance) / "secret_key"
        with _instance_named():
            kept = _kept_secret(path)
        if len(kept.encode()) < MIN_SECRET_BYTES:
            raise ConfigurationError(
                f"WEIR_INSTANCE: {path} must hold at least {MIN_SECRET_BYTES} bytes"
            )
        return kept

    def prepare(self) -> None:
        """Make the instance folder and the secret now, rather than at first need. Raises
        ConfigurationError where the folder can't be written, or the secret can't be had."""
        folder = Path(self.instance)
        with _instance_named():
            folder.mkdir(parents=True, exist_ok=True)
            _private_draft(folder / "probe", "").unlink()
        _ = self.secret

    @property
    def demo_key_path(self) -> Path:
        """Where `flask demo seed` leaves the demo fleet's key for the dashboard on this machine."""
        return Path(self.instance) / "demo_key"

    @property
    def ended_sessions_path(self) -> Path:
        """Where sessions of the dashboard that were signed out are noted."""
        return Path(self.instance) / "ended_sessions"

    @property
    def writer_socket_path(self) -> Path:
        """Where the process that writes takes what came to this machine's web workers."""
        return Path(self.instance) / "writer.sock"

    @property
    def site(self) -> str:
        """Where readers reach this site, as far as is known without a request."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    def dashboard_key(self) -> str:
        """What the dashboard signs in with by itself: WEIR_API_KEY, else the demo fleet's key,
        else ''."""
        if self.api_key:
            return self.api_key
        path = self.demo_key_path
        if self.api_url or not path.exists():
            return ""
        return str(json.loads(path.read_text("utf-8"))["key"])


@contextmanager
def _instance_named() -> Generator[None]:
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise ConfigurationError(
            f"WEIR_INSTANCE can't be used: {where}{error.strerror or error}"
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError("WEIR_INSTANCE holds a secret_key that is not text") from None


def write_private(path: Path, text: str) -> None:
    """Put a file in its place at once, readable by its owner only. The last writer wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = _private_draft(path, text)
    draft.replace(path)


def _private_draft(path: Path, text: str) -> Path:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    draft.touch(mode=0o600)
    draft.write_text(text, "utf-8")
    return draft


def _kept_secret(path: Path) -> str:
    """The first process to come makes the secret; all others, at the same moment too, read it."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = _private_draft(path, secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            path.hardlink_to(draft)  # fails where another process was first; never overwrites
        draft.unlink()
    return path.read_text("utf-8")
