/* Findings on a device's page: dismissing one, or undoing that. The server returns the effect as a
   sentence; then the card, the chips and the chart's marks are loaded again. */
import * as chart from "./chart.js";
import { noUpdate, register, setProps } from "./dash.js";

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-judge]");
  if (!button || !chart.isOpen()) return;
  const { judge, finding } = button.dataset;
  button.closest("details")?.removeAttribute("open");
  setProps("device-findings-deed", { data: { finding, as: judge, request_id: Date.now() } });
});

register("deviceFindings", {
  done: (outcome) => {
    if (!outcome || !chart.isOpen()) return noUpdate();
    if (!outcome.failed) chart.renew();
    return outcome.words;
  },
});
