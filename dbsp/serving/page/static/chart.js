// Steps as bars, a phase above the other.

import { count, h, s, seconds } from "./dom.js";

export const PHASES = ["read", "plan", "tasks", "commit", "deliver"];
const HEIGHT = 150;
const LEFT = 56;
const BAR = 11;

/** The seconds of all of them. */
export function total(one) {
  return PHASES.reduce((sum, phase) => sum + (one.phases[phase] ?? 0), 0);
}

/** known: the oldest first; of those that are too many for the width, the last. */
export function drawn(known, width) {
  const steps = known.slice(-Math.max(1, Math.floor((width - LEFT) / BAR)));
  if (!steps.length) return h("p", { class: "quiet" }, "no step yet");
  const totals = steps.map(total);
  const top = rounded(Math.max(...totals));
  const y = (value) => HEIGHT - (value / top) * HEIGHT;
  const bars = steps.map((one, n) => {
    let below = 0;
    const parts = PHASES.filter((phase) => one.phases[phase]).map((phase) => {
      const [from, to] = [below, (below += one.phases[phase])];
      return s("rect", {
        class: phase,
        x: LEFT + n * BAR,
        y: y(to),
        width: BAR - 2,
        height: Math.max(0, y(from) - y(to)),
      });
    });
    const said = PHASES.filter((phase) => one.phases[phase])
      .map((phase) => `${phase} ${seconds(one.phases[phase])}`)
      .join(", ");
    return s(
      "g",
      {},
      s("title", {}, `step ${count(one.step)}: ${said}`),
      parts,
      s("rect", { class: "whole", x: LEFT + n * BAR, y: 0, width: BAR, height: HEIGHT }),
    );
  });
  const lines = [0, 0.5, 1].map((part) => [
    s("line", { x1: LEFT - 4, x2: width, y1: y(top * part), y2: y(top * part) }),
    s("text", { x: LEFT - 8, y: y(top * part) + 4 }, part ? seconds(top * part) : "0"),
  ]);
  const svg = s(
    "svg",
    {
      width,
      height: HEIGHT + 16,
      viewBox: `0 -8 ${width} ${HEIGHT + 16}`,
      role: "img",
      "aria-label": `seconds of ${steps.length} steps; the table below has them`,
    },
    lines,
    bars,
  );
  return [
    svg,
    h(
      "ul",
      { class: "legend" },
      PHASES.map((phase) => h("li", { class: phase }, phase)),
    ),
  ];
}

/** The next of 1, 2 and 5 times a power of ten. */
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6)));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= value);
}
