"""What a device's page says where there is no such device, or it can't be loaded."""

from __future__ import annotations

from dash import dcc
from dash.development.base_component import Component

from api.errors import WeirError
from components import session, shell
from components.controls import failed_page, message


def unknown(identifier: str, place: str) -> Component:
    return shell.frame(
        message(
            "Device not found, or you don’t have access",
            f"No device has the identifier {identifier!r}.",
            dcc.Link("All devices", href=session.site_path(place), className="button"),
        ),
        place=place,
    )


def failed(identifier: str, error: WeirError, place: str) -> Component:
    href = f"{place}/{identifier}"
    return shell.frame(failed_page("The device can’t be loaded", error, href), place=place)


def keep_label(identifier: str, label: str) -> None:
    """For the page's title, which is asked for after its layout."""
    session.remembered(_key(identifier), lambda _: label)


def kept_label(identifier: str) -> str:
    try:
        return str(session.remembered(_key(identifier), lambda _: "Device"))
    except WeirError:
        return "Device"


def _key(identifier: str) -> str:
    return f"label:{identifier}"
