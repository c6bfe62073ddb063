// Elements. What a row, a name or a server's line holds becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** attributes: `on*` are listeners, true and false set or leave out. children: nodes, texts, lists, null. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

export function put(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Make these the children, moving no more than must be: what has the focus keeps it. */
export function arrange(parent, children) {
  const kept = new Set(children);
  for (const child of [...parent.childNodes]) if (!kept.has(child)) child.remove();
  children.forEach((child, n) => {
    if (parent.childNodes[n] !== child) parent.insertBefore(child, parent.childNodes[n] ?? null);
  });
}

/** For those who don't see the page. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

// what would not be seen, or turns the direction of what follows
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Characters that have no glyph, by their numbers. */
export function visible(text) {
  return text.replace(
    HIDDEN,
    (character) => `\u27e8${character.charCodeAt(0).toString(16).padStart(4, "0")}\u27e9`,
  );
}

const COUNT = new Intl.NumberFormat("en");

export function count(n) {
  return COUNT.format(n);
}

export function counted(n, one, several = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : several}`;
}

export function seconds(value) {
  if (value >= 100) return `${value.toFixed(0)} s`;
  if (value >= 1) return `${value.toFixed(2)} s`;
  if (value >= 1e-3) return `${(value * 1e3).toFixed(value >= 0.1 ? 0 : 1)} ms`;
  return `${(value * 1e6).toFixed(0)} µs`;
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let n = 0;
  while (value >= 1000 && n < units.length - 1) [value, n] = [value / 1000, n + 1];
  return `${n ? value.toFixed(value >= 100 ? 0 : 1) : value} ${units[n]}`;
}
