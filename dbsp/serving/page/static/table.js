// Rows as a table. Every value is text, cut where it is long until somebody wants all of it.

import { Exact } from "./asking.js";
import { arrange, count, h, put, visible } from "./dom.js";

const LONG = 120;
// characters that stay in a line
const SHORT = 24;
const NUMERIC = /^(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL|INTERVAL)/;
const WEIGHT = "__weight";

/** A value as it is told apart from others, also from a text that looks like it. */
export function spelled(value) {
  return JSON.stringify(value ?? null);
}

/** columns: [{name, type}]. sorting: {order, by(column)} of a table that can be sorted, else null. asking:
 * {label, on(row)} of a button that each row has, else null.
 */
export class Table {
  #head = h("thead");
  #body = h("tbody");
  #known = new Map();

  constructor(columns, { caption, sorting = null, nothing = "no rows", asking = null } = {}) {
    this.columns = columns;
    this.sorting = sorting;
    this.asking = asking;
    const captioned = h("caption", { class: "unseen" }, caption);
    // what scrolls can be reached by keys
    this.nothing = nothing;
    this.element = h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      h("table", {}, captioned, this.#head, this.#body),
    );
    this.headed();
  }

  /** The head anew, as after another order. */
  headed() {
    const focused = this.#head.contains(document.activeElement)
      ? document.activeElement.dataset.column
      : null;
    put(
      this.#head,
      h(
        "tr",
        {},
        this.columns.map((column) => this.#header(column)),
        this.asking && h("th", { scope: "col" }, h("span", { class: "unseen" }, this.asking.label)),
      ),
    );
    if (focused)
      [...this.#head.querySelectorAll("button")].find((one) => one.dataset.column === focused)?.focus();
  }

  #header(column) {
    const side = NUMERIC.test(column.type ?? "") ? "number" : null;
    if (column.name === WEIGHT)
      return h("th", { scope: "col", class: "weight" }, h("span", { class: "unseen" }, "weight"));
    const names = [h("span", {}, visible(column.name)), h("small", {}, column.type?.toLowerCase())];
    if (!this.sorting) return h("th", { scope: "col", class: side }, names);
    const order = this.sorting.order();
    const way = order === column.name ? "ascending" : order === `-${column.name}` ? "descending" : "none";
    const arrow = h(
      "span",
      { class: "arrow", "aria-hidden": "true" },
      { ascending: "▲", descending: "▼", none: "" }[way],
    );
    const button = h(
      "button",
      { type: "button", "data-column": column.name, onclick: () => this.sorting.by(column.name) },
      names,
      arrow,
    );
    return h("th", { scope: "col", class: side, "aria-sort": way }, button);
  }

  /** fresh: per row's identity 'added' or 'changed', for those that are to be seen as new. */
  show(rows, identity = spelled, fresh = new Map()) {
    const before = this.#known;
    this.#known = new Map();
    const lines = rows.map((row) => {
      const id = identity(row);
      const text = spelled(row);
      const old = before.get(id);
      const same = old && old.text === text && !this.#known.has(id);
      const line = same ? old.line : this.#line(row);
      if (fresh.has(id)) flash(line, fresh.get(id));
      this.#known.set(id, { text, line });
      return line;
    });
    arrange(
      this.#body,
      lines.length
        ? lines
        : [h("tr", { class: "none" }, h("td", { colspan: this.columns.length + (this.asking ? 1 : 0) }, this.nothing))],
    );
  }

  #asks(row) {
    const { label, on } = this.asking;
    return h("td", { class: "asks" }, h("button", { type: "button", onclick: () => on(row) }, label));
  }

  #line(row) {
    const weight = Number(row[WEIGHT] ?? 1);
    const kind = WEIGHT in row ? (weight < 0 ? "removed" : "inserted") : null;
    return h(
      "tr",
      { class: kind },
      this.columns.map((column) =>
        column.name === WEIGHT ? sign(weight) : cell(row[column.name], column.type),
      ),
      this.asking && this.#asks(row),
    );
  }
}

function sign(weight) {
  const text = `${weight > 0 ? "+" : "−"}${Math.abs(weight) === 1 ? "" : count(Math.abs(weight))}`;
  return h(
    "td",
    { class: "weight" },
    h("span", { "aria-hidden": "true" }, text),
    h("span", { class: "unseen" }, weight > 0 ? "inserted" : "removed"),
  );
}

function cell(value, type) {
  const side = NUMERIC.test(type ?? "") ? "number" : null;
  if (value === null || value === undefined) return h("td", { class: `null ${side ?? ""}` }, "NULL");
  const whole =
    typeof value === "string"
      ? value
      : typeof value === "object" && !(value instanceof Exact)
        ? spelled(value)
        : String(value);
  const shape = whole.length <= SHORT && !whole.includes("\n") ? "short" : "long";
  if (whole.length <= LONG) return h("td", { class: `${shape} ${side ?? ""}` }, visible(whole));
  const shown = document.createTextNode(visible(whole.slice(0, LONG)));
  const more = h(
    "button",
    { type: "button", class: "more", "aria-expanded": "false" },
    `… ${count(whole.length)} characters`,
  );
  const found = h("td", { class: shape }, shown, more);
  more.addEventListener("click", () => {
    const open = more.getAttribute("aria-expanded") === "false";
    shown.data = visible(open ? whole : whole.slice(0, LONG));
    more.textContent = open ? "less" : `… ${count(whole.length)} characters`;
    more.setAttribute("aria-expanded", String(open));
  });
  return found;
}

function flash(line, kind) {
  line.classList.remove("added", "changed");
  void line.offsetWidth; // so that the animation begins anew
  line.classList.add(kind);
  setTimeout(() => line.classList.remove(kind), 2500);
}
