"""Settings come from the environment; an invalid one stops the start with a line that names it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from api.errors import ConfigurationError
from api.settings import Settings, unknown_variables
from tests.tables import cases


def test_defaults_are_the_embedded_store_on_loopback() -> None:
    settings = Settings.from_env({})
    assert settings.database == "sqlite:///instance/weir.sqlite"
    assert (settings.host, settings.port) == ("127.0.0.1", 8050)
    assert settings.cors_origins == ()


@cases(
    ("name", "value"),
    [
        ("WEIR_DATABASE", "mysql://x"),
        ("WEIR_DATABASE", "sqlite:///"),
        ("WEIR_PORT", "80a"),
        ("WEIR_PORT", "65536"),
        ("WEIR_PORT", "-1"),
        ("WEIR_PORT", "٨٠"),
        ("WEIR_WORKERS", "0"),
        ("WEIR_SECRET_KEY", "short"),
        ("WEIR_API_URL", "ftp://weir.example"),
        ("WEIR_API_URL", "weir.example"),
        ("WEIR_PUBLIC_URL", "weir.example"),
        ("WEIR_PUBLIC_URL", "ftp://weir.example"),
        ("WEIR_PUBLIC_URL", "https://weir.example/a b"),
        ("WEIR_PUBLIC_URL", "https://weir.example?x"),
        ("WEIR_PUBLIC_URL", "https://somebody@weir.example"),
        ("WEIR_CORS_ORIGINS", "*"),
        ("WEIR_CORS_ORIGINS", "https://a.example,https://b.example/path"),
        ("WEIR_RATE_LIMIT", "nan"),
        ("WEIR_RATE_LIMIT", "-1"),
        ("WEIR_JWT_ALGORITHM", "none"),
        ("WEIR_JWT_ISSUER", "https://issuer.example"),  # without its keys
        ("WEIR_JWT_ISSUER", "weir"),
        ("WEIR_JWT_JWKS", "/nonexistent"),
        ("WEIR_JWT_JWKS", "."),
        ("WEIR_JWT_JWKS", "pyproject.toml"),
        ("WEIR_JWT_JWKS", "ftp://issuer.example"),
        ("WEIR_JWT_JWKS", "https://"),
        ("WEIR_JWT_JWKS", "http://issuer.example/keys"),
        ("WEIR_API_KEY", "notauuid"),
        ("WEIR_MQTT_URL", "broker.example"),
        ("WEIR_MQTT_URL", "mqtt://"),
        ("WEIR_MQTT_URL", "mqtt://weir:secret@broker.example"),
        ("WEIR_MQTT_CLIENT_ID", "../weir"),
        ("WEIR_MQTT_HOME_ASSISTANT", "home assistant/"),
        ("WEIR_MQTT_HOME_ASSISTANT", "homeassistant"),  # without a broker
        ("WEIR_MQTT_LISTEN", "1883"),
        ("WEIR_MQTT_LISTEN", "0.0.0.0"),
        ("WEIR_MQTT_LISTEN", "0.0.0.0:70000"),
        ("WEIR_MQTT_LISTEN", "mqtt://0.0.0.0:1883"),
        ("WEIR_MQTT_LISTEN", "key@0.0.0.0:1883"),
        ("WEIR_MQTT_LISTEN_CLIENT_CA", "/etc/ca.pem"),  # without its certificate
        ("WEIR_MQTT_PUBLISH", "yes"),
        ("WEIR_DATABASE", "postgresql://"),
        ("WEIR_DATABASE", "postgresql:///weir"),
        ("WEIR_DATABASE_READ", "sqlite:///standby.sqlite"),
        ("WEIR_DATABASE_READ", "postgresql://standby/weir"),  # of an embedded store
    ],
)
def test_an_invalid_value_is_one_line_that_names_the_setting(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_env({name: value})
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["WEIR_SECRET_KEY", "WEIR_API_KEY"])
def test_an_invalid_secret_is_not_in_the_message(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_env({name: "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_web_workers_read_the_store_or_its_standby() -> None:
    store = "postgresql://weir@db1,db2:5433/weir?target_session_attrs=read-write"
    standby = "postgresql://weir@db2,db1/weir?target_session_attrs=prefer-standby"
    assert Settings.from_env({"WEIR_DATABASE": store}).reading == store
    both = Settings.from_env({"WEIR_DATABASE": store, "WEIR_DATABASE_READ": standby})
    assert (both.database, both.reading) == (store, standby)


def test_a_missing_secret_is_created_once_and_private_to_its_owner(tmp_path: Path) -> None:
    environ = {"WEIR_INSTANCE": str(tmp_path / "instance")}
    secret = Settings.from_env(environ).secret
    assert len(secret) >= 32
    assert Settings.from_env(environ).secret == secret
    mode = stat.S_IMODE((tmp_path / "instance" / "secret_key").stat().st_mode)
    assert mode == 0o600


@cases(
    ("fields", "site"),
    [
        ({}, "http://127.0.0.1:8050"),
        ({"WEIR_HOST": "::1", "WEIR_PORT": "80"}, "http://[::1]:80"),
        ({"WEIR_PUBLIC_URL": "https://weir.example/"}, "https://weir.example"),
        ({"WEIR_PUBLIC_URL": "https://weir.example/flow/"}, "https://weir.example/flow"),
        ({"WEIR_PUBLIC_URL": "http://weir.lan:8080", "WEIR_PORT": "80"}, "http://weir.lan:8080"),
    ],
)
def test_the_sites_address_is_the_public_one_or_that_of_the_listener(
    fields: dict[str, str], site: str
) -> None:
    assert Settings.from_env(fields).site == site


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("0.0.0.0:1883", ("0.0.0.0", 1883)),
        ("[::]:8883", ("::", 8883)),
        ("weir.lan:0", ("weir.lan", 0)),
    ],
)
def test_an_address_is_a_host_and_a_port(value: str, address: tuple[str, int]) -> None:
    assert Settings.from_env({"WEIR_MQTT_LISTEN": value}).mqtt_listen == address


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.from_env({"WEIR_PORT": "", "WEIR_CORS_ORIGINS": ""}) == Settings.from_env({})


def test_a_file_in_the_folder_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("WEIR_PORT=1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEIR_PORT", "2")  # nor does this process's environment: only the given one
    assert Settings.from_env({}).port == 8050


@cases(
    ("name", "texts"),
    [
        ("WEIR_PRT", ["WEIR_PRT: did you mean WEIR_PORT?"]),
        ("WEIR_DATABSE", ["WEIR_DATABSE: did you mean WEIR_DATABASE?"]),
        ("WEIR_COLOUR_OF_THE_SKY", ["WEIR_COLOUR_OF_THE_SKY"]),
        ("WEIR_PORT", []),
        ("WEIR_TEST_CITUS", []),
        ("PORT", []),
    ],
)
def test_a_variable_that_is_not_a_setting_is_reported(name: str, texts: list[str]) -> None:
    assert unknown_variables({name: "1"}) == texts


def test_origins_are_a_list() -> None:
    settings = Settings.from_env({"WEIR_CORS_ORIGINS": "https://a.example, http://b.example:8080"})
    assert settings.cors_origins == ("https://a.example", "http://b.example:8080")


@pytest.mark.parametrize(
    "value", ["https://issuer.example/keys", "http://127.0.0.1:8080/keys", "http://[::1]/keys"]
)
def test_a_key_set_needs_a_secure_address(value: str) -> None:
    environ = {"WEIR_JWT_ISSUER": "https://issuer.example", "WEIR_JWT_JWKS": value}
    assert Settings.from_env(environ).jwt_jwks == value


def test_a_socket_path_is_a_host_too() -> None:
    value = "postgresql:///weir?host=/var/run/postgresql"
    assert Settings.from_env({"WEIR_DATABASE": value}).database == value


def test_a_folder_that_cannot_be_made_is_one_line_that_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings.from_env({"WEIR_INSTANCE": str(tmp_path / "file" / "instance")})
    with pytest.raises(ConfigurationError, match=r"^WEIR_INSTANCE can't be used: .*file"):
        settings.prepare()


@pytest.mark.parametrize("stored", [b"", b"short", b"\xff" * 40])
def test_an_invalid_stored_secret_is_refused(tmp_path: Path, stored: bytes) -> None:
    (tmp_path / "secret_key").write_bytes(stored)
    settings = Settings.from_env({"WEIR_INSTANCE": str(tmp_path)})
    with pytest.raises(ConfigurationError, match=r"^WEIR_INSTANCE"):
        settings.prepare()


def test_preparing_creates_the_secret_and_nothing_else(tmp_path: Path) -> None:
    Settings.from_env({"WEIR_INSTANCE": str(tmp_path / "new" / "instance")}).prepare()
    assert [path.name for path in (tmp_path / "new" / "instance").iterdir()] == ["secret_key"]


@cases(
    ("environ", "alone"),
    [
        ({}, True),
        ({"WEIR_PUBLIC_URL": "http://localhost:8050"}, True),
        ({"WEIR_PUBLIC_URL": "https://weir.example"}, False),
        ({"WEIR_TRUSTED_PROXIES": "10.0.0.1"}, False),
        ({"WEIR_PROXY_BEARER": "true"}, False),
        ({"WEIR_HOST": "0.0.0.0"}, False),
    ],
)
def test_only_local_settings_open_the_demo(environ: dict[str, str], alone: bool) -> None:
    assert Settings.from_env(environ).local_only is alone
