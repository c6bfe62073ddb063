// What steps change in a view, as they are made.

import { parsed, viewPath } from "./asking.js";

/** changed(step, rows): of one step. gone(): steps are missed, so that the view is to be read anew. */
export class Following {
  #source = null;
  #step = null;
  #rows = [];

  constructor(view, changed, gone) {
    Object.assign(this, { view, changed, gone });
    document.addEventListener("visibilitychange", this.#seen);
  }

  /** step: whose rows are there. */
  from(step) {
    if (this.#source && this.#step !== null && step >= this.#step) return;
    this.#close();
    this.#step = step;
    this.#open();
  }

  /** Until `from` is called again. */
  pause() {
    this.#close();
    this.#step = null;
  }

  end() {
    this.pause();
    document.removeEventListener("visibilitychange", this.#seen);
  }

  #seen = () => {
    if (document.hidden) this.#close();
    else if (this.#step !== null) this.gone();
  };

  #open() {
    if (document.hidden) return;
    const source = (this.#source = new EventSource(viewPath(this.view, `/changes?since=${this.#step}`)));
    source.addEventListener("changes", (event) => {
      const { step, more, rows } = parsed(event.data);
      this.#rows.push(...rows);
      if (more) return;
      const all = this.#rows;
      this.#rows = [];
      this.#step = Number(step);
      this.changed(this.#step, all);
    });
    source.addEventListener("gone", () => this.#missed());
    source.addEventListener("error", () => {
      this.#rows = [];
      // an answer that is no stream: of steps that aren't kept, or of a server that is busy
      if (source.readyState === EventSource.CLOSED && this.#source === source)
        setTimeout(() => this.#missed(), 1000);
    });
  }

  #missed() {
    if (this.#step === null) return;
    this.#close();
    this.gone();
  }

  #close() {
    this.#source?.close();
    this.#source = null;
    this.#rows = [];
  }
}
