/* The search of a list: rows of the page that hold all of the words. */
(function () {
  "use strict";
  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.list = {
    search: function (text) {
      const words = (text || "").toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      document.querySelectorAll("[data-row]").forEach((row) => {
        const content = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => content.includes(word));
        shown += row.hidden ? 0 : 1;
      });
      if (words.length === 0) return "";
      return shown === 0 ? "Nothing on this page matches." : `${shown} on this page`;
    },
  };
})();
