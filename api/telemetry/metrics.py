"""Metrics for Prometheus. Before `begin`, counting does nothing.

Each process counts into its own file in a shared folder. The process that serves ``/metrics`` adds
the files up, so that the counts of a dead worker remain. Devices, organizations and keys are not
labels: there would be too many, and they are confidential.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from prometheus_client.core import Metric
    from prometheus_client.registry import CollectorRegistry

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
REQUEST_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
FETCH_S: Final = (0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5)
COMMIT_S: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
# Writing to a mapped file on a full disk kills the process: the space is reserved in advance.
_FILE_BYTES: Final = {"counter": 256 << 10, "histogram": 256 << 10, "gauge_livesum": 64 << 10}
_LIVE: Final = "gauge_live"


class _Meters:
    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Gauge, Histogram

        def counter(name: str, meaning: str, *labels: str) -> Counter:
            return Counter(name, meaning, labels, registry=registry)

        def gauge(name: str, meaning: str) -> Gauge:
            return Gauge(name, meaning, registry=registry, multiprocess_mode="livesum")

        def seconds(name: str, meaning: str, edges: Sequence[float], *labels: str) -> Histogram:
            return Histogram(name, meaning, labels, registry=registry, buckets=edges)

        self.registry = registry
        self.requests = counter("weir_requests", "Responses sent.", "route", "method", "status")
        help_text = "Time from a request to the last byte of its response."
        self.seconds = seconds("weir_request_seconds", help_text, REQUEST_S, "route")
        self.in_flight = gauge("weir_requests_in_flight", "Requests in progress.")
        self.fetch = seconds("weir_store_fetch_seconds", "Time of one read of the store.", FETCH_S)
        self.lookups = counter("weir_cache_lookups", "Cache lookups.", "cache", "result")
        self.rows = counter("weir_ingest_rows", "Rows received live.", "result")
        help_text = "Reports of suspicious readings, one a device and day."
        self.suspicious = counter("weir_ingest_suspicious", help_text)
        help_text = "Acknowledged messages: ours, and those other shards store."
        self.messages = counter("weir_mqtt_messages", help_text, "whose")
        help_text = "Connections of meters by MQTT: accepted, or why they were refused or ended."
        self.mqtt_connections = counter("weir_mqtt_connections", help_text, "event")
        help_text = "Stored readings for the broker, by result."
        self.published = counter("weir_mqtt_published", help_text, "result")
        self.commit = seconds(
            "weir_commit_seconds", "Time of one transaction of the writer.", COMMIT_S
        )
        self.queue = gauge("weir_ingest_queue_rows", "Rows waiting for the writer.")
        self.images = gauge("weir_image_queue", "Images being drawn or waiting.")
        self.children: dict[Any, Any] = {}


_meters: _Meters | None = None


def share(folder: Path) -> None:
    """Makes this process and its children count in one folder below ``folder``, and removes the
    files of ended processes. Call it before anything is counted."""
    place = folder / socket.gethostname()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.environ.get(FOLDER_VARIABLE) == str(place):
        return  # in a child process: the counts of earlier processes stay
    for file in place.glob("*.db"):
        if not _alive(file):
            file.unlink(missing_ok=True)
    os.environ[FOLDER_VARIABLE] = str(place)


def begin() -> None:
    """Starts counting in this process."""
    global _meters
    place = os.environ.get(FOLDER_VARIABLE)
    if _meters is not None:
        return
    if place and "prometheus_client" not in sys.modules and not _reserve_disk(Path(place)):
        del os.environ[FOLDER_VARIABLE]  # a full disk: this process counts in its own memory only
    from prometheus_client.registry import CollectorRegistry

    _meters = _Meters(CollectorRegistry())


def _reserve_disk(place: Path) -> bool:
    """Reserves disk space for this process's files; False if the disk is full."""
    try:
        for kind, size in _FILE_BYTES.items():
            file = os.open(place / f"{kind}_{os.getpid()}.db", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                os.posix_fallocate(file, 0, size)
            finally:
                os.close(file)
    except OSError:
        for kind in _FILE_BYTES:
            (place / f"{kind}_{os.getpid()}.db").unlink(missing_ok=True)
        return False
    return True


# --- Counting ------------------------------------------------------------------------------------


def request_began() -> None:
    if _meters is not None:
        _meters.in_flight.inc()


def request_ended(route: str, method: str, status: int, seconds: float) -> None:
    if _meters is None:
        return
    _meters.in_flight.dec()
    children = _meters.children
    counted = children.get((route, method, status))
    if counted is None:  # finding a child by its labels is slower than counting
        counted = children[route, method, status] = (
            _meters.requests.labels(route, method, str(status)),
            _meters.seconds.labels(route),
        )
    counted[0].inc()
    counted[1].observe(seconds)


def fetched(seconds: float) -> None:
    if _meters is not None:
        _meters.fetch.observe(seconds)


def looked_up(cache: str, hit: bool) -> None:
    if _meters is None:
        return
    counted = _meters.children.get((cache, hit))
    if counted is None:
        result = "hit" if hit else "miss"
        counted = _meters.children[cache, hit] = _meters.lookups.labels(cache, result)
    counted.inc()


def committed(seconds: float) -> None:
    if _meters is not None:
        _meters.commit.observe(seconds)


def count_rows(rows: Iterable[tuple[str, int]]) -> None:
    """Counts rows by result."""
    if _meters is not None:
        for result, number in rows:
            _meters.rows.labels(str(result)).inc(number)


def suspicious() -> None:
    """Counts a report of suspicious readings."""
    if _meters is not None:
        _meters.suspicious.inc()


def acknowledged(ours: int, others: int) -> None:
    """Counts acknowledged messages."""
    if _meters is not None:
        _meters.messages.labels("ours").inc(ours)
        _meters.messages.labels("others").inc(others)


def mqtt_connection(event: str) -> None:
    """Counts a connection by ``event``: accepted, or why it was refused or ended."""
    if _meters is not None:
        _meters.mqtt_connections.labels(event).inc()


def published(result: str, number: int = 1) -> None:
    """Counts messages by ``result``: published, dropped or refused."""
    if _meters is None:
        return
    counted = _meters.children.get(result)
    if counted is None:
        counted = _meters.children[result] = _meters.published.labels(result)
    counted.inc(number)


def queued(rows: int) -> None:
    if _meters is not None:
        _meters.queue.set(rows)


def images_waiting(number: int) -> None:
    if _meters is not None:
        _meters.images.set(number)


# --- Exposition ----------------------------------------------------------------------------------


def exposition(also: Iterable[Metric]) -> bytes:
    """Returns all counts of this folder's processes, and the metrics of ``also``, in Prometheus'
    format."""
    from prometheus_client import generate_latest
    from prometheus_client.registry import CollectorRegistry

    registry = CollectorRegistry()
    registry.register(_Collected([*_counted(), *also]))
    return generate_latest(registry)


class _Collected:
    """A collector of ready-made metrics."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


def _counted() -> Iterable[Metric]:
    place = os.environ.get(FOLDER_VARIABLE)
    if place is None:
        return () if _meters is None else list(_meters.registry.collect())
    from prometheus_client.multiprocess import MultiProcessCollector

    ours = Path(place)
    for file in ours.glob(f"{_LIVE}*.db"):
        if not _alive(file):  # a dead process has no requests in progress
            file.unlink(missing_ok=True)
    files = [str(file) for file in ours.parent.glob("*/*.db") if _sound(file)]
    merge = cast("Callable[[list[str]], Iterable[Metric]]", MultiProcessCollector.merge)  # pyright: ignore[reportUnknownMemberType]
    return list(merge(files))


def _alive(file: Path) -> bool:
    try:
        os.kill(int(file.stem.rpartition("_")[2]), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:  # a file of another program
        pass
    return True


def _sound(file: Path) -> bool:
    """Whether the file can be read: a killed process may have left it incomplete."""
    from prometheus_client.mmap_dict import MmapedDict

    read = cast("Callable[[str], Iterable[object]]", MmapedDict.read_all_values_from_file)  # pyright: ignore[reportUnknownMemberType]
    with suppress(Exception):
        return bool(list(read(str(file))))
    return False
