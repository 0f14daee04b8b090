/* A view as part of an address: {name: value}; null stands for the default, which is left out. */

/* `href` with the view's values for those names; other parameters stay. */
export function withView(href, view, names = Object.keys(view)) {
  const url = new URL(href);
  for (const name of names) {
    if (view[name]) url.searchParams.set(name, view[name]);
    else url.searchParams.delete(name);
  }
  return url.href;
}

export function viewOf(search, names) {
  const written = new URLSearchParams(search);
  return Object.fromEntries(names.map((name) => [name, written.get(name)]));
}
