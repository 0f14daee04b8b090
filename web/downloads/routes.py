"""The addresses of files and their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from werkzeug.wrappers import Response

from api.errors import TooManyRequests
from components import session
from components.fleet.queries import ServiceAccess, current_access
from web.concurrency_limit import ConcurrencyLimit
from web.downloads import device, lists, streaming, usage
from web.downloads.table import Table

MOST_EACH: Final = 3  # half of its lane's threads

Make = Callable[..., Table]
"""Makes a table from the reader's access, the query and the path's variables."""

FILES: Final[Mapping[str, Make]] = {
    "/download/devices/<path:device_id>/rows": device.rows_file,
    "/download/devices/<path:device_id>/days": device.days_file,
    "/download/devices/<path:device_id>/hours": device.hours_file,
    "/download/devices/<path:device_id>/forecast": device.forecast_file,
    "/download/devices/<path:device_id>/registers": device.registers_file,
    "/download/devices/<path:device_id>/findings": lists.device_findings_file,
    "/download/devices": lists.devices_file,
    "/download/findings": lists.findings_file,
    "/download/alerts": lists.alerts_file,
    "/download/audit": lists.audit_file,
    "/download/fleet": lists.states_file,
    "/download/compare": lists.compare_file,
    "/download/usage/by-device": usage.devices_file,
    "/download/usage/by-day": usage.days_file,
}


def rules() -> Iterator[tuple[str, str, Callable[..., Response]]]:
    """(address, name, view function) of every file, in each of its kinds."""
    for path, make in FILES.items():
        for kind in streaming.KINDS:
            yield f"{path}.{kind}", f"{path} {kind}".replace(".", "_"), _view(make, kind)


def _limit() -> ConcurrencyLimit:
    return ConcurrencyLimit(MOST_EACH, "files")


def _view(make: Make, kind: str) -> Callable[..., Response]:
    def view(**named: str) -> Response:
        """Streams, whatever the number of rows."""
        access: ServiceAccess = current_access()
        try:
            give_back = session.singleton("files", _limit).take(access.principal)
        except TooManyRequests as error:
            return streaming.refused(error)
        try:
            response = streaming.sent(
                partial(make, access, session.query_params(), **named),
                kind,
                gzip=session.takes_gzip(),
            )
        except BaseException:
            give_back()
            raise
        response.call_on_close(give_back)
        return response

    return view
