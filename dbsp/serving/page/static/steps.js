// The last steps with their phases; waterlines, late and bad rows, sources, sinks and what they are without.

import { drawn, PHASES, total } from "./chart.js";
import { ask } from "./asking.js";
import { arrange, bytes, count, counted, h, put, seconds, visible } from "./dom.js";

const SHOWN = 100;
const LISTED = 25;
// milliseconds between two questions how far sources are behind, which no step tells
const ASKED = 3000;

export function stepsPart(section, rest, page) {
  const cards = h("dl", { class: "cards" });
  const chart = h("div", { class: "chart" });
  const listed = h("tbody");
  const waterlines = h("div");
  const ends = h("div");
  const head = ["step", "made at", "in", "out", "late", ...PHASES, "total"];
  put(
    section,
    h("div", { class: "title" }, h("h2", {}, "Steps")),
    cards,
    h("h3", {}, "Seconds of the last steps, by phase"),
    chart,
    h("div", { class: "split even" }, waterlines, ends),
    h("h3", {}, "The last steps"),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "the last steps" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((name, n) => h("th", { scope: "col", class: n === 0 || n > 3 ? "number" : null }, name)),
          ),
        ),
        listed,
      ),
    ),
  );

  let lines = new Map();
  let sources = new Map();
  let timer = null;

  /** A step doesn't change: its line stays. */
  function kept(one) {
    return lines.get(one.step) ?? line(one);
  }

  function show() {
    const { status } = page.stepping;
    if (!status) return;
    const steps = status.steps;
    const card = (name, value, more) => [
      h("div", {}, h("dt", {}, name), h("dd", {}, value, more && h("small", {}, more))),
    ];
    const late = Object.values(status.late).reduce((sum, rows) => sum + rows, 0);
    const last = steps.slice(-SHOWN);
    const mean = last.length ? last.reduce((sum, one) => sum + total(one), 0) / last.length : null;
    put(
      cards,
      card("last step", count(status.step), steps.length ? ago(steps.at(-1).at) : "none by this process"),
      card(
        "seconds a step",
        mean === null ? "–" : seconds(mean),
        last.length ? `mean of ${count(last.length)}` : null,
      ),
      card("state", bytes(status.bytes ?? 0), counted(status.rows ?? 0, "row")),
      card(
        "late rows",
        count(late),
        Object.entries(status.late).map(([name, rows]) => `${visible(name)} ${count(rows)} `),
      ),
      card("bad rows", count(status.bad ?? 0), null),
      card(
        "kept",
        counted(status.kept.length, "step"),
        status.kept.length ? `from ${count(status.kept[0])} · ${status.keep}` : null,
      ),
    );
    put(chart, drawn(last, chart.clientWidth - 28));
    lines = new Map(
      steps
        .slice(-LISTED)
        .reverse()
        .map((one) => [one.step, kept(one)]),
    );
    const none = h(
      "tr",
      { class: "none" },
      h("td", { colspan: head.length }, "this process has made no step yet"),
    );
    arrange(listed, lines.size ? [...lines.values()] : [none]);
    put(
      waterlines,
      h("h3", {}, "Waterlines"),
      table(
        ["column", "waterline"],
        Object.entries(status.waterlines).map(([name, value]) => [visible(name), value ?? "no row yet"]),
        "no column has LATENESS",
      ),
    );
    put(
      ends,
      h("h3", {}, "Sources"),
      table(
        ["table", "format", "not read yet", "last row"],
        status.sources.map((one) => [visible(one.table), visible(one.format), ...behind(sources.get(one.table))]),
        "no table has a source: rows are POSTed",
      ),
      h("h3", {}, "Sinks"),
      table(
        ["table", "of view", "format", "undelivered"],
        status.sinks.map((one) => [
          visible(one.table),
          visible(one.view),
          visible(one.format ?? ""),
          one.undelivered === null
            ? "–"
            : h("span", { class: one.undelivered ? "bad" : "good" }, counted(one.undelivered, "step")),
        ]),
        "no INSERT INTO",
      ),
    );
  }

  async function look() {
    clearTimeout(timer);
    if (!document.hidden && page.stepping.status?.sources.length) {
      try {
        const found = await ask("sources");
        sources = new Map(found.sources.map((one) => [one.table, one]));
        show();
      } catch {
        sources = new Map(); // the page says that there is no connection
      }
    }
    if (timer !== false) timer = setTimeout(look, ASKED);
  }

  page.stepping.addEventListener("step", show);
  page.stepping.addEventListener("status", show);
  show();
  look();
  return {
    go() {},
    leave() {
      clearTimeout(timer);
      timer = false;
      page.stepping.removeEventListener("step", show);
      page.stepping.removeEventListener("status", show);
    },
  };
}

function table(names, rows, none) {
  if (!rows.length) return h("p", { class: "quiet" }, none);
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          names.map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((value) => h("td", {}, value)),
          ),
        ),
      ),
    ),
  );
}

function line(one) {
  const rows = (counts) => Object.entries(counts).map(([name, n]) => `${visible(name)} ${count(n)} `);
  const links = Object.entries(one.out).map(([name, n]) =>
    h("a", { href: `#/views/${encodeURIComponent(name)}/at/${one.step}` }, `${visible(name)} ±${count(n)}`),
  );
  const late = Object.values(one.late).reduce((sum, n) => sum + n, 0) + one.bad;
  return h(
    "tr",
    {},
    h("th", { scope: "row", class: "number" }, count(one.step)),
    h("td", {}, new Date(one.at).toLocaleTimeString()),
    h("td", {}, rows(one.in)),
    h("td", { class: "links" }, links),
    h("td", { class: "number" }, late ? count(late) : ""),
    PHASES.map((phase) =>
      h("td", { class: "number" }, phase in one.phases ? seconds(one.phases[phase]) : ""),
    ),
    h("td", { class: "number" }, seconds(total(one))),
  );
}

/** What a source has that no step has read, or that it doesn't answer; and how long ago it had a row. */
function behind(source) {
  if (!source) return ["–", "–"];
  const unread = source.unread === null ? "–" : `${count(source.unread)} ${source.unit}`;
  const late = h("span", { class: source.unread ? "bad" : "good" }, unread);
  const said = source.away
    ? h("span", { class: "bad", title: source.away }, "away")
    : source.unread === null ? unread : late;
  return [said, source.quiet === null ? "–" : `${seconds(source.quiet)} ago`];
}

function ago(at) {
  const past = Math.max(0, (Date.now() - new Date(at).getTime()) / 1000);
  return past < 2 ? "just now" : past < 90 ? `${past.toFixed(0)} s ago` : new Date(at).toLocaleString();
}
