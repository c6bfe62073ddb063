// The circuit as a graph that is walked by keys: one stop of the Tab key, then arrows along its wires.

import { ask } from "./asking.js";
import { bytes, count, counted, h, put, s, say, seconds, visible } from "./dom.js";
import { operatorDetail, operatorFigures } from "./operator.js";

// milliseconds between two times that figures are asked for
const PAUSE = 1000;
// characters that fit into a box, by the class of the text
const MOST = { kind: 20, plain: 25 };

export function circuitPart(section, rest, page) {
  const choice = h(
    "select",
    { "aria-label": "Operators of" },
    h("option", { value: "" }, "the whole program"),
    page.views.map((view) => h("option", { value: view.name }, visible(view.name))),
  );
  const drawing = h("div", { class: "drawing" });
  const detail = h("aside", { class: "detail", "aria-label": "The chosen operator", "aria-live": "off" });
  const zoom = (factor) => graph?.zoom(factor);
  const figures = h("p", { class: "figures" });
  put(
    section,
    h(
      "div",
      { class: "title" },
      h("h2", {}, "Circuit"),
      choice,
      h(
        "div",
        { class: "zoom" },
        h("button", { type: "button", "aria-label": "smaller", onclick: () => zoom(1 / 1.25) }, "−"),
        h("button", { type: "button", "aria-label": "larger", onclick: () => zoom(1.25) }, "+"),
        h("button", { type: "button", onclick: () => zoom(null) }, "fit"),
      ),
      figures,
    ),
    h(
      "div",
      { class: "split" },
      h(
        "div",
        { class: "view" },
        drawing,
        h(
          "ul",
          { class: "signs" },
          h("li", { class: "source" }, "source"),
          h("li", { class: "keeps" }, "keeps state"),
          h("li", { class: "view" }, "a view"),
          h("li", { class: "share" }, "share of the slowest operator’s seconds"),
        ),
      ),
      detail,
    ),
  );
  choice.addEventListener(
    "change",
    () => (location.hash = choice.value ? `#/circuit/${encodeURIComponent(choice.value)}` : "#/circuit"),
  );

  let asking = null;
  let graph = null;
  let timer = null;
  let asked = 0;
  let told = null;

  async function load(view) {
    choice.value = view;
    clearTimeout(timer);
    asking?.abort();
    asking = new AbortController();
    try {
      const path = `circuit${view ? `?view=${encodeURIComponent(view)}` : ""}`;
      const answer = await ask(path, { signal: asking.signal });
      graph = new Graph(drawing, answer, (operator) => operatorDetail(detail, operator, graph, told));
      graph.choose(answer.operators.find((one) => one.views.includes(view)) ?? answer.operators[0], false);
      graph.centre();
      await look();
    } catch (error) {
      if (error.name !== "AbortError") put(drawing, h("p", { class: "error" }, error.message));
    }
  }

  async function look() {
    timer = null;
    asked = Date.now();
    try {
      told = await ask("operators");
    } catch {
      return; // the head says that there is no connection
    }
    const stored = Object.values(told.operators).reduce((sum, one) => sum + (one.bytes ?? 0), 0);
    const shown = counted(graph.operators.length, "operator");
    figures.textContent = `${shown} · figures of step ${count(told.step)} · ${bytes(stored)} of state`;
    graph.tell(told);
    operatorFigures(detail, graph.chosen, told);
  }

  const step = () => {
    if (graph && timer === null) timer = setTimeout(look, Math.max(0, asked + PAUSE - Date.now()));
  };
  page.stepping.addEventListener("step", step);
  load(rest[0] ?? "");
  return {
    go: ([view]) => load(view ?? ""),
    leave() {
      page.stepping.removeEventListener("step", step);
      clearTimeout(timer);
      asking?.abort();
    },
  };
}

