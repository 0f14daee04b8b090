"""Images of the cards below a device's chart: the values that the card shows, drawn as it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from api.client import Device
from api.timez import DAY_MS
from components import formatting, session
from components.chart_query import zone_words
from components.clock import Clock, day_text, known_zone
from components.device import daily_volume, hourly_profile, queries
from components.image_query import Pairs, read_card
from components.queries import find_device
from components.ranges import Window
from components.theme import Palette, palette
from components.units import Units
from components.url_state import View
from web.downloads.names import file_stem, of_window
from web.images import daily_bars, week_heatmap
from web.images.figure import Caption
from web.images.page_frame import Box, framed, lines
from web.images.rendered import Image, converted
from web.rendering import Renderer
from web.rendering.messages import Format


@dataclass(frozen=True, slots=True)
class Asked:
    """``end_ms`` is where the card's weeks end: now, or where a silent device left off."""

    device: Device
    view: View
    tz: ZoneInfo
    end_ms: int
    now_ms: int

    @property
    def units(self) -> Units:
        return self.view.units


@dataclass(frozen=True, slots=True)
class Drawing:
    """``window`` is what is shown, ``parts`` say it; ``draw`` fills the room."""

    window: Window
    parts: tuple[str, ...]
    draw: Callable[[Box, Palette], str]


def card_image(
    renderer: Renderer, device_id: str, card: str, pairs: Pairs, format: Format, now_ms: int
) -> Image:
    """A card's image, ``card`` of `DRAWINGS`. Raises BadRequest for the address, what the client
    raises (NotFound for a device out of its scope), and RenderingError."""
    view, size = read_card(pairs)
    device = find_device(session.current_client(), device_id, now_ms).device
    tz = known_zone(view.zone, device.time_zone)
    drawing = DRAWINGS[card](Asked(device, view, tz, queries.until(device.id, now_ms), now_ms))
    colours = palette(view.theme)
    made = formatting.moment(now_ms, Clock(tz, now_ms, now_ms))
    told = lines(drawing.parts, size)
    caption = Caption(device.label, device.serial_number, told, f"Weir · {made}")
    svg = framed(caption, size, colours, lambda box: drawing.draw(box, colours))
    name = file_stem(device.serial_number, card, *of_window(drawing.window))
    return Image(converted(renderer, svg, format, size), name)


def by_day(asked: Asked) -> Drawing:
    under_way = asked.end_ms == asked.now_ms
    told = queries.daily(asked.device.id, asked.tz, asked.end_ms)
    found = daily_volume.days(told, asked.tz, asked.end_ms, under_way=under_way)
    window = Window(found[0].window.from_ms, found[-1].window.to_ms)
    parts = (
        daily_volume.TITLE,
        f"{found[0].name} – {found[-1].name}{' so far' if under_way else ''}",
        zone_words(asked.tz, window),
        daily_volume.average(found, asked.units),
    )
    return Drawing(
        window, parts, lambda box, colours: daily_bars.bars(found, asked.units, box, colours)
    )


def by_hour(asked: Asked) -> Drawing:
    found = queries.weekly(asked.device.id, asked.tz, asked.end_ms)
    window = hourly_profile.window_of(asked.tz, asked.end_ms)
    clock = Clock(asked.tz, *window)
    first, last = (day_text(clock.local(at) // DAY_MS) for at in window)
    parts = (
        f"{hourly_profile.TITLE}, mean {asked.units.flow_name}",
        f"{first} – {last}",
        zone_words(asked.tz, window),
    )
    return Drawing(
        window, parts, lambda box, colours: week_heatmap.hours(found, asked.units, box, colours)
    )


DRAWINGS: Final[Mapping[str, Callable[[Asked], Drawing]]] = {"days": by_day, "heat": by_hour}
