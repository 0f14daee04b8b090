"""A report's content: its local days, numbers and texts; and its HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from api.client import Client
from api.errors import BadRequest
from api.store.base import NewDevice
from api.timez import HOUR_MS, MINUTE_MS, day_start, zone
from components import formatting
from components.concurrent_queries import Deadline, ReplyCache, ServiceAccess
from components.report import text as report_text
from components.report.queries import (
    MOST_DAYS,
    MOST_DEVICES,
    Report,
    checked_report_view,
    load_part,
    load_report,
    read_report_view,
    refusal,
    write_report_view,
)
from components.theme import LIGHT
from tests.fleets import measured
from tests.tables import cases
from tests.world import ms
from web import report as pdf
from web.report import Chart, fluid

NOW = ms("2026-11-20T18:00Z")
STEP_MS = 10 * MINUTE_MS
NIGHT_FLOW = 0.3
# Each range includes a change of clocks, or is in a zone that isn't whole hours from UTC.
ZONES = {
    "R-NY": ("America/New_York", "2026-10-30..2026-11-03", [24, 24, 25, 24, 24]),
    "R-SPRING": ("America/New_York", "2026-03-07..2026-03-09", [24, 23, 24]),
    "R-KOLKATA": ("Asia/Kolkata", "2026-10-30..2026-11-01", [24, 24, 24]),
    "R-HOWE": ("Australia/Lord_Howe", "2026-10-03..2026-10-05", [24, 23.5, 24]),
}
SPANS = (("2026-03-05", "2026-03-12"), ("2026-10-01", "2026-11-06"))


def gallons_at(at: int) -> float:
    return at // STEP_MS % 11 / 4 + 10 * NIGHT_FLOW


READINGS = [
    (at, gallons_at(at))
    for first, last in SPANS
    for at in range(ms(f"{first}T00:00Z"), ms(f"{last}T00:00Z"), STEP_MS)
]


def device(serial: str, tz: str) -> NewDevice:
    fields = {
        "deviceTimeZone": tz,
        "reportingInterval": 600.0,
        "config": {"groups": ["Odd clocks"]},
    }
    price = {"costPerGallon": {"value": 0.02, "currency": "USD"}}
    return NewDevice(serial, {"label": f"<b>{serial}</b> & Sons", **fields, **price})


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    devices = [device(serial, tz) for serial, (tz, _, _) in ZONES.items()]
    readings = dict.fromkeys(ZONES, READINGS)
    with measured(tmp_path_factory.mktemp("report"), "Odd & Even", devices, readings) as opened:
        yield opened


@pytest.fixture
def access(client: Client) -> ServiceAccess:
    return ServiceAccess(client, ReplyCache())


def report_of(access: ServiceAccess, serial: str, **text: str) -> tuple[Report, str]:
    """The report of one device, and its HTML document."""
    view = read_report_view({"q": serial, "range": ZONES[serial][1], **text})
    report = load_report(access, view, NOW)
    charts = {each.meter.id: Chart("<svg></svg>", "words", "note") for each in report.usages}
    return report, pdf.html(report, view, "Odd & Even", charts)


class _Cells(HTMLParser):
    """The texts of a document's table rows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._within = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self._within = True

    def handle_endtag(self, tag: str) -> None:
        self._within = self._within and tag not in ("th", "td")

    def handle_data(self, data: str) -> None:
        if self._within:
            self.rows[-1][-1] += data


# --- Numbers -------------------------------------------------------------------------------------


def is_rounded(text: str, value: float, unit: str) -> bool:
    """Whether the text is the value in that unit, rounded to as many decimals as the text has."""
    result, _, of = text.partition(" ")
    return (result, of) == (formatting.exact(value, len(result.partition(".")[2])), unit)


