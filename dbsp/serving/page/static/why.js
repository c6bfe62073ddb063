// Why a row is in a view: what it follows from, operator by operator; or where one that isn't there is lost.

import { ask, Exact, viewPath } from "./asking.js";
import { count as number, counted, h, put, visible } from "./dom.js";
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
  const page = (offset) => ask(viewPath(view.name, `/why?${asked}&offset=${offset}`), { exact: true });
  try {
    const found = await page(0);
    // the pages are of one step, whatever is made meanwhile
    asked.set("as_of", String(found.step));
    put(body, told(found), tree(found, [], page));
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

/** path: the places among the inputs that lead to it. page(offset): the same with other rows. */
function tree(one, path, page) {
  const inputs = (one.inputs ?? []).map((input, n) => tree(input, [...path, n], page));
  const rows = Number(one.count);
  const lost = one.lost ? h("strong", { class: "lost" }, "lost here") : null;
  const name = one.relation ? h("b", {}, visible(one.relation)) : h("code", {}, visible(one.operator));
  return h(
    "details",
    { open: true },
    h("summary", {}, name, h("small", {}, counted(rows, "row")), lost),
    one.note ? h("p", {}, visible(one.note)) : null,
    (one.relation || !inputs.length) && one.rows.length ? pages(one, path, page) : null,
    one.near ? [h("p", {}, "these come near"), table("rows that come near", one.near)[0]] : null,
    inputs,
  );
}

function table(caption, rows) {
  const made = new Table(
    Object.keys(rows[0]).map((name) => ({ name })),
    { caption },
  );
  made.show(rows);
  return [made.element, made];
}

function pages({ relation, rows, count }, path, page) {
  const [element, made] = table(`rows of ${relation ?? "an operator"}`, rows);
  const of = Number(count);
  if (of <= rows.length) return element;
  const said = h("span", {});
  const back = h("button", { type: "button", onclick: () => turn(-SHOWN) }, "‹ previous");
  const next = h("button", { type: "button", onclick: () => turn(SHOWN) }, "next ›");
  let offset = 0;
  let shown = rows.length;

  function tell() {
    said.textContent = `${number(offset + 1)}–${number(offset + shown)} of ${counted(of, "row")} `;
    back.disabled = offset === 0;
    next.disabled = offset + shown >= of;
  }

  async function turn(by) {
    back.disabled = next.disabled = true;
    try {
      const found = path.reduce((one, n) => one.inputs[n], await page(offset + by));
      offset += by;
      shown = found.rows.length;
      made.show(found.rows);
    } catch (error) {
      said.textContent = error.message;
      return;
    }
    tell();
  }

  tell();
  return [element, h("p", { class: "pages" }, said, back, next)];
}
