"""`weir report`: a report as PDF, for cron. The function that makes it is passed in: the command
line doesn't import the dashboard."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from flask.cli import with_appcontext

from api.catalog import UNIT_SYSTEMS
from api.commands.arguments import by_option, organization
from api.commands.command import Command
from api.commands.store_access import opened, settings
from api.errors import NotFound, UserError

if TYPE_CHECKING:
    from api.client import Client
    from api.settings import Settings

TTL_S: Final = 900  # lifetime of the bearer token for this process's own service


class Made(NamedTuple):
    """The PDF, its number of devices and its days (both included)."""

    body: bytes
    devices: int
    first: str
    last: str


Make = Callable[["Client", Path, Sequence[str], Mapping[str, str]], Made]
"""Makes a report from a client, the folder shared on this machine, devices by any identifier, and
the other parameters of a report's address. Raises a WeirError."""


def command(make: Make) -> click.Command:
    @click.command("report", cls=Command)
    @click.option("--org", "organization_id", help="The organization's id.")
    @click.option("--device", "devices", multiple=True, help="A device, by any identifier.")
    @click.option("--group", help="The devices of a group.")
    @click.option("--last", help="The last days up to today, such as 30d.")
    @click.option("--month", help="A month, such as 2026-10.")
    @click.option("--from", "first", help="The first day, such as 2026-10-01.")
    @click.option("--to", "last_day", help="The last day, included.")
    @click.option("--zone", help="One IANA time zone for all. Default: each device's own.")
    @click.option("--units", type=click.Choice(UNIT_SYSTEMS), help="Default: the organization's.")
    @click.option("--paper", type=click.Choice(("a4", "letter")), default="a4", show_default=True)
    @click.option(
        "--out", required=True, type=click.Path(path_type=Path), help="The PDF file to write."
    )
    @with_appcontext
    def report(
        organization_id: str | None,
        devices: tuple[str, ...],
        group: str | None,
        last: str | None,
        month: str | None,
        first: str | None,
        last_day: str | None,
        out: Path,
        **params: str | None,
    ) -> object:
        """Write a usage report as PDF. Default range: the last month."""
        if bool(devices) == bool(group):
            raise UserError("choose the devices: --device, once or more, or --group")
        address = {name: text for name, text in params.items() if text}
        address |= {"range": days(last, month, first, last_day)}
        typed = "last" if last else "month" if month else "from and --to"
        if group:
            address["group"] = group
        options = by_option({"range": typed}, otherwise=f"--group {group}: " if group else "")
        config = settings()
        with service_client(config, organization_id) as client, _device_not_found(devices), options:
            made = make(client, Path(config.instance), devices, address)
        return _written(out, made)

    return report


def _written(out: Path, made: Made) -> dict[str, object]:
    """Writes the file and describes it."""
    _write(out, made.body)
    return {
        "file": str(out),
        "bytes": len(made.body),
        "devices": made.devices,
        "from": made.first,
        "to": made.last,
    }


@contextmanager
def _device_not_found(devices: Sequence[str]) -> Generator[None]:
    """Reports an unknown device as a problem of the option that names it."""
    try:
        yield
    except NotFound as error:
        raise UserError(f"--device {', '.join(devices)}: {error.detail}") from None


def days(last: str | None, month: str | None, first: str | None, to: str | None) -> str:
    """Returns the range as parameters of a report's address. Raises UserError for two ranges, or
    half of one."""
    if (first is None) != (to is None):
        raise UserError("--from and --to must be used together")
    ranges = [text for text in (last, month, first) if text is not None]
    if len(ranges) > 1:
        raise UserError("choose one range: --last, --month, or --from with --to")
    if first is not None and to is not None:
        if _date("--from", first) > _date("--to", to):
            raise UserError("--from must not be after --to")
        return f"{first}..{to}"
    return ranges[0] if ranges else "last-month"


def _date(option: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UserError(f"{option} {text!r} is not a day such as 2026-10-01") from None


@contextmanager
def service_client(config: Settings, organization_id: str | None) -> Generator[Client]:
    """Yields a client of the server of WEIR_API_URL, with its key, or else of this store's own
    service in this process, with access to the whole organization."""
    from api.client import Client, Credential

    if config.api_url:
        if not config.api_key:
            raise UserError("WEIR_API_URL needs a key: set WEIR_API_KEY")
        client = Client.remote(config.api_url, Credential.key(config.api_key))
        try:
            yield client
        finally:
            client.close()
        return
    if organization_id is None:
        raise UserError("Missing option '--org'.")
    from api.auth.tokens import issue_token
    from api.server import create_service

    with opened(read_only=True) as store:
        organization(store, organization_id)
        token = issue_token(config, organization_id, None, TTL_S, subject="weir report")
        service: Any = create_service(store, config)
        client = Client.in_process(service, Credential.bearer(token))
        try:
            yield client
        finally:
            client.close()


def _write(out: Path, body: bytes) -> None:
    """Writes the file whole or not at all: a script that mails it never gets half of it."""
    unfinished = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(body)
        unfinished.replace(out)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise UserError(f"{out}: {error.strerror or error}") from None
