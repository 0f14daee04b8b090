"""The statuses that each principal may get from each kind of route, by the rules of access
alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from api.catalog import IMPORTS_PATH
from api.roles import Role
from tests.security.site import Who, Whole
from tests.world import EVERYTHING, FOREIGN, TWIN

PEOPLE = (
    "nobody", "a key", "a viewer's key", "an administrator's key", "a key of other devices",
    "a key of a group", "an administrator's key of a group", "a key of nothing", "a foreign key",
    "an ingest key", "an expired key", "a revoked key", "an unknown key", "a key id", "two keys",
    "a token", "a token for one", "a token that is none", "an embed's token", "a session",
    "an administrator's session", "a session of other devices", "a foreign session",
    "a session of a revoked key",
    "an old session", "a session of another secret", "a key as a cookie",
)  # fmt: skip
NAMES = {  # form of a device's name → the devices it can name
    TWIN: TWIN,
    TWIN.upper(): TWIN,
    "T-1": TWIN,
    "net-t1": TWIN,
    FOREIGN: FOREIGN,
    "net-f1": FOREIGN,
    "00000000-0000-4000-8000-00000000dead": "",
    "no such device": "",
}
ANNOTATIONS = ("{note}", "{maintenance}", "{correction}")
MADE = ("notes", "maintenance", "corrections")  # whose POST responds 201
OF_TWIN = ("{embed}", "{finding}", "{alert}", "{taken}", "{silence}", "{budget}")
# For principals with access to the whole organization.
OF_ALL = ("{rule}", "{receiver}", "{tariff}", "{schedule}")


@dataclass(frozen=True)
class Ask:
    """A request. ``path`` may have {device}, {embed}, {finding}. ``to`` names the rule of
    access."""

    path: str
    to: str
    method: str = "GET"
    body: Any = None
    content_type: str | None = "application/json"


def owed(site: Whole, who: str, ask: Ask, name: str) -> set[int]:
    """The statuses that a principal may get, derived from the test data alone."""
    return _FOR[ask.to](site.people[who], ask, NAMES.get(name, ""))


def _of_api(person: Who, ask: Ask, device: str) -> set[int]:
    if person.api is None:
        return {person.refused}
    if any(name in ask.path for name in (*OF_TWIN, *ANNOTATIONS)):
        return {200} if TWIN in person.api else {404}
    if any(name in ask.path for name in OF_ALL):
        return {200} if person.api == EVERYTHING else {404}
    if ask.path.endswith("/audit"):
        return {200}
    made = ask.method == "POST" and ask.path.rpartition("/")[2] in MADE
    named = "{device}" in f"{ask.path}{ask.body}"
    if not named or "ids=" in ask.path:
        return {200}
    return {201 if made else 200} if device in person.api else {404}


def _of_operator(person: Who, ask: Ask, device: str) -> set[int]:
    refused = person.api is not None and not person.role.may_operate
    return {403} if refused else _of_api(person, ask, device)


def _of_administrator(person: Who, ask: Ask, device: str) -> set[int]:
    refused = person.api is not None and not person.role.may_administer
    of_all = ask.method != "GET" and any(
        each in ask.path for each in ("/rules", "/receivers", "/tariffs", "/reports")
    )
    of_all = (of_all and not ask.path.endswith("/test")) or ask.path.endswith("/audit")
    refused = refused or (of_all and person.api is not None and person.api != EVERYTHING)
    return {403} if refused else _of_api(person, ask, device)


def _of_importer(person: Who, ask: Ask, device: str) -> set[int]:
    """For an administrator of all devices; there is no import with that id."""
    if person.api is None:
        return {person.refused}
    return _imported(person.role is Role.ADMINISTRATOR and person.api == EVERYTHING, ask)


def _of_importers_site(person: Who, ask: Ask, device: str) -> set[int]:
    if person.site is None:
        return {303} if ask.method == "GET" else {401}
    return _imported(person.role is Role.ADMINISTRATOR and person.site == EVERYTHING, ask)


def _of_whole(status: int) -> Callable[[Who, Ask, str], set[int]]:
    """For an administrator of all devices, who gets that status."""

    def statuses(person: Who, ask: Ask, device: str) -> set[int]:
        if person.api is None:
            return {person.refused}
        whole = person.role is Role.ADMINISTRATOR and person.api == EVERYTHING
        return {status} if whole else {403}

    return statuses


def _of_its_administrator(status: int) -> Callable[[Who, Ask, str], set[int]]:
    """For an administrator of the device. An invalid body is refused before the device is looked
    up."""

    def statuses(person: Who, ask: Ask, device: str) -> set[int]:
        if person.api is None:
            return {person.refused}
        if person.role is not Role.ADMINISTRATOR:
            return {403}
        return {status} if device in person.api or ask.body == "{}" else {404}

    return statuses


def _of_forwarded(person: Who, ask: Ask, device: str) -> set[int]:
    if person.site is None:
        return {303} if ask.method == "GET" else {401}
    return {404, 405} if person.role is Role.ADMINISTRATOR else {403}


def _imported(may: bool, ask: Ask) -> set[int]:
    if not may:
        return {403}
    whole = ask.path in (IMPORTS_PATH, "/import/files")
    return {404} if not whole else {201} if ask.method == "POST" else {200}


def _of_silencer(person: Who, ask: Ask, device: str) -> set[int]:
    result = _of_operator(person, ask, device)
    return result if result != {200} or device in (person.api or ()) else {404}


def _of_author(person: Who, ask: Ask, device: str) -> set[int]:
    """No principal here is the author; an administrator may change it nevertheless."""
    result = _of_operator(person, ask, device)
    return {403} if result == {200} and not person.role.may_administer else result


def _of_maker(person: Who, ask: Ask, device: str) -> set[int]:
    if person.api is not None and not person.may_embed:
        return {403}
    if person.api is None:
        return {person.refused}
    if "{embed}" in ask.path:
        good = 200 if ask.method == "DELETE" else 201
        return {good} if TWIN in person.api else {404}
    return {201} if device in person.api else {400}


def _of_site(person: Who, ask: Ask, device: str) -> set[int]:
    if person.site is None:
        return {303} if ask.to != "script" else {401}
    named = "{device}" in f"{ask.path}{ask.body}"
    if ask.path == "/_dash-update-component":
        return {400}  # signed in, and the callback does nothing
    if ask.path == "/wall":
        return {302}  # to the fleet page
    if ask.to == "nobody's page":
        return {404}
    if ask.to == "site, by id":  # a choice of devices; devices of other organizations are ignored
        return {200, 400, 404}
    return {200} if not named or device in person.site else {404}


def _of_administrators_site(person: Who, ask: Ask, device: str) -> set[int]:
    if person.site is None:
        return {303}
    return {200} if person.role is Role.ADMINISTRATOR else {403}


def _of_frame(person: Who, ask: Ask, device: str) -> set[int]:
    return {400} if person.framed else {401}


def _of_sender(person: Who, ask: Ask, device: str) -> set[int]:
    """A valid key is accepted; there is no writer that could store the readings."""
    return {200, 503} if person.sends else {403} if person.api is not None else {person.refused}


_FOR: dict[str, Callable[[Who, Ask, str], set[int]]] = {
    "anybody": lambda *_: {200},
    "nothing there": lambda *_: {404},
    "not over the network": lambda *_: {404},
    "api": _of_api,
    "operator": _of_operator,
    "administrator": _of_administrator,
    "silencer": _of_silencer,
    "its author": _of_author,
    "maker": _of_maker,
    "sender": _of_sender,
    "site": _of_site,
    "site, by id": _of_site,
    "administrator's site": _of_administrators_site,
    **{f"{status} whole": _of_whole(status) for status in (200, 400, 404, 409)},
    **{f"{status} of device": _of_its_administrator(status) for status in (400, 404)},
    "forwarded": _of_forwarded,
    "importer": _of_importer,
    "importer's site": _of_importers_site,
    "script": _of_site,
    "nobody's page": _of_site,
    "frame": _of_frame,
}
