// The views of a program, and one of them that is looked at.

import { count, h, put, visible } from "./dom.js";
import { LiveView } from "./live.js";

export function viewsPart(section, rest, page) {
  const list = h("ul");
  const place = h("div", { class: "view" });
  put(section, h("nav", { class: "list", "aria-label": "Views" }, h("h2", {}, "Views"), list), place);
  let live = null;

  function listed(chosen) {
    const counts = new Map();
    for (const one of page.stepping.status?.steps.slice(-1) ?? [])
      for (const [name, rows] of Object.entries(one.out)) counts.set(name, rows);
    for (const item of [...list.children]) {
      const badge = counts.get(item.dataset.view);
      item.querySelector(".badge").textContent = badge ? `±${count(badge)}` : "";
      const link = item.firstElementChild;
      if (item.dataset.view === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  put(
    list,
    page.views.map((view) =>
      h(
        "li",
        { "data-view": view.name },
        h(
          "a",
          { href: `#/views/${encodeURIComponent(view.name)}` },
          h("span", {}, visible(view.name)),
          h("small", { class: "badge" }),
        ),
      ),
    ),
  );

  function go([name, word, step]) {
    const view = page.views.find((one) => one.name === name) ?? (name ? null : page.views[0]);
    const at = word === "at" && /^\d+$/.test(step ?? "") ? Number(step) : null;
    if (!view) {
      live?.leave();
      live = null;
      put(
        place,
        h(
          "p",
          { class: "error" },
          name ? `there is no view ${name}` : "this program has no view that can be read",
        ),
      );
    } else if (live?.view === view) {
      live.travel(at);
    } else {
      live?.leave();
      live = new LiveView(place, view, page.stepping, at);
    }
    listed(live?.view.name);
  }

  const step = () => listed(live?.view.name);
  page.stepping.addEventListener("step", step);
  go(rest);
  return {
    go,
    leave() {
      page.stepping.removeEventListener("step", step);
      live?.leave();
    },
  };
}