@pytest.mark.parametrize("serial", list(ZONES))
def test_each_day_is_the_sum_of_its_readings(access: ServiceAccess, serial: str) -> None:
    name, _, hours = ZONES[serial]
    report, text = report_of(access, serial)
    (usage,) = report.usages
    rows = [row for row in _Cells(text).rows if len(row) == 6 and " 2026" in row[0]]
    assert len(rows) == len(hours) == len(usage.days)
    tz = zone(name)
    for day, row, length in zip(usage.days, rows, hours, strict=True):
        start, end = day_start(tz, day.ordinal), day_start(tz, day.ordinal + 1)
        messages = [gallons for at, gallons in READINGS if start <= at < end]
        assert (end - start) / HOUR_MS == length
        assert row[0].endswith(f"{formatting.number(length)} h") == (length != 24)
        assert is_rounded(row[1], sum(messages), "gal")
        assert row[2] == f"${sum(messages) * 0.02:,.2f}"
        assert is_rounded(row[3], sum(messages) / (length * 60), "gpm")
        assert is_rounded(row[4], max(messages) / 10, "gpm")
        assert row[5] == "100.0%"


def test_notes_of_the_range_are_listed(access: ServiceAccess) -> None:
    at = "2026-11-01T12:00:00-05:00"
    body = {"device": "R-NY", "from": at, "text": "Valve <b>replaced</b>"}
    note = access.client.create_annotation("note", body)
    before = access.client.create_annotation("note", {**body, "from": "2026-10-01T00:00:00Z"})
    _, text = report_of(access, "R-NY")
    for each in (note, before):
        access.client.delete_annotation("note", each.id)
    rows = [row for row in _Cells(text).rows if row[0] == "Note"]
    assert rows == [["Note", "2026-11-01 12:00", "Valve <b>replaced</b>"]]


def test_the_numbers_above_are_of_all_days(access: ServiceAccess) -> None:
    report, text = report_of(access, "R-NY")
    start, end = (
        day_start(zone("America/New_York"), report.usages[0].days[0].ordinal),
        ms("2026-11-04T05:00Z"),
    )
    result = sum(gallons for at, gallons in READINGS if start <= at < end)
    detail = report.details[report.usages[0].meter.id]
    units = read_report_view({}).usage.units
    numbers = {n.name: n for n in report_text.numbers(report.usages[0], detail, units)}
    assert numbers["volume"].value == formatting.volume(result)
    assert numbers["volume"].note == f"{formatting.volume(result / 5)} a day"
    assert numbers["cost"].value == f"${result * 0.02:,.2f}"
    assert (numbers["uptime"].value, numbers["quality"].value) == ("100.0%", "90")
    assert (detail.quality_min, detail.quality_max) == (90.0, 90.0)
    for each in numbers.values():
        assert each.value in text


def test_the_night_is_the_last_of_the_range(access: ServiceAccess) -> None:
    report, _ = report_of(access, "R-NY")
    flow = report.details[report.usages[0].meter.id].nights
    assert flow is not None
    assert flow.night == (ms("2026-11-03T07:00Z"), ms("2026-11-03T10:00Z"))
    windows = [
        [gallons_at(start + n * STEP_MS) for n in range(6)]
        for start in range(flow.night.from_ms, flow.night.to_ms - HOUR_MS + 1, STEP_MS)
    ]
    assert flow.last == pytest.approx(min(sum(w) / 60 for w in windows))


@pytest.mark.parametrize(("units", "volume"), [("us", " gal"), ("metric", " m³")])
def test_a_group_has_its_sums_a_table_and_a_section_each(
    access: ServiceAccess, units: str, volume: str
) -> None:
    view = read_report_view(
        {"group": "Odd clocks", "range": "2026-10-30..2026-11-03", "units": units}
    )
    report = load_report(access, view, NOW)
    text = pdf.html(report, view, "Odd & Even", {})
    rows = _Cells(text).rows
    assert next(row[0] for row in rows if len(row) == 7) == "Device"
    together = next(row for row in rows if row[0] == "Total" and len(row) == 7)
    every = sum(each.gallons or 0.0 for each in report.usages)
    assert together[1] == view.usage.units.volume(every)
    assert together[1].endswith(volume) or units == "us"
    assert text.count('class="report-device apart"') == len(ZONES)
    assert "Odd clocks</h1>" in text


def test_no_label_is_markup(access: ServiceAccess) -> None:
    _, text = report_of(access, "R-NY")
    assert "<b>R-NY" not in text
    assert "&lt;b&gt;R-NY&lt;/b&gt; &amp; Sons" in text
    assert "Odd &amp; Even" in text


