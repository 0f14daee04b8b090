/* Loads the grid's library when a page first shows a grid. Dash looks components up in
   `window.dash_ag_grid`. This is a stand-in there, which renders the real component as soon as it
   is loaded. */

const { createElement, lazy, Suspense } = window.React;
let library = null;
let loading = null;

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${address} can’t be loaded`));
    document.head.append(script);
  });
}

function load() {
  if (!loading) {
    const addresses = document.querySelector('meta[name="grid-scripts"]').content.split(" ");
    loading = Promise.all(addresses.map(loadScript)).then(() => library);
    loading.catch(() => (loading = null)); // the next page with a grid tries again
  }
  return loading;
}

const Real = lazy(() => load().then(({ AgGrid }) => ({ default: AgGrid })));

function AgGrid(props) {
  return createElement(Suspense, { fallback: null }, createElement(Real, props));
}
AgGrid.dashRenderType = true; // as the real component: it gets the reason for rendering

const standIn = { AgGrid };
Object.defineProperty(window, "dash_ag_grid", {
  get: () => standIn,
  set: (loaded) => {
    if (loaded !== standIn) library = loaded;
  },
});

/* The API of the grid with that id, once it exists. */
export const ready = (id) => load().then(({ getApiAsync }) => getApiAsync(id));
