// What the server is asked.

/** A number that JavaScript would spell differently, as it came: of 20 digits, or 1.0. */
export class Exact {
  constructor(source) {
    this.source = source;
  }

  toString() {
    return this.source;
  }

  toJSON() {
    return this.source;
  }
}

/** JSON, in which no number loses a digit where the browser tells how it was written. */
export function parsed(text) {
  return JSON.parse(text, (_, value, context) => {
    const changed =
      typeof value === "number" && context?.source !== undefined && String(value) !== context.source;
    return changed ? new Exact(context.source) : value;
  });
}

/** Throws an Error that says what the server says. signal: to give up by; exact: of rows, to be shown. */
export async function ask(path, { signal, body, exact = false } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      signal,
      method: body === undefined ? "GET" : "POST",
      body,
      headers: { Accept: "application/json" },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server doesn't answer");
  }
  const text = await answer.text();
  if (!answer.ok) throw new Error(said(text) ?? `${answer.status} ${answer.statusText}`);
  return exact ? parsed(text) : JSON.parse(text);
}

function said(text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return undefined;
  }
}

export function viewPath(name, rest = "") {
  return `views/${encodeURIComponent(name)}${rest}`;
}

/** What one kept step changed in a view: rows with `__weight`. */
export async function changesOf(name, step, signal) {
  const path = viewPath(name, `/changes?since=${step - 1}&until=${step}`);
  const answer = await fetch(path, { signal, headers: { Accept: "text/event-stream" } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(said(text) ?? `${answer.status} ${answer.statusText}`);
  if (text.includes("event: gone")) throw new Error(`step ${step} isn't kept any more`);
  const lines = text.split("\n").filter((line) => line.startsWith("data: "));
  return lines.flatMap((line) => parsed(line.slice(6)).rows ?? []);
}
