// Why a row is in a view: what it follows from, operator by operator; or where one that isn't there is lost.

import { ask, Exact, viewPath } from "./asking.js";
import { counted, h, put, visible } from "./dom.js";
import { Table } from "./table.js";

// rows of an operator that are shown; the count is of all
const SHOWN = 20;

/** The values that tell the row: of its key, or of all columns. What isn't text, number or truth is left out. */
export function values(row, names) {
  const plain = (value) => value !== null && (typeof value !== "object" || value instanceof Exact);
  return names.filter((name) => plain(row[name])).map((name) => [name, String(row[name])]);
}

/** Open a dialog. pairs: columns and values. at: the step; null: the last. Escape closes it. */
export async function showWhy(view, pairs, at) {
  const body = h("div", {}, h("p", {}, "looking …"));
  const said = pairs.map(([name, value]) => `${name} = ${value}`).join(" and ");
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "close");
  const title = h("h2", {}, visible(view.name), h("small", {}, visible(` where ${said}`)));
  const dialog = h("dialog", { class: "why", "aria-label": "why" }, h("header", {}, title, close), body);
  document.body.append(dialog);
  const leave = () => dialog.close(); // with the part of the page that it belongs to
  window.addEventListener("hashchange", leave);
  dialog.addEventListener("close", () => {
    window.removeEventListener("hashchange", leave);
    dialog.remove();
  });
  dialog.showModal();
  const asked = new URLSearchParams([...pairs, ["limit", SHOWN]]);
  if (at !== null) asked.set("as_of", String(at));
  try {
    const found = await ask(viewPath(view.name, `/why?${asked}`), { exact: true });
    put(body, told(found), tree(found));
  } catch (error) {
    put(body, h("p", { class: "error", role: "alert" }, error.message));
  }
}

function told({ step, changed_by: changed, count: rows }) {
  if (!rows) return h("p", {}, `no row, as of step ${step}`);
  const them = Number(rows) === 1 ? "it" : "them";
  const when = changed === null ? "" : `; step ${changed} was the last that changed ${them}`;
  return h("p", {}, `${counted(Number(rows), "row")}, as of step ${step}${when}`);
}

function tree(one) {
  const inputs = (one.inputs ?? []).map(tree);
  const rows = Number(one.count);
  const lost = one.lost ? h("strong", { class: "lost" }, "lost here") : null;
  const name = one.relation ? h("b", {}, visible(one.relation)) : h("code", {}, visible(one.operator));
  return h(
    "details",
    { open: true },
    h("summary", {}, name, h("small", {}, counted(rows, "row")), lost),
    one.note ? h("p", {}, visible(one.note)) : null,
    (one.relation || !inputs.length) && one.rows.length ? table(one) : null,
    inputs,
  );
}

function table({ relation, rows, count }) {
  const columns = Object.keys(rows[0]).map((name) => ({ name }));
  const made = new Table(columns, { caption: `rows of ${relation ?? "an operator"}` });
  made.show(rows);
  const more = Number(count) > rows.length ? h("p", {}, `the first ${rows.length}`) : null;
  return [made.element, more];
}
