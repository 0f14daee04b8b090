"""Pictures of every page in both themes, wide and on a phone: `make screenshots`.

Shows the demo fleet and, if the folder is there, the real meters beside the project, by the real
server. The store stays under build/, so that a second run takes seconds. The pictures go to
screenshots/, which git ignores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from api.client import Client
from tests.browser.charts import Chart
from tests.browser.chromium import Tab, started
from tests.conftest import SHARED_DATA
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
PICTURES = ROOT / "screenshots"
REAL = ("ampds2_year1", "bwdf_dma01_06", "weusedto", "daiad_amphiro_A_events")
SIZES = {1440: 1000, 390: 844}
THEMES = ("light", "dark")
REAL_ZOOM = "?range=1y&from=2023-03-25T00:00:00Z&to=2023-03-28T00:00:00Z"


@dataclass(frozen=True)
class Picture:
    """``chart`` pages are waited for until they are drawn, others until ``text`` appears. ``hover``
    is the pointer's place, a fraction of the plot's width."""

    name: str
    path: str
    text: str = ""
    chart: bool = True
    hover: float | None = None


def pictures(ids: Mapping[str, str]) -> Iterator[Picture]:
    """The pictures to take. ``ids`` are device ids by serial number."""
    yield Picture("fleet", "/?q=FM-", "Reporting", chart=False)
    # With meters that have not reported for long.
    yield Picture("fleet-all", "/", "Reporting", chart=False)
    yield Picture("fleet-metric-30d", "/?window=30d&units=metric", "Reporting", chart=False)
    yield Picture("devices", "/devices", "Reporting", chart=False)
    yield Picture("embeds", "/embeds", "New embed", chart=False)
    yield Picture("usage", "/usage?range=30d", "Days with data", chart=False)
    yield Picture("compare", "/compare", "All on one scale", chart=False)
    yield Picture("not-found", "/nope", "page not found", chart=False)
    steady = ids["FM-10523"]  # Tenant 12 main: every minute, two peaks a day
    for preset in ("1h", "24h", "7d", "30d", "1y"):
        hover = 0.42 if preset == "7d" else None
        yield Picture(f"device-{preset}", f"/devices/{steady}?range={preset}", hover=hover)
    for metric in ("volume", "quality", "signal"):
        yield Picture(f"device-{metric}", f"/devices/{steady}?range=7d&metric={metric}")
    yield Picture("device-tokyo", f"/devices/{steady}?range=24h&zone=Asia/Tokyo")
    empty = "?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z"
    yield Picture("device-empty", f"/devices/{steady}{empty}")
    if "BWDF-DMA01" in ids:
        yield Picture("real-house-7d", "/devices/AMPDS2-WHW?range=7d", hover=0.42)
        yield Picture("real-house-1y", "/devices/AMPDS2-WHW?range=1y")
        yield Picture("real-district-30d", "/devices/BWDF-DMA01?range=30d")
        yield Picture("real-district-spring", f"/devices/BWDF-DMA01{REAL_ZOOM}")
        yield Picture("real-washbasin-24h", "/devices/WEU-WASHBASIN?range=24h")
        yield Picture("real-shower-30d", "/devices/AMPH-FE9DAE9D?range=30d")


# --- The fleet -----------------------------------------------------------------------------------


def flask(*words: str) -> str:
    """Run a command of the project; returns its JSON output."""
    command = [sys.executable, "-m", "flask", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def fill() -> None:
    """Bring the demo fleet up to now and import the real meters, unless that is done already."""
    seeded = json.loads(flask("demo", "seed"))
    if not SHARED_DATA.is_dir():
        print("../shared/data is missing: no pictures of real meters")  # noqa: T201
        return
    organization = seeded["organizationId"]
    for name in REAL:
        flask("devices", "import", str(SHARED_DATA / f"{name}.devices.json"), "--org", organization)
        file = str(SHARED_DATA / f"{name}.csv.gz")
        flask("readings", "import", file, "--org", organization, "--allow-refused")


@contextmanager
def server() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "flask", "serve", "--port", str(port), "--workers", "1"]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 30
        while not _responds(url):
            if running.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the server didn't start")
            time.sleep(0.1)
        yield url
    finally:
        running.terminate()
        running.wait(30)


def _responds(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=1).status_code == 200
    except httpx.TransportError:
        return False


# --- Taking them ---------------------------------------------------------------------------------


def take(tab: Tab, picture: Picture, theme: str, width: int) -> Path:
    tab.size(width, SIZES[width])
    tab.colours(theme)
    tab.open(picture.path)
    if picture.chart:
        chart = Chart(tab).drawn()
        if picture.hover is not None and width > 500:
            chart.hover(picture.hover)
    else:
        tab.until(lambda: picture.text in tab.text("main"))
    time.sleep(0.4)  # until every transition has ended
    path = PICTURES / f"{picture.name}-{theme}-{width}.png"
    tab.driver.save_screenshot(str(path))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("only", nargs="*", help="names of pictures; all of them unless given")
    only = parser.parse_args().only
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(exist_ok=True)
    os.environ |= {
        "WEIR_DATABASE": f"sqlite:///{SCREENSHOTS / 'weir.sqlite'}",
        "WEIR_INSTANCE": str(SCREENSHOTS),
    }
    fill()
    key = json.loads((SCREENSHOTS / "demo_key").read_text("utf-8"))["key"]
    with server() as url, started() as driver:
        tab = Tab(driver, url)
        devices = Client.remote(url, key).devices(limit=200).devices
        ids = {device.serial_number: device.id for device in devices}
        for picture in pictures(ids):
            if only and picture.name not in only:
                continue
            for theme in THEMES:
                for width in SIZES:
                    print(take(tab, picture, theme, width).relative_to(ROOT))  # noqa: T201


if __name__ == "__main__":
    main()
