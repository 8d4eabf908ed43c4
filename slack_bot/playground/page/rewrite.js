// The field in which somebody changes a message of their own. Enter saves, Escape leaves it as it was.

import { Completion } from "./completion.js";
import { h } from "./dom.js";

export class Rewrite {
  /** `people()`: who can be named. `send(text, settled)` is false if it could not be sent; `done()` is called when the field is to go. */
  constructor(text, people, send, done) {
    const why = h("p", { class: "bad", role: "alert" });
    this.field = h("textarea", { "aria-label": "Edit the message", rows: "2" });
    this.field.value = text;
    const save = () => {
      const settled = (taken, reason) => { if (taken) done(); else why.textContent = reason; return true; };
      if (this.field.value.trim() && !send(this.field.value, settled)) why.textContent = "Not connected. The text stays here.";
    };
    this.node = h("form", { class: "rewrite", id: "rewrite", on: { submit: (event) => { event.preventDefault(); save(); } } }, this.field, why,
      h("div", { class: "deeds" }, h("button", { type: "button", class: "button", on: { click: done } }, "Cancel"),
        h("button", { type: "submit", class: "button primary", data: { sends: "" } }, "Save changes")));
    new Completion(this.node, this.field, people, () => {}); // first, as it takes Enter and Escape while its list is open
    this.field.addEventListener("keydown", (event) => {
      if (event.isComposing || !["Enter", "Escape"].includes(event.key) || event.shiftKey) return;
      event.preventDefault();
      if (event.key === "Enter") save(); else done();
    });
  }
}
