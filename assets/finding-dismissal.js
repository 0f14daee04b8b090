/* The form that asks why a finding is dismissed. */
import { element } from "./element.js";

/* `box`: its data has the reasons (value, label, consequence) and the effect of a dismissal. */
export function fillForm(box) {
  const choices = box.dataset.reasons.split("\n").map((line, index) => {
    const [value, label, consequence] = line.split("\t");
    const field = element("input", { type: "radio", name: "as", value, checked: index === 0 });
    const after = element("span", { className: "quiet", textContent: consequence });
    return element("label", {}, field, label, after);
  });
  const words = element("input", {
    type: "text",
    name: "words",
    maxLength: 400,
    className: "moment",
  });
  words.placeholder = "In your words (kept with the finding)";
  words.setAttribute("aria-label", "In your words");
  box.replaceChildren(
    element(
      "fieldset",
      {},
      element("legend", { textContent: "Why is this not worth a look?" }),
      ...choices,
    ),
    element("p", { className: "quiet", textContent: box.dataset.consequence }),
    element(
      "div",
      { className: "finding-say" },
      words,
      element("button", { type: "submit", className: "button primary", textContent: "Dismiss" }),
    ),
  );
}
