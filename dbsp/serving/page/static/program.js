// The program's text, with the lines of a relation marked.

import { ask } from "./asking.js";
import { h, put, visible } from "./dom.js";

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

export function programPart(section, rest, page) {
  const names = h("ul");
  const code = h("pre", { class: "text", tabindex: "0", "aria-label": "the program's text" });
  const title = h("h2", {}, "Program");
  put(
    section,
    h("nav", { class: "list", "aria-label": "Relations" }, h("h2", {}, "Relations"), names),
    h("div", { class: "view" }, h("div", { class: "title" }, title), code),
  );
  let program = null;
  let lines = [];

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
  }

  load();
  return { go, leave() {} };
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
