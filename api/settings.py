"""Settings, read once from the environment. The fields below are the documentation's source."""

from __future__ import annotations

import json
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, PlainValidator, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from api import setting_types as types
from api.errors import ConfigurationError
from api.private_files import shared_text, write_private
from api.setting_types import LOCAL_ISSUER as LOCAL_ISSUER
from api.setting_types import MIN_SECRET_BYTES, Address, Network, Shard
from api.suggestions import did_you_mean
from api.telemetry.client_address import is_loopback

PREFIX: Final = "WEIR_"
FOR_TESTS: Final = "WEIR_TEST_"


def setting(default: str, meaning: str) -> Any:
    """A field of `Settings`: its default, as the environment would hold it, and its line in the
    documentation."""
    return Field(default=default, description=meaning, validate_default=True)


class _Environment(EnvSettingsSource):
    """Reads variables from a mapping, which need not be this process's environment."""

    def __init__(self, settings: type[BaseSettings], environ: Mapping[str, str]) -> None:
        self._given = environ
        super().__init__(settings)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): text for name, text in self._given.items() if text}


class Settings(BaseSettings):
    """Every setting, parsed. Created by `from_env`; tests create their own with `from_env({...})`.

    Each parser takes the text of a variable and raises ValueError with words that follow the
    setting's name.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        enable_decoding=False,
        extra="forbid",
        frozen=True,
    )

    database: Annotated[str, PlainValidator(types.database)] = setting(
        "sqlite:///instance/weir.sqlite",
        "Where readings are kept: `sqlite:///path` or `postgresql://user:password@host/name`.",
    )
    database_read: Annotated[str, PlainValidator(types.read_database)] = setting(
        "",
        "Where web workers read, if elsewhere: a standby of the Postgres in `WEIR_DATABASE`, best"
        " with the primary behind it:"
        " `postgresql://user@standby,primary/name?target_session_attrs=prefer-standby`.",
    )
    raw_months: Annotated[int, PlainValidator(types.whole(0, 1200))] = setting(
        "0",
        "Whole months of raw readings that `weir readings prune` keeps; rollups are kept"
        " forever. 0: nothing is deleted unless the command names the months to keep.",
    )
    secret_key: Annotated[str, PlainValidator(types.secret)] = setting(
        "",
        "Signs bearer tokens and sessions; at least 32 bytes. Unset: generated once and kept in"
        " `instance/secret_key`, readable by its owner only.",
    )
    host: Annotated[str, PlainValidator(types.text)] = setting(
        "127.0.0.1", "The address that `weir serve` listens on."
    )
    port: Annotated[int, PlainValidator(types.whole(0, 65535))] = setting(
        "8050", "The port that `weir serve` listens on."
    )
    public_url: Annotated[str, PlainValidator(types.site)] = setting(
        "",
        "The public address of this site: `https://weir.example`, or a path of a host:"
        " `https://host.example/weir`. Used in embed snippets and signed image links. Unset: the"
        " address of the request; for commands `http://WEIR_HOST:WEIR_PORT`.",
    )
    workers: Annotated[int, PlainValidator(types.whole(1, 64))] = setting(
        "2", "Web worker processes of `weir serve`."
    )
    api_url: Annotated[str, PlainValidator(types.url)] = setting(
        "",
        "The server whose devices the dashboard shows. If set, this process has no store and no"
        " service: `/management` responds 404, `/healthz` still responds. Unset: this server.",
    )
    api_key: Annotated[str, PlainValidator(types.key)] = setting(
        "",
        "The service-api-key behind the one-time sign-in link that `weir serve` prints. Unset:"
        " no link; readers sign in with their own keys.",
    )
    proxy_bearer: Annotated[bool, PlainValidator(types.truth)] = setting(
        "false",
        "`true`: a proxy in front of the dashboard identifies the reader with `Authorization:"
        " Bearer …`.",
    )
    cors_origins: Annotated[tuple[str, ...], PlainValidator(types.origins)] = setting(
        "", "Origins whose pages may call the interface from a browser, separated by commas."
    )
    rate_limit: Annotated[float, PlainValidator(types.number)] = setting(
        "1000",
        "Requests per second allowed for one key over the network, with bursts of ten times as"
        " many; 0 turns the limits off.",
    )
    jwt_issuer: Annotated[str, PlainValidator(types.issuer)] = setting(
        "", "`iss` of an external issuer of bearer tokens; not `weir`, which is Weir's own."
    )
    jwt_audience: Annotated[str, PlainValidator(types.text)] = setting(
        "weir", "`aud` that the external issuer's tokens carry."
    )
    jwt_jwks: Annotated[str, PlainValidator(types.key_set)] = setting(
        "",
        "The external issuer's key set: an https:// URL (http:// on loopback only) or a file's"
        " path.",
    )
    jwt_algorithm: Annotated[str, PlainValidator(types.algorithm)] = setting(
        "RS256", "The one algorithm accepted from the external issuer: RS256 or ES256."
    )
    mqtt_url: Annotated[str, PlainValidator(types.broker)] = setting(
        "",
        "The MQTT 5 broker for readings in and out: `mqtt://user@host:port`, or `mqtts://…` with"
        " TLS. Unset: none.",
    )
    mqtt_password_file: Annotated[str, PlainValidator(types.text)] = setting(
        "", "A file that contains only the broker user's password."
    )
    mqtt_ca_file: Annotated[str, PlainValidator(types.text)] = setting(
        "", "The certificates that `mqtts://` trusts, a PEM file; unset: the system's."
    )
    mqtt_client_id: Annotated[str, PlainValidator(types.client_id)] = setting(
        "weir",
        "The MQTT client id, which names Weir's session. The broker keeps messages for it while"
        " Weir is down. Unique for each installation; don't change it.",
    )
    mqtt_shard: Annotated[Shard | None, PlainValidator(types.shard)] = setting(
        "",
        "The shard of this ingester, such as `1/3`, when several ingesters share one Postgres: it"
        " stores its part of the devices, by hash. Unset: all devices.",
    )
    mqtt_share: Annotated[str, PlainValidator(types.share)] = setting(
        "",
        "A shared subscription: the broker divides messages among the ingesters of this group on"
        " one Postgres, each with its own `WEIR_MQTT_CLIENT_ID`. Unset: none.",
    )
    mqtt_mapping: Annotated[str, PlainValidator(types.text)] = setting(
        "",
        "A TOML or JSON file of LoRaWAN network servers' topics and of each meter model's fields.",
    )
    mqtt_publish: Annotated[bool, PlainValidator(types.truth)] = setting(
        "true", "`true`: also publish each stored reading to the broker."
    )
    mqtt_home_assistant: Annotated[str, PlainValidator(types.share)] = setting(
        "",
        "Home Assistant's discovery prefix, usually `homeassistant`: devices are announced to it at"
        " the broker of `WEIR_MQTT_URL`. On one host only. Unset: they aren't.",
    )
    mqtt_listen: Annotated[Address | None, PlainValidator(types.address)] = setting(
        "",
        "Where Weir itself takes MQTT messages from meters, without a broker: `0.0.0.0:8883`."
        " Unset: nowhere.",
    )
    mqtt_listen_certificate: Annotated[str, PlainValidator(types.text)] = setting(
        "",
        "The certificate of `WEIR_MQTT_LISTEN`, a PEM file with its chain; a renewed file is used"
        " within a minute. Unset: no TLS, and passwords travel unencrypted.",
    )
    mqtt_listen_certificate_key: Annotated[str, PlainValidator(types.text)] = setting(
        "",
        "The private key of that certificate, a PEM file. Unset: it is in the certificate's file.",
    )
    mqtt_listen_client_ca: Annotated[str, PlainValidator(types.text)] = setting(
        "",
        "Certificates of the authorities whose client certificates stand for ingest keys: a PEM"
        " file. A client certificate's common name is the Key ID. Unset: passwords only.",
    )
    redis_url: Annotated[str, PlainValidator(types.redis)] = setting(
        "",
        "A Redis shared by several hosts: signed-out sessions, failed sign-ins and rate limits"
        " then hold on all of them. Unset, or while Redis is down: on each host separately.",
    )
    smtp_url: Annotated[str, PlainValidator(types.mail_server)] = setting(
        "",
        "The mail server for alerts: `smtp://user@host:587` with STARTTLS, or `smtps://user@host:465`."
        " Unset: no e-mail.",
    )
    smtp_password_file: Annotated[str, PlainValidator(types.text)] = setting(
        "", "A file that contains only the mail user's password."
    )
    alert_sender: Annotated[str, PlainValidator(types.mail_address)] = setting(
        "",
        "The sender of alerts by e-mail: `weir@example.com`. Unset: `weir@` and the mail server's"
        " name.",
    )
    alert_networks: Annotated[tuple[Network, ...], PlainValidator(types.networks)] = setting(
        "",
        "Private networks that webhooks of alerts may reach, separated by commas: `10.0.0.0/8`."
        " Unset: public addresses only.",
    )
    request_log: Annotated[str, PlainValidator(types.text)] = setting(
        "", "The access log, a JSON line for each request: `stderr` or a file's path. Unset: none."
    )
    metrics_token: Annotated[str, PlainValidator(types.token)] = setting(
        "",
        "Gives access to `/metrics` as `Authorization: Bearer …`. Unset: only direct requests"
        " from this machine, by a loopback name, may read it.",
    )
    trusted_proxies: Annotated[tuple[Network, ...], PlainValidator(types.networks)] = setting(
        "",
        "Addresses or networks of trusted proxies, separated by commas. Their `X-Forwarded- For`"
        " and `X-Forwarded-Proto` give the client's address and scheme. Unset: no proxy is"
        " trusted; the connection's address counts.",
    )
    hsts_s: Annotated[int, PlainValidator(types.whole(0, 63072000))] = setting(
        "0",
        "Seconds for which browsers must use TLS for this site (`Strict-Transport-Security`, sent"
        " over TLS only). 0: the header isn't sent.",
    )
    disk_min_mb: Annotated[int, PlainValidator(types.whole(0, 100000000))] = setting(
        "1024",
        "Minimum free disk space for the store, in megabytes; with less, `/readyz` reports"
        " degraded.",
    )
    instance: Annotated[str, PlainValidator(types.text)] = setting(
        "instance",
        "The folder for Weir's own files: the secret key, the demo fleet's key, signed-out"
        " sessions, the writer's socket, arrival times of MQTT messages without `recordedAt`.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Uses only what `from_env` passes in, never a file in the current folder."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Settings:
        """Raises ConfigurationError, one line naming the setting, at the first bad value."""
        try:
            settings = cls(**_Environment(cls, environ)())
        except ValidationError as error:
            bad = error.errors(include_url=False, include_input=False)[0]
            reason = bad.get("ctx", {}).get("error", bad["msg"])
            raise ConfigurationError(f"{PREFIX}{bad['loc'][0]}".upper() + f" {reason}") from None
        settings.check_together()
        return settings

    def check_together(self) -> None:
        """Raises ConfigurationError where valid settings contradict each other."""
        if self.database.startswith("sqlite:"):
            if self.database_read:
                raise ConfigurationError("WEIR_DATABASE_READ needs a WEIR_DATABASE on Postgres")
            if self.mqtt_shard or self.mqtt_share:
                raise ConfigurationError(
                    f"WEIR_MQTT_{'SHARD' if self.mqtt_shard else 'SHARE'} needs a"
                    " WEIR_DATABASE on Postgres: an embedded store has one writer"
                )
        if self.mqtt_shard and self.mqtt_share:  # most messages would reach the wrong shard only
            raise ConfigurationError("set WEIR_MQTT_SHARD or WEIR_MQTT_SHARE, not both")
        if self.mqtt_home_assistant and not self.mqtt_url:
            raise ConfigurationError("WEIR_MQTT_HOME_ASSISTANT needs WEIR_MQTT_URL")
        if self.mqtt_listen_client_ca and not self.mqtt_listen_certificate:
            raise ConfigurationError(
                "WEIR_MQTT_LISTEN_CLIENT_CA needs WEIR_MQTT_LISTEN_CERTIFICATE"
            )
        if bool(self.jwt_issuer) != bool(self.jwt_jwks):
            raise ConfigurationError("WEIR_JWT_ISSUER and WEIR_JWT_JWKS must be set together")

    @property
    def reading(self) -> str:
        """Returns the URL of the store that web workers read."""
        return self.database_read or self.database

    @property
    def secret(self) -> str:
        """Returns the signing secret: as set, or generated once and kept in the instance folder.

        Raises ConfigurationError where it can't be read or written.
        """
        if self.secret_key:
            return self.secret_key
        path = Path(self.instance) / "secret_key"
        with _instance_named():
            text = shared_text(path, lambda: secrets.token_urlsafe(48))
        if len(text.encode()) < MIN_SECRET_BYTES:
            raise ConfigurationError(
                f"WEIR_INSTANCE: {path} must have at least {MIN_SECRET_BYTES} bytes"
            )
        return text

    def prepare(self) -> None:
        """Creates the instance folder and the secret now, instead of at first use. Raises
        ConfigurationError where the folder isn't writable or the secret can't be read."""
        folder = Path(self.instance)
        with _instance_named():
            write_private(folder / "probe", "")
            (folder / "probe").unlink(missing_ok=True)
        _ = self.secret

    @property
    def sign_in_links_path(self) -> Path:
        """Returns the folder of one-time sign-in links that haven't been opened yet."""
        return Path(self.instance) / "sign_in_links"

    @property
    def demo_key_path(self) -> Path:
        """Returns the file in which `weir demo seed` leaves the demo fleet's key."""
        return Path(self.instance) / "demo_key"

    @property
    def ended_sessions_path(self) -> Path:
        """Returns the file of signed-out sessions of the dashboard."""
        return Path(self.instance) / "ended_sessions"

    @property
    def writer_socket_path(self) -> Path:
        """Returns the socket on which the writer takes readings from this machine's web workers."""
        return Path(self.instance) / "writer.sock"

    @property
    def root(self) -> str:
        """Returns the host's path below which the site is served; "" for the whole host."""
        return urlsplit(self.public_url).path

    @property
    def site(self) -> str:
        """Returns the address of this site for readers, as far as it is known without a request."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def local_only(self) -> bool:
        """Whether no setting is made for readers elsewhere or for a proxy in front."""
        public = urlsplit(self.public_url).hostname if self.public_url else "localhost"
        proxied = self.trusted_proxies or self.proxy_bearer
        return is_loopback(self.host) and is_loopback(public or "") and not proxied

    def demo_key(self) -> str:
        """Returns the demo fleet's key; "" where there is none."""
        try:
            return str(json.loads(self.demo_key_path.read_text("utf-8"))["key"])
        except FileNotFoundError:
            return ""


class Setting(NamedTuple):
    """A row of the documentation's table."""

    name: str
    default: str
    meaning: str


TABLE: Final = tuple(
    Setting(f"{PREFIX}{name}".upper(), field.default, field.description or "")
    for name, field in Settings.model_fields.items()
)


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Returns ``WEIR_PRT: did you mean WEIR_PORT?`` for each variable that is not a setting."""
    names = {row.name for row in TABLE}
    mine = (name for name in environ if name.startswith(PREFIX) and not name.startswith(FOR_TESTS))
    return [did_you_mean(name, names) for name in sorted(mine) if name not in names]


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
