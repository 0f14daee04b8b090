"""What Weir measures, at which resolutions, and the limits of a request.

Every fact is defined once, as a row. SQL columns, JSON names, the OpenAPI document, filter fields,
chart labels and units are derived from these rows; nothing else in the project repeats them.

Standard library only: any layer, including the dashboard, may import this module.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

INTERFACE_VERSION: Final = "1.0.0"
BACKEND_VERSION: Final = "0.2.0"
PATH_PREFIX: Final = "/management/v1"
KEY_HEADER: Final = "service-api-key"

# The media type by which Weir's dashboard requests the rows of its charts: one list per column and,
# with the parameter metrics="flow_rate quality", only these metrics. Private to the dashboard,
# undocumented, free to change.
COLUMNS_TYPE: Final = "application/vnd.weir.columns+json"

# Matches text in a file for spreadsheets that some program reads as a formula (full-width signs and
# leading spaces included) or as the end of a cell. Such text is written with an apostrophe before
# it.
FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")


# --- Metrics -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured quantity of a reading.

    ``name`` is its column and its key in datapoint rows; ``field`` is its camel-case name in
    filters and in LatestDatapoint. ``averaged`` includes it in the rollups; ``extremes`` adds min_
    and max_ columns, ``totalled`` a total_ column.
    """

    name: str
    field: str
    label: str
    unit: str
    averaged: bool = True
    extremes: bool = True
    totalled: bool = False


FLOW_RATE: Final = Metric("flow_rate", "flowRate", "Flow rate", "gal/min")
FLOW_DURATION: Final = Metric(
    "flow_duration", "flowDuration", "Flow duration", "s", averaged=False, extremes=False
)
FLOW_AMOUNT: Final = Metric(
    "flow_amount", "flowAmount", "Volume", "gal", extremes=False, totalled=True
)
QUALITY: Final = Metric("quality", "quality", "Signal quality", "%")
SIGNAL_STRENGTH: Final = Metric("signal_strength", "signalStrength", "Signal strength", "dBm")
NETWORK_RSSI: Final = Metric("network_rssi", "networkRssi", "Network RSSI", "dBm")
ONBOARD_TEMPERATURE: Final = Metric(
    "onboard_temperature", "onboardTemperature", "Onboard temperature", "°C"
)

METRICS: Final[tuple[Metric, ...]] = (
    FLOW_RATE,
    FLOW_DURATION,
    FLOW_AMOUNT,
    QUALITY,
    SIGNAL_STRENGTH,
    NETWORK_RSSI,
    ONBOARD_TEMPERATURE,
)
WATER_METRICS: Final = (FLOW_RATE, FLOW_DURATION, FLOW_AMOUNT)  # derived from a register
BESIDE_REGISTER: Final = tuple(m for m in METRICS if m not in WATER_METRICS)
ROLLED_METRICS: Final = tuple(m for m in METRICS if m.averaged)


# --- Columns of an aggregated row ----------------------------------------------------------------

