// A modal of the app: its blocks as a form. Slack's client checks it, the app answers with errors by field.

import { h, icon } from "./dom.js";
import { blockNode } from "./blocks.js";
import { nameOf } from "./elements.js";

export class Modal {
  /** `dialog` is filled. `submit(values)` and `close()` give orders; `names` are people's, by id. */
  constructor(dialog, { submit, close, names }) {
    Object.assign(this, { dialog, submit, close, names });
    dialog.addEventListener("close", () => { if (this.shown && !this.isTold) this.close(); this.shown = null; });
  }

  /** `modal` is what the person has open, or null. */
  show(modal) {
    if (!modal?.blocks) {
      this.isTold = true;
      if (this.dialog.open) this.dialog.close();
      return;
    }
    if (modal.id !== this.shown?.id) this.given = {};
    this.shown = modal;
    this.isTold = false;
    this.draw();
    if (!this.dialog.open) this.dialog.showModal();
    this.focus();
  }

  draw() {
    const { shown } = this;
    const on = { names: this.names(), given: this.given, errors: shown.errors, idOf: (block) => `field-${block.block_id}`,
      act: () => {}, fill: (block, element, given) => { this.given[nameOf(block, element)] = given; } };
    const form = h("form", { novalidate: true, on: { submit: (event) => { event.preventDefault(); this.send(); } } },
      h("div", { class: "blocks" }, ...shown.blocks.map((block) => blockNode(block, on)).filter(Boolean)),
      h("div", { class: "deeds to-end" },
        h("button", { type: "button", class: "button", text: shown.close?.text ?? "Cancel", on: { click: () => this.dialog.close() } }),
        shown.submit ? h("button", { type: "submit", class: "button primary", data: { sends: "" }, text: shown.submit.text }) : null));
    this.dialog.replaceChildren(h("header", {}, h("h2", { id: "modal-title", text: shown.title?.text ?? "" }),
      h("button", { type: "button", class: "bare", "aria-label": "Close", on: { click: () => this.dialog.close() } }, icon("close"))), form);
  }

  /** To the first field that is wrong, else to the first one. */
  focus() {
    (this.dialog.querySelector(".wrong :is(input, select, textarea)") ?? this.dialog.querySelector("form :is(input, select, textarea, button)"))?.focus();
  }

  /** What is still being typed counts too. */
  send() {
    if (document.activeElement?.matches("input, textarea")) document.activeElement.dispatchEvent(new Event("change"));
    this.submit(this.given);
  }
}
