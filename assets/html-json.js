/* Builds many small elements from data: each is [tag, attributes, nodes] or a text. Existing
   elements are reused, so that focus, an open menu and a scrolled table stay. */
import { register } from "./dash.js";

function attributed(element, attributes) {
  [...element.attributes].forEach(({ name }) => {
    if (!(name in attributes)) element.removeAttribute(name);
  });
  Object.entries(attributes).forEach(([name, value]) => {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  });
}

/* The node for the data: the old one if it fits. */
function node(old, wanted) {
  if (typeof wanted === "string") {
    if (!old || old.nodeType !== Node.TEXT_NODE) return document.createTextNode(wanted);
    if (old.data !== wanted) old.data = wanted;
    return old;
  }
  const [tag, attributes, nodes] = wanted;
  const element = old && old.localName === tag ? old : document.createElement(tag);
  attributed(element, attributes);
  fill(element, nodes);
  return element;
}

function fill(parent, wanted) {
  wanted.forEach((each, index) => {
    const old = parent.childNodes[index];
    const made = node(old, each);
    if (!old) parent.append(made);
    else if (made !== old) old.replaceWith(made);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

/* Shows data in the element with that id, if the page has it. */
export function draw(id, nodes) {
  const parent = document.getElementById(id);
  if (!nodes || !parent) return;
  fill(parent, nodes);
  parent.dispatchEvent(new CustomEvent("weir:drawn", { bubbles: true }));
}

register("html_json", {
  /* `id`: of the Store, which is the element's with "-nodes". */
  draw: (nodes, id) => draw(id.slice(0, -"-nodes".length), nodes),
});
