"""Settings come from the environment; a bad one stops the start with a line that names it."""

from __future__ import annotations

import stat
from dataclasses import fields
from pathlib import Path

import pytest

from api.errors import ConfigurationError
from api.settings import TABLE, Settings


def test_every_setting_has_a_row_and_every_row_a_setting() -> None:
    rows = sorted(row.attribute for row in TABLE)
    assert rows == sorted(field.name for field in fields(Settings))


def test_defaults_are_the_embedded_store_on_loopback() -> None:
    settings = Settings.from_env({})
    assert settings.database == "sqlite:///instance/weir.sqlite"
    assert (settings.host, settings.port) == ("127.0.0.1", 8050)
    assert settings.cors_origins == ()


@pytest.mark.parametrize(
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
        ("WEIR_CORS_ORIGINS", "*"),
        ("WEIR_CORS_ORIGINS", "https://a.example,https://b.example/path"),
        ("WEIR_RATE_LIMIT", "nan"),
        ("WEIR_RATE_LIMIT", "-1"),
        ("WEIR_JWT_ALGORITHM", "none"),
        ("WEIR_JWT_ISSUER", "https://issuer.example"),  # without its keys
    ],
)
def test_a_bad_value_is_one_line_that_names_the_setting(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_env({name: value})
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_secret_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_env({"WEIR_SECRET_KEY": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_an_unset_secret_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    environ = {"WEIR_INSTANCE": str(tmp_path / "instance")}
    secret = Settings.from_env(environ).secret
    assert len(secret) >= 32
    assert Settings.from_env(environ).secret == secret
    mode = stat.S_IMODE((tmp_path / "instance" / "secret_key").stat().st_mode)
    assert mode == 0o600


def test_origins_are_a_list() -> None:
    settings = Settings.from_env({"WEIR_CORS_ORIGINS": "https://a.example, http://b.example:8080"})
    assert settings.cors_origins == ("https://a.example", "http://b.example:8080")
