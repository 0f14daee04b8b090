/* A frame's script, loaded after Dash's own scripts. */
import "../../../assets/chart.js";
import "../../../assets/hover-card.js";
import "../../../assets/cursor.js";
import "../../../assets/scale.js";
import "./wall.js";
