/* The dashboard's script, joined by web/static.py and loaded by every page. */
import "./admin.js";
import "./alerts.js";
import "./annotations.js";
import * as chart from "./chart.js";
import "./compare.js";
import "./comparison.js";
import "./controls.js";
import "./cursor.js";
import "./days.js";
import "./devices.js";
import "./device-findings.js";
import "./embeds.js";
import "./finding-settings.js";
import "./findings.js";
import "./fleet-around.js";
import "./fleet-tiles.js";
import "./fleet.js";
import "./forecast.js";
import "./freshness.js";
import "./grid.js";
import "./hover-card.js";
import * as hover from "./hover.js";
import "./image.js";
import "./imports.js";
import "./menu.js";
import "./range.js";
import "./report.js";
import "./scale.js";
import "./server-image.js";
import "./session.js";
import "./share.js";
import "./html-json.js";
import "./usage.js";
import "./wall-mode.js";
import "./zones.js";

/* For the browser's console, and for tests that drive a chart. */
Object.assign(window.weir, { chart, hover });
