// Steps as the server makes them, and what it says of itself. One stream for the whole page, and none while
// nobody sees it: a browser has few connections to a host.

import { ask } from "./asking.js";

const KEPT = 240;

/** status: of GET /status, brought up to date by each step; null before the first answer. */
export class Stepping extends EventTarget {
  status = null;
  state = "waiting";
  #source = null;

  start() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#close() : this.#open()));
    window.addEventListener("pagehide", () => this.#close());
    window.addEventListener("pageshow", () => this.#open());
    this.#open();
  }

  #open() {
    if (this.#source || document.hidden) return;
    const source = (this.#source = new EventSource("steps"));
    // the stream begins with the next step: what was before is asked for when it is there
    source.addEventListener("open", () => this.#load());
    source.addEventListener("step", (event) => this.#made(JSON.parse(event.data)));
    source.addEventListener("state", (event) => Object.assign(this.status ?? {}, JSON.parse(event.data)));
    source.addEventListener("trouble", (event) => this.#troubled(JSON.parse(event.data)));
    source.addEventListener("changing", (event) => this.#changing(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      this.#turn("lost");
      if (source.readyState === EventSource.CLOSED && this.#source === source) {
        this.#source = null;
        setTimeout(() => this.#open(), 2000);
      }
    });
  }

  #close() {
    this.#source?.close();
    this.#source = null;
  }

  async #load() {
    try {
      const status = await ask("status");
      const known = this.status?.steps.filter((one) => one.step > (status.steps.at(-1)?.step ?? status.step));
      this.status = status;
      this.#turn("live");
      this.dispatchEvent(new CustomEvent("status"));
      known?.forEach((one) => this.#made(one));
    } catch {
      this.#turn("lost");
    }
  }

  #made(one) {
    const status = this.status;
    if (!status || one.step <= (status.steps.at(-1)?.step ?? 0)) return;
    status.steps = [...status.steps, one].slice(-KEPT);
    status.step = Math.max(status.step, one.step);
    status.kept = [...status.kept.filter((step) => step >= one.oldest), one.step];
    Object.assign(status.waterlines, one.waterlines);
    for (const [relation, rows] of Object.entries(one.late))
      status.late[relation] = (status.late[relation] ?? 0) + rows;
    status.bad += one.bad;
    for (const sink of status.sinks) sink.undelivered = one.undelivered[sink.table] ?? sink.undelivered;
    this.#turn("live");
    this.dispatchEvent(new CustomEvent("step", { detail: one }));
  }

  #troubled(why) {
    if (this.status) this.status.trouble = why;
    this.#turn(this.state);
  }

  #changing(change) {
    if (this.status) this.status.changing = change;
    this.#turn(this.state);
  }

  #turn(state) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state"));
  }
}
