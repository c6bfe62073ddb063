// The page: which of its parts is shown, and the head that says how the pipeline is doing.

import { ask } from "./asking.js";
import { circuitPart } from "./circuit.js";
import { count, h, put, say } from "./dom.js";
import { programPart } from "./program.js";
import { queryPart } from "./query.js";
import { Stepping } from "./stepping.js";
import { stepsPart } from "./steps.js";
import { viewsPart } from "./views.js";

const PARTS = {
  views: viewsPart,
  circuit: circuitPart,
  query: queryPart,
  steps: stepsPart,
  program: programPart,
};

const main = document.getElementById("main");
const stepping = new Stepping();
/** views: of GET /views. */
const page = { stepping, views: [] };
let shown = { name: "", leave() {}, go: null };

/** `#/views/turnover/at/3` is the part `views`, with ["turnover", "at", "3"]. */
function route() {
  const [name, ...rest] = location.hash.replace(/^#\//, "").split("/").map(decoded);
  return [name in PARTS ? name : "views", rest];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function show() {
  if (location.hash === "#main") return;
  const [name, rest] = route();
  for (const link of document.querySelectorAll("#parts a")) {
    if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (shown.name === name && shown.go) {
    shown.go(rest);
    return;
  }
  shown.leave();
  const section = h("section", { class: `part ${name}` });
  put(main, section);
  shown = { name, ...PARTS[name](section, rest, page) };
}

function head() {
  const { status, state } = stepping;
  const pulse = document.getElementById("pulse");
  pulse.dataset.state = status?.trouble ? "trouble" : state;
  const words = { waiting: "connecting …", lost: "no connection", live: "" }[state];
  document.getElementById("step").textContent = words || `step ${count(status?.step ?? 0)}`;
  const trouble = document.getElementById("trouble");
  trouble.hidden = !status?.trouble;
  trouble.textContent = status?.trouble ?? "";
  const changing = document.getElementById("changing");
  changing.hidden = !status?.changing;
  changing.textContent = status?.changing ? changed(status.changing) : "";
  if (status?.program) {
    document.getElementById("program").textContent = status.program;
    document.title = `${status.program} · dbsp`;
  }
}

/** How far the change of the program is. */
function changed({ views, rows, of, trouble, waits }) {
  const what = views.length ? `back-filling ${views.join(", ")}` : "the program is being changed";
  const far = of ? `: ${count(rows)} of ${count(of)} rows` : "";
  return [what + far, trouble, waits && `no step is made: ${waits}`].filter(Boolean).join(" · ");
}

let spoken = 0;

stepping.addEventListener("state", head);
stepping.addEventListener("status", head);
stepping.addEventListener("step", (event) => {
  head();
  const pulse = document.getElementById("pulse");
  pulse.classList.remove("beat");
  void pulse.offsetWidth; // so that the animation begins anew
  pulse.classList.add("beat");
  if (Date.now() - spoken > 5000) {
    spoken = Date.now();
    const changed = Object.keys(event.detail.out);
    say(`step ${event.detail.step}${changed.length ? ` changed ${changed.join(", ")}` : ""}`);
  }
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

try {
  page.views = (await ask("views")).views;
  window.addEventListener("hashchange", show);
  show();
} catch (error) {
  put(main, h("p", { class: "error" }, error.message));
}
stepping.start();
