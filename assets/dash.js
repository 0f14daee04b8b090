/* The interface to Dash: the functions that its callbacks name, and the way to set a component's
   props. Dash fills `window.dash_clientside` when its renderer starts, so it is looked up at each
   use. */
export function register(namespace, functions) {
  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside[namespace] = functions;
}

export const setProps = (id, props) => window.dash_clientside.set_props(id, props);

/* The return value of a callback that changes nothing. */
export const noUpdate = () => window.dash_clientside.no_update;