# --- Requests ------------------------------------------------------------------------------------


def test_it_is_built_in_steps_and_requests_nothing_twice(
    access: ServiceAccess,
) -> None:
    view = read_report_view({"group": "Odd clocks", "range": "2026-10-30..2026-11-03"})
    begun = load_part(access, view, Deadline(0), NOW)
    assert (begun.usages, begun.progress.complete) == ((), False)
    done = load_part(access, view, Deadline(60), NOW)
    assert done.progress.complete
    again = load_part(access, view, Deadline(0), NOW + 1_000)
    assert (again.usages, again.details) == (done.usages, done.details)


@cases(
    ("devices", "days", "text"),
    [
        (0, 30, "No device matches."),
        (1, 366, ""),
        (MOST_DEVICES, MOST_DAYS // MOST_DEVICES, ""),
        (MOST_DEVICES + 1, 1, "a report covers at most 50"),
        (11, 366, "4,026 rows, and a report covers at most 3,700"),
    ],
)
def test_limits_of_a_report(devices: int, days: int, text: str) -> None:
    result = refusal(devices, days)
    assert result == "" if not text else text in result


@cases(
    "fields",
    [
        {},
        {"range": "90d", "units": "metric"},
        {"range": "2026-10", "zone": "Asia/Kolkata", "paper": "letter"},
        {"range": "2026-10-01..2026-10-15", "devices": "a,b", "metric": "volume"},
        {"group": "North & South"},
    ],
)
def test_an_address_gives_the_same_view(fields: dict[str, str]) -> None:
    view = read_report_view(fields)
    written = {name: text for name, text in write_report_view(view).items() if text}
    assert written == fields
    assert checked_report_view(list(fields.items())) == view


def test_without_a_range_it_is_of_last_month() -> None:
    first, last = read_report_view({"range": "nonsense"}).usage.dates(
        ms("2026-11-20T00:00Z") // 86_400_000 + 719_163
    )
    assert (last - first + 1, read_report_view({}).usage.range) == (31, "last-month")


@cases(
    ("pairs", "name"),
    [
        ([("range", "500d")], "range"),
        ([("range", "0d")], "range"),
        ([("range", "2026-10-15..2026-10-01")], "range"),
        ([("zone", "Mars/Base")], "zone"),
        ([("units", "si")], "units"),
        ([("paper", "a3")], "paper"),
        ([("paper", "a4"), ("paper", "a4")], "paper"),
        ([("devices", ",".join(map(str, range(51))))], "devices"),
        ([("devices", ",")], "devices"),
        ([("theme", "dark")], "theme"),
    ],
)
def test_a_files_parameters_are_read_strictly(pairs: list[tuple[str, str]], name: str) -> None:
    with pytest.raises(BadRequest) as caught:
        checked_report_view(pairs)
    assert [each.parameter for each in caught.value.errors] == [name]


# --- As HTML -------------------------------------------------------------------------------------


def test_a_chart_has_the_pages_colours_and_width() -> None:
    paint = "rgb({}, {}, {})".format(*bytes.fromhex(LIGHT.accent[1:]))
    svg = (
        '<svg class="a" width="900" height="244.5" viewBox="0 0 900 244">'
        f'<path style="fill: {paint}; stroke: rgb(1, 2, 3)"/><rect width="9" height="9"/></svg>'
    )
    assert fluid(svg) == (
        '<svg class="a" viewBox="0 0 900 244"><path style="fill: var(--accent);'
        ' stroke: rgb(1, 2, 3)"/><rect width="9" height="9"/></svg>'
    )


@cases("title", ['a"}body{display:none}/*', "back\\slash", "</style><script>", "Süd 12"])
def test_a_title_cannot_leave_its_string_in_the_style(title: str) -> None:
    rules = pdf.page_rules(title, "1 Oct", "A4")
    _, _, after = rules.partition("@top-left{content:")
    string, _, _ = after.partition(";font")
    assert string.startswith('"')
    assert string.endswith('"')
    assert not set(string[1:-1]) & set('"{}<>/;\n')
    assert rules.count("{") == rules.count("}") == 5
