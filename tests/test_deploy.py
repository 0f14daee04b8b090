"""The files of deploy/ and docs/operations.md, checked by the programs that read them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.catalog import BACKEND_VERSION
from api.commands import COMMANDS
from api.server.readiness import OVERALL
from api.settings import TABLE, Settings
from api.telemetry import metrics
from tests.nginx import Proxy
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
SETTINGS = {setting.name for setting in TABLE}


def _environment(text: str) -> dict[str, str]:
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


def test_every_named_setting_exists() -> None:
    files = [p for p in DEPLOY.rglob("*") if p.is_file()] + [ROOT / "docs/operations.md"]
    named = {n for f in files for n in re.findall(r"\bWEIR_[A-Z_]+\b", f.read_text("utf-8"))}
    assert len(named) > 8
    assert named <= SETTINGS


def test_the_units_settings_are_valid() -> None:
    settings = Settings.from_env(_environment((DEPLOY / "weir.env").read_text()))
    assert settings.database == "sqlite:////var/lib/weir/weir.sqlite"
    assert [str(n) for n in settings.trusted_proxies] == ["127.0.0.1/32"]


# --- Compose -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def test_the_services_settings_are_valid(compose: dict[str, Any]) -> None:
    for name in ("web", "writer"):
        environment = compose["services"][name]["environment"]
        assert set(environment) <= SETTINGS
        assert all(isinstance(value, str) for value in environment.values())
        Settings.from_env(environment)


def test_every_service_is_present_and_restricted(compose: dict[str, Any]) -> None:
    commands = COMMANDS
    build = compose["x-weir"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).exists()
    services = compose["services"]
    assert set(services) == {"upgrade", "web", "writer", "postgres", "mosquitto", "redis"}
    for name in ("upgrade", "web", "writer"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        program, command, *_ = services[name]["command"]
        assert program == "weir"
        assert command in commands
    assert services["web"]["ports"] == ["127.0.0.1:8050:8050"]
    assert services["web"]["hostname"] != services["writer"]["hostname"]
    for service in services.values():
        for secret in service.get("secrets", ()):
            assert secret in compose["secrets"]
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            there = source.startswith("./secrets") or (DEPLOY / source).exists()
            assert there or source in compose["volumes"], volume


# --- The image -----------------------------------------------------------------------------------


def _builder() -> str | None:
    """The container builder of this machine; a client without its server doesn't count."""
    for name in ("podman", "docker"):
        result = shutil.which(name)
        if result and subprocess.run([result, "info"], capture_output=True).returncode == 0:
            return result
    return None


@pytest.mark.slow
def test_the_image_is_built_and_prints_its_version() -> None:
    builder = _builder()
    if builder is None:
        pytest.skip("no container builder works here: the Containerfile is linted, not built")
    build = [builder, "build", "-f", "deploy/Containerfile", "-t", "weir-test", "."]
    subprocess.run(build, cwd=ROOT, check=True)
    run = [builder, "run", "--rm", "weir-test", "weir", "--version"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == f"Weir {BACKEND_VERSION}\n"


@pytest.fixture(scope="module")
def steps() -> list[list[str]]:
    """The Containerfile's instructions as words, with continued lines joined."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_copies_only_existing_files(steps: list[list[str]]) -> None:
    sent = set(re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    copied = {
        name
        for word, *names in steps
        if word == "COPY" and not names[0].startswith("--from")
        for name in names[:-1]
    }
    assert all((ROOT / name).exists() for name in copied)
    assert copied == sent
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    packed = {*wheel["targets"]["wheel"]["only-include"], "app.py"}
    assert packed <= copied
    rooms = {p.parent.name for p in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert rooms <= packed


def test_the_image_uses_the_pinned_builder(steps: list[list[str]]) -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    words = {word for step in steps for word in step}
    assert set(needed) <= words
    assert set(needed) <= set((ROOT / "requirements-dev.txt").read_text().splitlines())


def test_the_image_runs_weir_without_root(steps: list[list[str]]) -> None:
    assert ["USER", "weir"] in steps
    assert steps[-1] == ["CMD", '["weir",', '"serve"]']
    assert any("/readyz" in word for step in steps for word in step)
    instructions = {step[0] for step in steps}
    assert instructions <= {"FROM", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "ENV", "EXPOSE",
                     "HEALTHCHECK", "CMD"}  # fmt: skip


# --- nginx ---------------------------------------------------------------------------------------


def test_nginx_accepts_the_shipped_site(tmp_path: Path) -> None:
    proxy = Proxy(tmp_path, free_port())
    done = subprocess.run([*proxy.command, "-t"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


def test_every_location_sets_the_headers() -> None:
    """nginx inherits proxy_set_header only if a level sets none itself."""
    text = (DEPLOY / "nginx.conf").read_text()
    for body in re.findall(r"location [^{]*\{([^}]*)\}", text):
        assert "proxy_set_header" not in body


# --- systemd -------------------------------------------------------------------------------------


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """The units with an existing program and user."""
    results: list[Path] = []
    for unit in sorted((DEPLOY / "systemd").iterdir()):
        text = re.sub(r"/opt/weir/.venv/bin/weir", "/bin/true", unit.read_text())
        copy = tmp_path / unit.name
        text = re.sub(r"(User|Group)=weir", r"\1=daemon", text)
        copy.write_text(text.replace("/opt/weir", "/tmp"))
        results.append(copy)
    return results


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze isn't on this machine"
)
def test_systemd_accepts_the_units(units: list[Path]) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, units)], capture_output=True, text=True
    )
    ours = [line for line in done.stderr.splitlines() if "weir" in line]
    assert ours == []


def test_the_units_call_commands_that_exist() -> None:
    commands = COMMANDS
    for unit in (DEPLOY / "systemd").glob("*.service"):
        for name in re.findall(r"^ExecStart=.*bin/weir (\S+)", unit.read_text(), re.MULTILINE):
            assert name in commands


# --- The document --------------------------------------------------------------------------------


def test_the_document_names_every_metric_and_alerts_on_no_other() -> None:
    text = (ROOT / "docs/operations.md").read_text("utf-8")
    source = Path(metrics.__file__).read_text() + (ROOT / "api/server/monitoring.py").read_text()
    ours = set(re.findall(r'"(weir_[a-z_]+)"', source))
    assert len(ours) > 10
    result = set(re.findall(r"\bweir_[a-z_]+", text)) - {"weir_restored"}
    bare = {re.sub(r"_(total|bucket)$", "", name) for name in result}
    assert bare == ours
    assert all(f"`{word}`" in text for word in OVERALL.values())


def test_the_alerts_are_yaml() -> None:
    text = (ROOT / "docs/operations.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    rules = yaml.safe_load(block)["groups"][0]["rules"]
    assert len(rules) > 8
    assert all({"alert", "expr", "for"} == set(rule) for rule in rules)
