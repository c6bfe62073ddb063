// The program's text, with the lines of a relation marked, and below its lines what is wrong with them.

import { ask } from "./asking.js";
import { counted, h, put, visible } from "./dom.js";

const KEYWORDS = new Set(
  (
    "all and append as asc at between by case cast create cross delete desc distinct each else emit " +
    "end exists false filter following for format from full function group having in inner insert " +
    "interval into is join key lateness left like limit local materialized not null on options or " +
    "order outer over partition preceding primary recursive returns right rows select set stream " +
    "streaming table then true union unnest using values view when where window with "
  )
    .trim()
    .split(" "),
);
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)/g;

// milliseconds between two looks at what is wrong
const PAUSE = 1000;

export function programPart(section, rest, page) {
  const names = h("ul");
  const code = h("pre", { class: "text", tabindex: "0", "aria-label": "the program's text" });
  const title = h("h2", {}, "Program");
  const wrong = h("p", { class: "range", role: "status" });
  put(
    section,
    h("nav", { class: "list", "aria-label": "Relations" }, h("h2", {}, "Relations"), names),
    h("div", { class: "view" }, h("div", { class: "title" }, title, wrong), code),
  );
  let program = null;
  let lines = [];
  let marked = "";
  let looking = null;
  let again = false;

  function go([name]) {
    const chosen = program?.statements.find((one) => one.name === name);
    for (const link of names.querySelectorAll("a")) {
      if (link.dataset.name === chosen?.name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    lines.forEach((line, n) =>
      line.classList.toggle(
        "chosen",
        Boolean(chosen) && n + 1 >= chosen.lines[0] && n + 1 <= chosen.lines[1],
      ),
    );
    if (chosen) lines[chosen.lines[0] - 1]?.scrollIntoView({ block: "center" });
  }

  async function load() {
    try {
      program = await ask("program");
    } catch (error) {
      put(code, error.message);
      return;
    }
    title.textContent = program.name;
    put(
      names,
      program.statements
        .filter((one) => one.name)
        .map((one) =>
          h(
            "li",
            {},
            h(
              "a",
              { href: `#/program/${encodeURIComponent(one.name)}`, "data-name": one.name },
              visible(one.name),
            ),
          ),
        ),
    );
    lines = coloured(program.text.replace(/\n+$/, "")).map((parts) => h("span", { class: "line" }, parts));
    put(code, lines);
    go(rest);
    look();
  }

  /** What is wrong by now, at most once in a while. */
  function look() {
    again = true;
    if (looking !== null || !lines.length) return;
    again = false;
    looking = setTimeout(() => {
      looking = null;
      if (again) look();
    }, PAUSE);
    ask("problems").then(({ problems }) => mark(problems), () => {});
  }

  function mark(problems) {
    const said = JSON.stringify(problems);
    if (said === marked) return;
    marked = said;
    for (const old of code.querySelectorAll(".problem")) old.remove();
    const last = new Map();
    for (const one of problems) {
      const at = Math.min(one.line, lines.length) - 1;
      const below = last.get(at) ?? lines[at];
      const note = h("span", { class: `problem ${one.kind}` }, h("b", {}, one.kind), ` ${visible(one.text)}`);
      below.after(note);
      last.set(at, note);
    }
    lines.forEach((line, n) => line.classList.toggle("marked", last.has(n)));
    const kinds = ["error", "warning", "note"]
      .map((kind) => [problems.filter((one) => one.kind === kind).length, kind])
      .filter(([many]) => many)
      .map(([many, kind]) => counted(many, kind));
    wrong.textContent = kinds.join(", ");
  }

  const events = ["step", "status", "state"];
  for (const event of events) page.stepping.addEventListener(event, look);
  load();
  return {
    go,
    leave() {
      clearTimeout(looking);
      looking = 0;
      for (const event of events) page.stepping.removeEventListener(event, look);
    },
  };
}

/** Per line its pieces. */
function coloured(text) {
  const lines = [[]];
  const push = (piece, kind) =>
    piece.split("\n").forEach((part, n) => {
      if (n) lines.push([]);
      if (part) lines.at(-1).push(kind ? h("span", { class: kind }, part) : part);
    });
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = match[1]
      ? "comment"
      : match[2]
        ? "string"
        : KEYWORDS.has(match[3].toLowerCase())
          ? "keyword"
          : "";
    if (!kind) continue;
    push(text.slice(at, match.index));
    push(match[0], kind);
    at = match.index + match[0].length;
  }
  push(text.slice(at));
  return lines;
}
