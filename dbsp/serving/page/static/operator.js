// An operator: what it is, its equation, its place in the text, what it reads, and the last step's figures.

import { bytes, count, h, put, seconds, visible } from "./dom.js";

/** told: of GET /operators, or null. */
export function operatorDetail(place, one, graph, told) {
  const link = (number) => {
    const other = graph.byNumber.get(number);
    return (
      other &&
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", "data-to": number, onclick: () => graph.choose(other) },
          `${other.number} ${other.kind}${other.name ? ` ${visible(other.name)}` : ""}`,
        ),
      )
    );
  };
  const readers = graph.readers.get(one.number);
  put(
    place,
    h("h3", {}, one.kind, h("small", {}, `operator ${one.number} · level ${one.level}`)),
    one.about && h("p", {}, one.about),
    one.equation &&
      h("pre", { class: "equation", tabindex: "0", "aria-label": "its equation" }, one.equation),
    h(
      "dl",
      {},
      line(
        "in the text",
        one.relation &&
          h("a", { href: `#/program/${encodeURIComponent(one.relation)}` }, visible(one.relation)),
      ),
      line(
        "is view",
        one.views.length > 0 &&
          one.views.map((view) =>
            h("a", { href: `#/views/${encodeURIComponent(view)}` }, visible(view), " "),
          ),
      ),
      line("parameters", one.detail && h("code", {}, visible(one.detail))),
      line("columns", h("code", {}, visible(one.columns.join(", ")))),
      line("state", one.keeps && visible(one.keeps)),
      line("a delta costs", one.cost || "its size"),
      line(
        "waterlines",
        one.proved.length > 0 &&
          h(
            "ul",
            {},
            one.proved.map((proof) => h("li", {}, h("code", {}, visible(proof)))),
          ),
      ),
    ),
    h("dl", { class: "numbers" }),
    one.inputs.length > 0 && [
      h("h4", {}, "reads"),
      h("ul", { class: "links" }, [...new Set(one.inputs)].map(link)),
    ],
    readers.length > 0 && [
      h("h4", {}, "is read by"),
      h("ul", { class: "links" }, [...new Set(readers)].map(link)),
    ],
  );
  operatorFigures(place, one, told);
}

/** The figures alone, so that what has the focus keeps it. */
export function operatorFigures(place, one, told) {
  const figures = told?.operators[one.number];
  const numbers = place.querySelector(".numbers");
  if (!figures || !numbers) return;
  put(
    numbers,
    line("rows, last step", figures.rows === null ? "no step by this process" : count(figures.rows)),
    line("seconds, last step", figures.seconds === null ? null : seconds(figures.seconds)),
    line("rows kept", figures.stored === null ? "none: it keeps nothing" : count(figures.stored)),
    line("bytes kept", figures.bytes === null ? null : bytes(figures.bytes)),
  );
}

function line(name, value) {
  return value && [h("dt", {}, name), h("dd", {}, value)];
}
