/* Tiles in a frame: asked for, drawn (assets/fleet-tiles.js), asked for anew. The server says every
   word of them (web/embed/tiles.py). The question: {window, zone, units, drawn, asked}. */
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

function ask(changes = {}) {
  clearTimeout(timer);
  question = { ...question, ...changes, drawn: fleetTiles.marks(), asked: Date.now() };
  controls.press(question);
  setProps("wall-question", { data: question });
  freshness.asked({ changed: Object.keys(changes).length > 0 });
}

function refresh() {
  if (isOpen() && !document.hidden) ask();
}

function next(afterMs) {
  clearTimeout(timer);
  timer = setTimeout(refresh, afterMs * (1 - JITTER + 2 * JITTER * Math.random()));
}

function settle(told) {
  if (told.error) return freshness.failed(told.error);
  board = told;
  fleetTiles.draw(byId("wall-tiles"), told.tiles, told.view);
  if (byId("wall-line").textContent !== told.line) byId("wall-line").textContent = told.line;
  root.dataset.ready = "true";
  freshness.answered();
  next(told.again_ms);
}

document.addEventListener("click", (event) => {
  const button = isOpen() && event.target.closest("button[data-set]");
  if (!button) return;
  const { set: field, value, default: usual } = button.dataset;
  ask({ [field]: usual === "true" ? null : value });
});

document.addEventListener("change", (event) => {
  const select = isOpen() && event.target.closest("select[data-set]");
  if (!select) return;
  const { set: field, default: usual } = select.dataset;
  ask({ [field]: select.value === usual ? null : select.value });
});

register("embedWall", {
  draw: (told) => {
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
    if (told) settle(told);
    return noUpdate();
  },
});