Function = Literal["avg", "min", "max", "total"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One column of an aggregated datapoint row, such as ``max_flow_rate``."""

    function: Function
    metric: Metric

    @property
    def name(self) -> str:
        return f"{self.function}_{self.metric.name}"


AGGREGATES: Final[tuple[Aggregate, ...]] = (
    *(Aggregate("avg", m) for m in METRICS if m.averaged),
    *(Aggregate("min", m) for m in METRICS if m.extremes),
    *(Aggregate("max", m) for m in METRICS if m.extremes),
    *(Aggregate("total", m) for m in METRICS if m.totalled),
)

RAW_COLUMNS: Final = ("recorded_at", *(m.name for m in METRICS))
AGGREGATE_COLUMNS: Final = tuple(a.name for a in AGGREGATES)


# --- Resolutions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resolution:
    """One level of detail.

    ``length_ms`` is the bucket's length; None for raw rows and for buckets without a fixed length.
    ``stored``: the rows have a rollup table of their own. ``calendar``: rows are cut at local
    midnights. ``stamp`` is the name of a row's time column, None where rows have none.
    """

    name: str
    label: str
    length_ms: int | None
    stamp: str | None
    stored: bool = False
    calendar: bool = False

    @property
    def aggregated(self) -> bool:
        return self.name != "raw"

    @property
    def table(self) -> str:
        """The table that holds the rows (raw and stored resolutions only)."""
        return f"rollup_{self.name}" if self.stored else "reading"

    @property
    def fixed_ms(self) -> int:
        """The bucket's length, for resolutions that have one."""
        if self.length_ms is None:
            raise ValueError(f"{self.name} has no fixed bucket length")
        return self.length_ms

    def values(self, metrics: Collection[Metric]) -> tuple[Metric | Aggregate, ...]:
        """Returns the values of a row with only these metrics, in the order of its columns after
        the stamp."""
        if self.aggregated:
            return tuple(a for a in AGGREGATES if a.metric in metrics)
        return tuple(m for m in METRICS if m in metrics)

    def columns_of(self, metrics: Collection[Metric]) -> tuple[str, ...]:
        """Returns the keys of a row with only these metrics, in order."""
        stamp = (self.stamp,) if self.stamp else ()
        return (*stamp, *(value.name for value in self.values(metrics)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Returns the keys of a row, in order."""
        return self.columns_of(METRICS)


def _stored(name: str, label: str, minutes: int) -> Resolution:
    return Resolution(name, label, minutes * MINUTE_MS, f"bucket_{name}", stored=True)


RAW: Final = Resolution("raw", "raw", None, "recorded_at")
DAY: Final = Resolution("day", "day", None, "bucket", calendar=True)
MONTH: Final = Resolution("month", "month", None, "bucket", calendar=True)
TOTAL: Final = Resolution("total", "total", None, None)

STORED: Final[tuple[Resolution, ...]] = (  # finest first: each is rolled up from the one before
    _stored("1min", "1 min", 1),
    _stored("5min", "5 min", 5),
    _stored("10min", "10 min", 10),
    _stored("1hour", "1 hour", 60),
)
ONE_MINUTE: Final = STORED[0]
COARSEST_STORED: Final = STORED[-1]

RESOLUTIONS: Final[tuple[Resolution, ...]] = (RAW, *STORED, DAY, MONTH, TOTAL)
RESOLUTION_BY_NAME: Final = {r.name: r for r in RESOLUTIONS}
LADDER: Final[tuple[Resolution, ...]] = (*reversed(STORED), RAW)  # adaptive: coarse to fine


# --- Filters -------------------------------------------------------------------------------------

OPERATORS: Final[dict[str, str]] = {  # interface operator → SQL operator
    "eq": "=",
    "neq": "<>",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
}


def _aggregated_fields() -> dict[str, Aggregate]:
    fields = {m.field: Aggregate("avg", m) for m in METRICS if m.averaged}
    for function in ("min", "max"):
        for metric in METRICS:
            if metric.extremes:
                camel = metric.field[0].upper() + metric.field[1:]
                fields[function + camel] = Aggregate(function, metric)
    return fields


RAW_FILTER_FIELDS: Final[dict[str, Metric]] = {m.field: m for m in METRICS}
AGGREGATED_FILTER_FIELDS: Final[dict[str, Aggregate]] = _aggregated_fields()


# --- Fields of a device --------------------------------------------------------------------------

FieldKind = Literal["text", "flag", "instant", "object", "texts", "number"]


@dataclass(frozen=True, slots=True)
class DeviceField:
    """One field of the interface's Device: its JSON name, and the attribute of the store's
    ``Device`` that holds it (an instant's name ends in ``_ms``). ``required`` fields are in every
    response."""

    name: str
    attribute: str
    kind: FieldKind = "text"
    required: bool = True

    @property
    def scalar(self) -> bool:
        """Whether devices can be ordered by it."""
        return self.kind in ("text", "flag", "instant")


DEVICE_FIELDS: Final[tuple[DeviceField, ...]] = (
    DeviceField("id", "id"),
    DeviceField("category", "category"),
    DeviceField("serialNumber", "serial_number"),
    DeviceField("created", "created_ms", "instant"),
    DeviceField("updated", "updated_ms", "instant"),
    DeviceField("label", "label"),
    DeviceField("installedOn", "installed_on_ms", "instant"),
    DeviceField("installed", "installed", "flag"),
    DeviceField("costPerGallon", "cost_per_gallon", "object"),
    DeviceField("alertsActive", "alerts_active", "flag"),
    DeviceField("kFactor", "k_factor", "object"),
    DeviceField("deviceTimeZone", "time_zone"),
    DeviceField("model", "model"),
    DeviceField("organizationId", "organization_id", required=False),
    DeviceField("resellerId", "reseller_id", required=False),
    DeviceField("config", "config", "object", required=False),
    DeviceField("distributorId", "distributor_id", required=False),
    DeviceField("networkUniqueIdentifier", "network_unique_identifier"),
    DeviceField("billingSubscriptions", "billing_subscriptions", "texts", required=False),
)
DEVICE_ORDER_FIELDS: Final = {f.name: f for f in DEVICE_FIELDS if f.scalar}
DEVICE_ORDER_DEFAULT: Final = "label"


# --- Limits --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """A numeric parameter of a request: its bounds (inclusive) and its default."""

    minimum: int
    maximum: int | None
    default: int | None


LIMIT: Final = Limit(1, 10_000, 1_000)
OFFSET: Final = Limit(0, None, 0)
MAX_DATAPOINTS: Final = Limit(1, 10_000, 1_000)
DEVICE_LIMIT: Final = Limit(1, None, None)
MAX_IDS: Final = 50
MAX_FILTERS: Final = 20
LATEST_WINDOW_MS: Final = DAY_MS
UPTIME_DEFAULT: Final = ONE_MINUTE

LATEST_METRICS: Final = ("uptime", "lastSeen", "lastDatapoint", "quality")
CATEGORIES: Final = ("EndDevice", "Gateway")
METERLESS: Final = ("Gateway",)  # categories of devices that relay readings and don't measure water
ORDERS: Final = ("asc", "desc")

# Readings outside these bounds are refused on arrival (spec: Readings).
EARLIEST_READING_MS: Final = 946_684_800_000  # 2000-01-01T00:00:00Z
FUTURE_TOLERANCE_MS: Final = DAY_MS

# Limits of one request that sends readings; a row is about 200 bytes of JSON.
INGEST_PATH: Final = "/ingest/v1"
INGEST_ROWS: Final = 10_000
INGEST_BODY_BYTES: Final = 8 << 20  # compressed, as sent
INGEST_TEXT_BYTES: Final = 16 << 20  # unpacked
INGEST_VALUES: Final = 64 * INGEST_ROWS  # values in the whole JSON document, as a bound on memory

# The longest time for which a cache may still accept a revoked or expired credential.
CREDENTIAL_CACHE_S: Final = 5.0


# --- Insight -------------------------------------------------------------------------------------

INSIGHT_PREFIX: Final = "/insight/v1"
TOPIC_PREFIX: Final = "weir/v1"  # first part of Weir's own topics at an MQTT broker
ADMIN_PREFIX: Final = "/admin/v1"
ADMIN_BODY_BYTES: Final = 4 * 1024 * 1024  # a file of devices
IMPORTS_PATH: Final = f"{INSIGHT_PREFIX}/imports"
REPORT_PDF_PATH: Final = "/export/report.pdf"  # of the dashboard, where reports are printed
UUID_FORM: Final = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII
)
IMPORT_PIECE_BYTES: Final = 4 << 20  # of a file that is uploaded in pieces
INSIGHT_LIMIT: Final = Limit(1, 1_000, 100)


# --- Embeds --------------------------------------------------------------------------------------

EMBEDS_PREFIX: Final = "/embeds/v1"
EMBED_PAGE_PREFIX: Final = "/embed"
SITE_ROOT: Final = "weir.root"  # WSGI environ key: the path below which the site is served, or ""


@dataclass(frozen=True, slots=True)
class EmbedView:
    """A kind of embed: the largest number of devices, and the height of its frame. Each row of
    tiles adds ``row_px``. With ``metric``, it shows one of CHARTS."""

    name: str
    label: str
    most_devices: int
    height_px: int
    metric: bool = False
    row_px: int = 0


EMBED_VIEWS: Final = (
    EmbedView("chart", "Chart", 1, 420, metric=True),
    EmbedView("tile", "Tile", 1, 282),
    EmbedView("wall", "Wall of tiles", MAX_IDS, 84, row_px=208),
)
EMBED_COLUMNS: Final = 4  # most tiles in a row, however wide the frame is
EMBED_CONTROLS_PX: Final = 44  # the row of controls for the viewer
EMBED_VIEW_BY_NAME: Final = {view.name: view for view in EMBED_VIEWS}
CHARTS: Final = ("flow_rate", "volume", "quality", "signal", "temperature")  # the tabs of a chart
UNIT_SYSTEMS: Final = ("us", "metric")
EMBED_THEMES: Final = ("system", "light", "dark")
EMBED_COMPARISONS: Final = ("day", "week", "month", "year", "usual")
EMBED_CONTROLS: Final = ("range", "zone", "units", "theme")  # controls that a viewer may be given
DEVICE_ZONE: Final = "device"  # each device's own time zone
EMBED_TITLE_LENGTH: Final = 120
EMBED_MAX_ORIGINS: Final = 20
# Ranges of an embed. A chart takes any rolling window; the line and uptime strip of a tile take
# these lengths only.
EMBED_WINDOW_S: Final = Limit(600, 5 * 366 * 86_400, 86_400)
TILE_WINDOWS_S: Final = (3_600, 86_400, 7 * 86_400, 30 * 86_400)
EMBED_TOKEN_S: Final = Limit(10, 600, 600)  # created by a host's own backend