class Graph {
  constructor(place, { box, size, operators, wires }, chosen) {
    Object.assign(this, { place, box, size, operators, onChosen: chosen, chosen: null });
    this.byNumber = new Map(operators.map((one) => [one.number, one]));
    this.readers = new Map(operators.map((one) => [one.number, []]));
    for (const wire of wires) this.readers.get(wire.from)?.push(wire.to);
    this.marks = new Map(operators.map((one) => [one.number, this.#box(one)]));
    this.wires = wires.map((wire) => [
      wire,
      s("path", { d: path(wire), class: wire.back ? "wire back" : "wire" }),
    ]);
    const around = 8;
    this.svg = s(
      "svg",
      {
        viewBox: `${-around} ${-around} ${size[0] + 2 * around} ${size[1] + 2 * around}`,
        role: "group",
        "aria-label": `${operators.length} operators; arrow keys follow the wires`,
      },
      this.wires.map(([, drawn]) => drawn),
      [...this.marks.values()].map((mark) => mark.group),
    );
    put(place, this.svg);
    this.zoom(null, 0.75); // so that it can be read
    this.svg.addEventListener("keydown", (event) => this.#walk(event));
  }

  /** factor: null: as large as the place, and no larger than life. */
  zoom(factor, least = 0.1) {
    const width = this.size[0] + 16;
    const fit = Math.min(1, Math.max(least, (this.place.clientWidth - 4) / width));
    this.scale = factor === null ? fit : Math.min(2.5, Math.max(0.1, this.scale * factor));
    this.svg.setAttribute("width", String(width * this.scale));
    this.svg.setAttribute("height", String((this.size[1] + 16) * this.scale));
  }

  /** The chosen operator in the middle of what is seen. */
  centre() {
    if (!this.chosen) return;
    this.place.scrollLeft = (this.chosen.at[0] + this.box[0] / 2) * this.scale - this.place.clientWidth / 2;
    this.place.scrollTop = this.chosen.at[1] * this.scale - this.place.clientHeight / 2;
  }

  #box(one) {
    const [width, height] = this.box;
    const relation = one.views[0] ?? one.name ?? "";
    const text = (y, words, kind) => s("text", { x: 10, y, class: kind }, fitted(words, MOST[kind] ?? 28));
    const rows = text(height - 11, "", "rows");
    const share = s("rect", { class: "share", x: 0, y: height - 4, width: 0, height: 4 });
    const kind = one.views.length ? "view" : one.kind === "Source" ? "source" : one.keeps ? "keeps" : "";
    const group = s(
      "g",
      {
        class: `node ${kind}`,
        transform: `translate(${one.at[0]},${one.at[1]})`,
        tabindex: "-1",
        role: "button",
        "data-number": one.number,
        "aria-label": `${one.kind} ${relation}, operator ${one.number}`,
        onclick: () => this.choose(one),
        onfocus: () => this.choose(one, false),
      },
      s("rect", { class: "frame", width, height, rx: 7 }),
      share,
      text(18, one.kind, "kind"),
      s("text", { x: width - 10, y: 18, class: "number" }, String(one.number)),
      text(34, relation || one.detail || one.columns.join(", "), relation ? "relation" : "plain"),
      rows,
    );
    return { group, rows, share };
  }

  choose(one, focus = true) {
    if (!one) return;
    const before = this.chosen && this.marks.get(this.chosen.number);
    before?.group.setAttribute("tabindex", "-1");
    before?.group.classList.remove("chosen");
    const mark = this.marks.get(one.number);
    mark.group.setAttribute("tabindex", "0");
    mark.group.classList.add("chosen");
    const again = this.chosen === one;
    this.chosen = one;
    for (const [wire, drawn] of this.wires) {
      drawn.classList.toggle("in", wire.to === one.number);
      drawn.classList.toggle("out", wire.from === one.number);
    }
    if (focus) mark.group.focus();
    if (!again || focus) this.onChosen(one);
  }

  #walk(event) {
    const [x] = this.chosen.at;
    const nearest = (numbers) =>
      numbers
        .map((n) => this.byNumber.get(n))
        .filter(Boolean)
        .sort((a, b) => Math.abs(a.at[0] - x) - Math.abs(b.at[0] - x))[0];
    const beside = (way) =>
      this.operators
        .filter((one) => one.layer === this.chosen.layer && (one.at[0] - x) * way > 0)
        .sort((a, b) => way * (a.at[0] - b.at[0]))[0];
    const to = {
      ArrowUp: () => nearest(this.chosen.inputs),
      ArrowDown: () => nearest(this.readers.get(this.chosen.number)),
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
      Home: () => this.operators[0],
      End: () => this.operators.at(-1),
      Enter: () => this.chosen,
      " ": () => this.chosen,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    const found = to();
    this.choose(found);
    if (found) say(this.marks.get(found.number).group.getAttribute("aria-label"));
  }

  /** told: of GET /operators. */
  tell({ operators }) {
    const most = Math.max(1e-9, ...Object.values(operators).map((one) => one.seconds ?? 0));
    for (const [number, mark] of this.marks) {
      const one = operators[number];
      const parts =
        one.seconds === null ? [] : [one.rows ? counted(one.rows, "row") : "–", seconds(one.seconds)];
      if (one.stored !== null) parts.push(`${short(one.stored)} kept`);
      mark.rows.textContent = parts.join(" · ");
      mark.share.setAttribute("width", String(((one.seconds ?? 0) / most) * this.box[0]));
      mark.group.classList.toggle("active", Boolean(one.rows));
    }
  }
}

function short(n) {
  return new Intl.NumberFormat("en", { notation: "compact" }).format(n);
}

function fitted(text, most) {
  const shown = visible(text);
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`;
}

/** Curves between layers, straight through them. */
function path({ points, back }) {
  const [[x, y], ...others] = points;
  if (back) {
    const [[a, b]] = others;
    const right = Math.max(x, a) + 40;
    return `M${x},${y} C${right},${y} ${right},${b} ${a},${b}`;
  }
  let drawn = `M${x},${y}`;
  let [fromX, fromY] = [x, y];
  others.forEach(([a, b], n) => {
    const middle = (fromY + b) / 2;
    drawn += n % 2 === 0 ? ` C${fromX},${middle} ${a},${middle} ${a},${b}` : ` L${a},${b}`;
    [fromX, fromY] = [a, b];
  });
  return drawn;
}
