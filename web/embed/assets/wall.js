/* The tiles of a frame: requested, drawn (assets/fleet-tiles.js), refreshed. The server decides
   every text (web/embed/content.py). The question: {window, zone, units, drawn, request_id}. */
import * as controls from "../../../assets/controls.js";
import { noUpdate, register, setProps } from "../../../assets/dash.js";
import * as fleetTiles from "../../../assets/fleet-tiles.js";
import * as freshness from "../../../assets/freshness.js";

const JITTER = 0.2;

let root = null;
let question = {};
let board = null;
let timer = 0;

const byId = (id) => document.getElementById(id);
const isOpen = () => root?.isConnected;

function request(changes = {}) {
  clearTimeout(timer);
  question = { ...question, ...changes, drawn: fleetTiles.marks(), request_id: Date.now() };
  controls.press(question);
  setProps("wall-question", { data: question });
  freshness.requested({ changed: Object.keys(changes).length > 0 });
}

function refresh() {
  if (isOpen() && !document.hidden) request();
}

function next(afterMs) {
  clearTimeout(timer);
  timer = setTimeout(refresh, afterMs * (1 - JITTER + 2 * JITTER * Math.random()));
}

function settle(response) {
  if (response.error) return freshness.failed(response.error);
  board = response;
  fleetTiles.draw(byId("wall-tiles"), response.tiles, response.view);
  if (byId("wall-line").textContent !== response.line)
    byId("wall-line").textContent = response.line;
  root.dataset.ready = "true";
  freshness.received();
  next(response.again_ms);
}

document.addEventListener("click", (event) => {
  const button = isOpen() && event.target.closest("button[data-set]");
  if (!button) return;
  const { set: field, value, default: usual } = button.dataset;
  request({ [field]: usual === "true" ? null : value });
});

document.addEventListener("change", (event) => {
  const select = isOpen() && event.target.closest("select[data-set]");
  if (!select) return;
  const { set: field, default: usual } = select.dataset;
  request({ [field]: select.value === usual ? null : select.value });
});

register("embedWall", {
  draw: (response) => {
    if (!isOpen()) {
      root = byId("wall");
      controls.press(question);
      freshness.open({
        root,
        notice: "wall-notice",
        retry: refresh,
        remark: () => board && (board.remark || board.empty),
      });
    }
    if (response) settle(response);
    return noUpdate();
  },
});
