/* A short message at the foot of the page; with `undo`, a button for a while. */
import { element } from "./element.js";

const SHOWN_MS = 20000;
let timer = 0;

export function toast(words, undo = null) {
  clearTimeout(timer);
  document.getElementById("toast")?.remove();
  const box = element("div", { id: "toast", className: "toast" });
  box.setAttribute("role", "status");
  document.body.append(box);
  box.append(element("span", { textContent: words }));
  if (undo) {
    const onclick = () => {
      box.remove();
      undo();
    };
    const properties = { type: "button", className: "button", textContent: "Undo", onclick };
    box.append(element("button", properties));
  }
  timer = setTimeout(() => box.remove(), SHOWN_MS);
}
