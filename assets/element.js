/* A new element with properties and children. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/* The same as the last child of a parent, with a class. */
export function childOf(parent, tag, className = "") {
  const made = element(tag, className ? { className } : {});
  parent.append(made);
  return made;
}

/* What `find` returns, as soon as the page has it. */
export function appeared(find) {
  const present = find();
  if (present) return Promise.resolve(present);
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const element = find();
      if (!element) return;
      observer.disconnect();
      resolve(element);
    });
    observer.observe(document.body, { childList: true, subtree: true, attributes: true });
  });
}
