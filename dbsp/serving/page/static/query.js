// A query over the views: evaluated once, as of the last step.

import { ask } from "./asking.js";
import { Completion } from "./completion.js";
import { count, counted, h, put, say, visible } from "./dom.js";
import { remembered, remember } from "./history.js";
import { Table } from "./table.js";

const MOST = 200;

export function queryPart(section, rest, page) {
  const first = page.views[0];
  const text = h("textarea", {
    rows: "6",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    "aria-label": "SQL over the views",
    placeholder: first ? `SELECT * FROM ${first.name}` : "SELECT 1",
  });
  text.value = rest[0] ?? remembered()[0] ?? (first ? `SELECT * FROM ${named(first.name)}` : "");
  const run = h("button", { type: "submit", class: "main" }, "run");
  const file = h("a", { download: "query.csv", hidden: true }, "CSV");
  const note = h("p", { class: "range", role: "status" });
  const error = h("pre", { class: "error", role: "alert", hidden: true });
  const found = h("div", { class: "rows" });
  const past = h("ul", { class: "past" });
  const completion = new Completion(text, words(page.views));
  const form = h(
    "form",
    { class: "asked" },
    completion.element,
    h(
      "div",
      { class: "tools" },
      run,
      h("small", {}, "Ctrl + Enter"),
      h("a", { href: "#/program" }, "program"),
      file,
    ),
  );
  const names = h(
    "details",
    { class: "names" },
    h("summary", {}, "views and columns"),
    h(
      "dl",
      {},
      page.views.map((view) => [
        h("dt", {}, visible(view.name)),
        h(
          "dd",
          {},
          view.columns.map((column) =>
            h("span", {}, `${visible(column.name)} `, h("small", {}, column.type.toLowerCase())),
          ),
        ),
      ]),
    ),
  );
  const earlier = h("details", {}, h("summary", {}, "earlier queries"), past);
  put(section, h("div", { class: "title" }, h("h2", {}, "Query")), form, names, earlier, error, note, found);

  let asking = null;

  async function asked() {
    const sql = text.value.trim().replace(/;$/, "");
    if (!sql) return;
    asking?.abort();
    asking = new AbortController();
    run.disabled = true;
    error.hidden = true;
    note.textContent = "asked; a query of a new shape is compiled first, which may take seconds";
    const began = performance.now();
    try {
      const answer = await ask(`query?limit=${MOST}`, { signal: asking.signal, body: sql, exact: true });
      const took = performance.now() - began;
      remember(sql);
      listed();
      show(answer);
      const more = answer.more ? ` · the first ${count(MOST)}` : "";
      const time = `${count(Math.round(took))} ms`;
      const else_ = answer.note ? ` · ${visible(answer.note)}` : "";
      note.textContent = `${counted(answer.of, "row")} of step ${count(answer.step)} in ${time}${more}${else_}`;
      file.href = `query?format=csv&sql=${encodeURIComponent(sql)}`;
      file.hidden = false;
    } catch (problem) {
      note.textContent = "";
      if (problem.name !== "AbortError") {
        error.textContent = withCaret(problem.message, sql);
        error.hidden = false;
      }
    }
    run.disabled = false;
    say(note.textContent);
  }

  function show({ rows, columns }) {
    const table = new Table(columns, { caption: "what the query found" });
    table.show(rows, (row) => row);
    put(found, table.element);
  }

  function listed() {
    put(
      past,
      remembered().map((sql) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                text.value = sql;
                text.focus();
              },
            },
            sql.length > 160 ? `${sql.slice(0, 160)}…` : sql,
          ),
        ),
      ),
    );
    earlier.hidden = !past.children.length;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    asked();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      completion.close();
      asked();
    }
  });
  listed();
  return { go() {}, leave: () => asking?.abort() };
}

/** `query:2:8: what`: what, and below it the line with a caret under the place. */
function withCaret(message, sql) {
  const place = /^query:(\d+):(\d+): /.exec(message);
  const line = place && sql.split("\n")[place[1] - 1];
  if (!line) return message;
  const before = line.slice(0, place[2] - 1).replace(/[^\t]/g, " ");
  return `${message.slice(place[0].length)}\n\n${line}\n${before}^`;
}

function named(name) {
  return name
    .split(".")
    .map((part) => (/^\w+$/.test(part) ? part : `\`${part.replaceAll("`", "``")}\``))
    .join(".");
}

/** What can be completed: names as they must be written, each with what it is. */
function words(views) {
  const found = views.map((view) => [named(view.name), "view"]);
  for (const view of views)
    for (const column of view.columns)
      found.push([named(column.name), `${view.name} · ${column.type.toLowerCase()}`]);
  const known = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "JOIN",
    "LEFT JOIN",
    "DISTINCT",
    "count(*)",
    "sum(",
    "avg(",
    "min(",
    "max(",
    "BETWEEN",
    "FOR SYSTEM_TIME AS OF",
  ];
  return [...found, ...known.map((word) => [word, ""])];
}
