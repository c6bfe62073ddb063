// A page of a view's rows, and what a step's changes do to it.

import { spelled } from "./table.js";

const WEIGHT = "__weight";

/** Per row that a step changed: the rows that came and those that went, by identity. Sums weights first. */
function summed(rows) {
  const sums = new Map();
  for (const { [WEIGHT]: weight, ...row } of rows) {
    const text = spelled(row);
    const one = sums.get(text) ?? { row, weight: 0 };
    one.weight += Number(weight);
    sums.set(text, one);
  }
  return [...sums.values()].filter((one) => one.weight !== 0);
}

/** columns: of the view, in order; key: the names of those that tell its rows apart, or null: all do;
 * ordered: whether its rows have an order of their own. */
export class Contents {
  rows = [];
  step = 0;
  of = 0;

  constructor(columns, key, ordered) {
    this.ordered = ordered;
    this.names = columns.map((column) => column.name);
    this.key = key;
    this.keyPlaces = (key ?? this.names).map((name) => this.names.indexOf(name));
  }

  identity = (row) => (this.key ? spelled(this.key.map((name) => row[name])) : spelled(row));

  /** answer: of GET /views/{name}. */
  load(answer) {
    this.rows = answer.rows;
    this.step = answer.step;
    this.of = answer.of;
  }

  /** Take a step's changes in. order: by which the page is sorted, '' the view's own; filtered: not all
   * rows are looked at.
   *
   * Returns {fresh, whole, counts}: the rows to be seen as new; whether the page is now what the server would
   * give, so that nothing needs to be asked. That is so where each changed row keeps its place: another of its
   * key has been there, and no column has changed that decides about the order.
   */
  take(step, changed, { order, filtered }) {
    const sums = summed(changed);
    const came = new Map();
    const went = new Map();
    for (const { row, weight } of sums) (weight > 0 ? came : went).set(this.identity(row), row);
    const fresh = new Map([...came.keys()].map((id) => [id, went.has(id) ? "changed" : "added"]));
    const counts = {
      added: [...fresh.values()].filter((kind) => kind === "added").length,
      changed: [...fresh.values()].filter((kind) => kind === "changed").length,
      removed: [...went.keys()].filter((id) => !came.has(id)).length,
    };
    const whole = !sums.length || (!filtered && this.key !== null && this.#stay(came, went, order));
    if (whole) {
      this.rows = this.rows.map((row) => came.get(this.identity(row)) ?? row);
      this.step = step;
    }
    return { fresh, whole, counts };
  }

  #stay(came, went, order) {
    if (came.size !== went.size || (!order && this.ordered)) return false;
    const decides = new Set(this.names.slice(0, 1 + Math.max(-1, ...this.keyPlaces)));
    if (order) decides.add(order.replace(/^-/, ""));
    for (const [id, row] of came) {
      const old = went.get(id);
      if (!old || [...decides].some((name) => spelled(row[name]) !== spelled(old[name]))) return false;
    }
    return true;
  }
}
