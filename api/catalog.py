"""What Weir measures, at which resolutions, and how far a request may reach.

Every fact is defined once, as a row. SQL columns, JSON names, the OpenAPI document, filter fields,
chart labels and units are derived from these rows; nothing else in the project spells them out.
Standard library only: any layer, the dashboard included, may import this module.
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
BACKEND_VERSION: Final = "0.1.0"
PATH_PREFIX: Final = "/management/v1"
KEY_HEADER: Final = "service-api-key"

# How Weir's dashboard asks for its charts' rows, in Accept: one list a column and, with the
# parameter metrics="flow_rate quality", only of these. Private to it, undocumented, free to change.
COLUMNS_TYPE: Final = "application/vnd.weir.columns+json"

# Of a text in a file for spreadsheets: what some program takes for a formula, including full-width
# signs and leading space, and what would end a cell. Such a text gets an apostrophe before it.
FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")


# --- Metrics -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured quantity of a reading.

    ``name`` is its column and its key in datapoint rows; ``field`` its camel-case name in filters
    and in LatestDatapoint. ``averaged`` puts it into the rollups at all, ``extremes`` adds min_
    and max_, ``totalled`` adds total_.
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
WATER_METRICS: Final = (FLOW_RATE, FLOW_DURATION, FLOW_AMOUNT)  # derived where a register is sent
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

    ``length_ms`` is the bucket's length; None for raw rows and for what has no fixed length.
    ``stored`` rows have a rollup table of their own; ``calendar`` rows are cut at local midnights.
    ``stamp`` is the name of the time column in a row, None where a row has none.
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
        """What one row holds of these metrics behind its stamp, in order."""
        if self.aggregated:
            return tuple(a for a in AGGREGATES if a.metric in metrics)
        return tuple(m for m in METRICS if m in metrics)

    def columns_of(self, metrics: Collection[Metric]) -> tuple[str, ...]:
        """The keys of one row that holds only these metrics, in order."""
        stamp = (self.stamp,) if self.stamp else ()
        return (*stamp, *(value.name for value in self.values(metrics)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The keys of one row, in order."""
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
    ``Device`` that holds it (an instant's ends in ``_ms``). ``required``: in every answer."""

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
    """A number that a request may carry: its bounds (inclusive) and its default."""

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
METERLESS: Final = ("Gateway",)  # categories that relay readings and measure no water
ORDERS: Final = ("asc", "desc")

# A reading outside these bounds is refused at the door (spec: Readings).
EARLIEST_READING_MS: Final = 946_684_800_000  # 2000-01-01T00:00:00Z
FUTURE_TOLERANCE_MS: Final = DAY_MS

# What one request may bring in; a row is some 200 bytes of JSON.
INGEST_PATH: Final = "/ingest/v1"
INGEST_ROWS: Final = 10_000
INGEST_BODY_BYTES: Final = 8 << 20  # as sent
INGEST_TEXT_BYTES: Final = 16 << 20  # unpacked
INGEST_VALUES: Final = 64 * INGEST_ROWS  # in all of its JSON: memory, not text, is what they cost

# How long a revoked or expired credential may still be honoured by any cache.
CREDENTIAL_CACHE_S: Final = 5.0


# --- Insight -------------------------------------------------------------------------------------

INSIGHT_PREFIX: Final = "/insight/v1"
TOPIC_PREFIX: Final = "weir/v1"  # of Weir's own topics at an MQTT broker
ADMIN_PREFIX: Final = "/admin/v1"
ADMIN_BODY_BYTES: Final = 4 * 1024 * 1024  # a file of devices
IMPORTS_PATH: Final = f"{INSIGHT_PREFIX}/imports"
IMPORT_PIECE_BYTES: Final = 4 << 20  # of a file that is sent in pieces
INSIGHT_LIMIT: Final = Limit(1, 1_000, 100)


# --- Embeds --------------------------------------------------------------------------------------

EMBEDS_PREFIX: Final = "/embeds/v1"
EMBED_PAGE_PREFIX: Final = "/embed"
SITE_ROOT: Final = "weir.root"  # in an environment: the path below which the site stands, or ""


@dataclass(frozen=True, slots=True)
class EmbedView:
    """What an embed may show: of how many devices at most, in how high a frame. Each row of tiles
    makes it higher by ``row_px``. Where ``metric``, it shows one of CHARTS."""

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
EMBED_COLUMNS: Final = 4  # of tiles at most, however wide the frame is
EMBED_CONTROLS_PX: Final = 44  # what a viewer may change stands in a line of its own
EMBED_VIEW_BY_NAME: Final = {view.name: view for view in EMBED_VIEWS}
CHARTS: Final = ("flow_rate", "volume", "quality", "signal", "temperature")  # a chart's tabs
UNIT_SYSTEMS: Final = ("us", "metric")
EMBED_THEMES: Final = ("system", "light", "dark")
EMBED_COMPARISONS: Final = ("day", "week", "month", "year", "usual")
EMBED_CONTROLS: Final = ("range", "zone", "units", "theme")  # what a viewer may be let change
DEVICE_ZONE: Final = "device"  # each device's own time zone
EMBED_TITLE_LENGTH: Final = 120
EMBED_MAX_ORIGINS: Final = 20
# A chart takes any rolling window; tiles have a line and a heartbeat of these lengths.
EMBED_WINDOW_S: Final = Limit(600, 5 * 366 * 86_400, 86_400)
TILE_WINDOWS_S: Final = (3_600, 86_400, 7 * 86_400, 30 * 86_400)
EMBED_TOKEN_S: Final = Limit(10, 600, 600)  # what a host's own backend mints
