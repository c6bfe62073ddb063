// A view as a live table: rows sorted, filtered and page by page, as of now or of a step that is kept.

import { ask, changesOf, viewPath } from "./asking.js";
import { Contents } from "./contents.js";
import { count, counted, h, put, say, visible } from "./dom.js";
import { Following } from "./following.js";
import { Table } from "./table.js";
import { showWhy, values } from "./why.js";

const PAGE = 50;
// milliseconds between two times that rows are asked for, because steps change their order
const PAUSE = 1000;

export class LiveView {
  #order = "";
  #offset = 0;
  #filter = null;
  #at = null;
  #changes = false;
  #asking = null;
  #again = null;
  #asked = 0;
  #fresh = new Map();

  constructor(place, view, stepping, at) {
    Object.assign(this, { view, stepping });
    this.contents = new Contents(view.columns, view.key, view.ordered);
    this.following = new Following(
      view.name,
      (step, rows) => this.#changed(step, rows),
      () => this.#load(),
    );
    this.table = this.#made(false);
    this.place = h("div", { class: "rows" }, this.table.element);
    this.range = h("p", { class: "range" });
    this.error = h("p", { class: "error", role: "alert", hidden: true });
    this.news = h("p", { class: "news" });
    const why = () => this.#why([this.#filter]);
    this.lost = h("button", { type: "button", hidden: true, onclick: why }, "why not?");
    this.back = h("button", { type: "button", onclick: () => this.#turn(-PAGE) }, "‹ previous");
    this.next = h("button", { type: "button", onclick: () => this.#turn(PAGE) }, "next ›");
    this.file = h("a", { download: `${view.name}.csv` }, "CSV");
    const key = view.key === null ? "" : view.key.length ? `one row per ${view.key.join(", ")}` : "one row";
    put(
      place,
      h(
        "div",
        { class: "title" },
        h("h2", {}, visible(view.name)),
        h("small", {}, visible(key)),
        h("a", { href: `#/circuit/${encodeURIComponent(view.name)}` }, "circuit"),
        h("a", { href: `#/program/${encodeURIComponent(view.name)}` }, "definition"),
        this.file,
      ),
      h("div", { class: "tools" }, this.#filtering(), this.#travelling()),
      this.error,
      this.place,
      h(
        "div",
        { class: "below" },
        ...[this.range, this.lost, this.news, h("div", { class: "pages" }, this.back, this.next)],
      ),
    );
    this.stepping.addEventListener("step", this.#stepped);
    this.stepping.addEventListener("status", this.#stepped);
    this.travel(at);
  }

  leave() {
    this.stepping.removeEventListener("step", this.#stepped);
    this.stepping.removeEventListener("status", this.#stepped);
    clearTimeout(this.#again);
    this.#asking?.abort();
    this.following.end();
  }

  /** step: that is shown; null: the last, whichever it is. */
  travel(step) {
    this.#at = step;
    this.#offset = 0;
    if (step === null) this.#changes = false;
    this.#slid();
    this.#load();
  }

  #made(changes) {
    const sorting = { order: () => this.#order, by: (column) => this.#sort(column) };
    const columns = changes ? [{ name: "__weight" }, ...this.view.columns] : this.view.columns;
    const caption = changes ? `what a step changed in ${this.view.name}` : `rows of ${this.view.name}`;
    const { key, names } = this.contents;
    const asking = { label: "why", on: (row) => this.#why(values(row, key ?? names)) };
    return new Table(columns, changes ? { caption, nothing: "nothing" } : { caption, sorting, asking });
  }

  #why(pairs) {
    showWhy(this.view, pairs, this.#at);
  }

  #filtering() {
    const by = h(
      "select",
      { "aria-label": "Filter by" },
      this.view.columns.map((column) => h("option", { value: column.name }, visible(column.name))),
      h("option", { value: "" }, "SQL condition"),
    );
    const value = h("input", {
      type: "text",
      "aria-label": "Value",
      placeholder: "equals …",
      autocomplete: "off",
      spellcheck: "false",
    });
    by.addEventListener("change", () => (value.placeholder = by.value ? "equals …" : "total > 100 AND …"));
    const clear = h("button", { type: "button", hidden: true }, "clear");
    const set = (filter) => {
      this.#filter = filter;
      this.#offset = 0;
      clear.hidden = filter === null;
      this.#load();
    };
    clear.addEventListener("click", () => {
      value.value = "";
      set(null);
      value.focus();
    });
    const form = h(
      "form",
      { class: "filter", role: "search" },
      by,
      value,
      h("button", { type: "submit" }, "filter"),
      clear,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!by.value && !value.value.trim()) set(null);
      else set(by.value ? [by.value, value.value] : ["where", value.value]);
    });
    return form;
  }

  #travelling() {
    this.slider = h("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "As of step" });
    this.output = h("output");
    this.now = h("button", { type: "button", onclick: () => this.#return() }, "back to now");
    this.toggle = h("button", { type: "button", "aria-pressed": "false" }, "what it changed");
    this.slider.addEventListener("input", () => {
      const kept = this.#kept;
      const step = kept[Number(this.slider.value)];
      const path = `#/views/${encodeURIComponent(this.view.name)}`;
      history.replaceState(null, "", step === kept.at(-1) && !this.#changes ? path : `${path}/at/${step}`);
      this.travel(step === kept.at(-1) && !this.#changes ? null : step);
    });
    this.toggle.addEventListener("click", () => {
      this.#changes = !this.#changes;
      if (this.#changes && this.#at === null) this.#at = this.#kept.at(-1) ?? null;
      this.#slid();
      this.#load();
    });
    return h(
      "div",
      { class: "travel" },
      h("label", {}, "as of ", this.slider),
      this.output,
      this.toggle,
      this.now,
    );
  }

  #return() {
    history.replaceState(null, "", `#/views/${encodeURIComponent(this.view.name)}`);
    this.travel(null);
    this.slider.focus();
  }

  get #kept() {
    return this.stepping.status?.kept ?? [];
  }

  #stepped = () => this.#slid();

  #slid() {
    const kept = this.#kept;
    const last = kept.at(-1) ?? this.contents.step;
    const at = this.#at === null ? kept.length - 1 : kept.findIndex((step) => step >= this.#at);
    this.slider.max = String(Math.max(0, kept.length - 1));
    this.slider.value = String(at < 0 ? 0 : at);
    this.slider.disabled = kept.length < 2;
    this.slider.setAttribute("aria-valuetext", this.#at === null ? `now, step ${last}` : `step ${this.#at}`);
    this.output.textContent = this.#at === null ? "now" : `step ${count(this.#at)}`;
    this.now.hidden = this.#at === null;
    this.toggle.setAttribute("aria-pressed", String(this.#changes));
    this.toggle.disabled = !kept.length;
  }

  #sort(column) {
    this.#order = this.#order === column ? `-${column}` : this.#order === `-${column}` ? "" : column;
    this.#offset = 0;
    this.table.headed();
    this.#load();
  }

  #turn(by) {
    this.#offset = Math.max(0, this.#offset + by);
    this.#load();
  }

  #asks(more) {
    const asked = new URLSearchParams(more);
    if (this.#filter) asked.set(...this.#filter);
    if (this.#order) asked.set("order", this.#order);
    if (this.#at !== null) asked.set("as_of", String(this.#at));
    return viewPath(this.view.name, `?${asked}`);
  }

  async #load() {
    clearTimeout(this.#again);
    this.#again = null;
    this.#asking?.abort();
    const asking = (this.#asking = new AbortController());
    this.#asked = Date.now();
    this.place.classList.add("asking");
    try {
      if (this.#changes) await this.#loadChanges(asking.signal);
      else await this.#loadRows(asking.signal);
      this.error.hidden = true;
    } catch (error) {
      if (error.name === "AbortError") return;
      this.error.textContent = error.message;
      this.error.hidden = false;
    }
    this.place.classList.remove("asking");
    this.#asking = null;
  }

  async #loadRows(signal) {
    const answer = await ask(this.#asks({ limit: PAGE, offset: this.#offset }), { signal, exact: true });
    this.contents.load(answer);
    this.#turnedTo(false);
    this.#draw();
    this.file.href = this.#asks({ format: "csv" });
    if (this.#at === null) this.following.from(answer.step);
    else this.following.pause();
  }

  async #loadChanges(signal) {
    this.following.pause();
    const rows = await changesOf(this.view.name, this.#at, signal);
    this.#turnedTo(true);
    this.table.show(rows.slice(0, 1000));
    this.range.textContent = `${counted(rows.length, "changed row")} in step ${count(this.#at)}`;
    this.back.disabled = this.next.disabled = true;
    this.news.textContent = rows.length > 1000 ? "the first 1,000" : "";
  }

  #turnedTo(changes) {
    if (this.showsChanges === changes) return;
    this.showsChanges = changes;
    this.table = this.#made(changes);
    put(this.place, this.table.element);
  }

  #draw() {
    const { rows, of, step } = this.contents;
    this.table.show(rows, this.contents.identity, this.#fresh);
    this.#fresh = new Map();
    const first = this.#offset + 1;
    const what = this.#filter ? "found" : "";
    this.lost.hidden = rows.length > 0 || this.#filter === null || this.#filter[0] === "where";
    const places = rows.length ? `${count(first)}–${count(this.#offset + rows.length)} of ` : "";
    this.range.textContent = `${places}${counted(of, "row")} ${what} · step ${count(step)}`;
    this.back.disabled = this.#offset === 0;
    this.next.disabled = this.#offset + rows.length >= of;
  }

  #changed(step, changed) {
    if (step <= this.contents.step || this.#at !== null) return;
    const { fresh, whole, counts } = this.contents.take(step, changed, {
      order: this.#order,
      filtered: this.#filter !== null,
    });
    for (const [id, kind] of fresh) this.#fresh.set(id, kind);
    const told = Object.entries(counts)
      .filter(([, n]) => n)
      .map(([kind, n]) => `${count(n)} ${kind}`);
    if (told.length) {
      this.news.textContent = `step ${count(step)}: ${told.join(", ")}`;
      say(`${this.view.name}, ${this.news.textContent}`);
    }
    if (whole && !this.#asking && !this.#again) {
      this.#draw();
    } else if (!this.#again) {
      this.#again = setTimeout(() => this.#load(), Math.max(0, this.#asked + PAUSE - Date.now()));
    }
  }
}
