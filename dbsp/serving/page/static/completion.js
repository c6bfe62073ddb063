// Names that go on as the word under the caret begins. Down chooses, Enter takes, Escape leaves, and Tab
// moves on.

import { h, put, visible } from "./dom.js";

const MOST = 8;
const WORD = /[\w`.]+$/;

export class Completion {
  #found = [];
  #at = -1;

  /** words: [[text, what it is]]. */
  constructor(input, words) {
    this.input = input;
    this.words = words;
    this.list = h("ul", { id: "completions", role: "listbox", "aria-label": "names", hidden: true });
    this.element = h("div", { class: "completed" }, input, this.list);
    for (const [name, value] of [
      ["aria-autocomplete", "list"],
      ["aria-controls", "completions"],
    ])
      input.setAttribute(name, value);
    input.addEventListener("input", () => this.#look());
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => this.close());
  }

  close() {
    this.#found = [];
    this.#draw(-1);
  }

  #word() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    return WORD.exec(before)?.[0] ?? "";
  }

  #look() {
    const word = this.#word().toLowerCase();
    const fits = ([text]) =>
      text.toLowerCase().replaceAll("`", "").startsWith(word.replaceAll("`", "")) &&
      text.toLowerCase() !== word;
    const named = new Map();
    for (const one of word ? this.words.filter(fits) : []) if (!named.has(one[0])) named.set(one[0], one);
    this.#found = [...named.values()].slice(0, MOST);
    this.#draw(-1);
  }

  #draw(at) {
    this.#at = at;
    this.list.hidden = !this.#found.length;
    if (at < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", `completion-${at}`);
    put(
      this.list,
      this.#found.map(([text, what], n) =>
        h(
          "li",
          {
            id: `completion-${n}`,
            role: "option",
            "aria-selected": String(n === at),
            onmousedown: (event) => {
              event.preventDefault(); // so that the text keeps the focus
              this.#take(n);
            },
          },
          visible(text),
          h("small", {}, visible(what)),
        ),
      ),
    );
  }

  #key(event) {
    if (!this.#found.length || event.ctrlKey || event.metaKey) return;
    const n = this.#found.length;
    if (event.key === "ArrowDown") this.#draw((this.#at + 1) % n);
    else if (event.key === "ArrowUp" && this.#at >= 0) this.#draw((this.#at + n - 1) % n);
    else if (event.key === "Enter" && this.#at >= 0) this.#take(this.#at);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  #take(n) {
    const [text] = this.#found[n];
    const start = this.input.selectionStart - this.#word().length;
    this.input.setRangeText(text, start, this.input.selectionStart, "end");
    this.close();
  }
}
