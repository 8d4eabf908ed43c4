// Names after an @ in a text field: a list to choose from with the arrow keys, Enter or Tab.

import { h } from "./dom.js";
import { faceNode } from "./faces.js";

const BEGUN = /(^|\s)@([\p{L}\p{N}_]*)$/u;

export class Completion {
  /** `people()` gives {name, letter, tone, app} of all who can be named; `changed()` is called after a name was put in. */
  constructor(form, field, people, changed) {
    Object.assign(this, { field, people, changed });
    this.list = h("ul", { class: "names", role: "listbox", id: `${form.id}-names`, "aria-label": "People", hidden: true });
    form.append(this.list);
    field.setAttribute("aria-controls", this.list.id);
    field.setAttribute("aria-autocomplete", "list");
    field.addEventListener("input", () => this.look());
    field.addEventListener("blur", () => this.close());
    field.addEventListener("keydown", (event) => this.key(event));
  }

  get isOpen() { return !this.list.hidden; }

  look() {
    const { field } = this;
    const match = BEGUN.exec(field.value.slice(0, field.selectionStart));
    const begun = match?.[2].toLowerCase();
    this.found = match ? this.people().filter((one) => one.name.toLowerCase().startsWith(begun) && one.name.toLowerCase() !== begun) : [];
    this.at = 0;
    this.start = field.selectionStart - (match?.[2].length ?? 0);
    this.list.hidden = this.found.length === 0;
    if (this.found.length) this.draw(); else this.close();
  }

  draw() {
    this.list.replaceChildren(...this.found.map((one, index) => h("li", { role: "option", id: `${this.list.id}-${index}`, "aria-selected": String(index === this.at),
      on: { pointerdown: (event) => { event.preventDefault(); this.at = index; this.take(); } } },
    faceNode(one, true), one.name)));
    this.field.setAttribute("aria-activedescendant", `${this.list.id}-${this.at}`);
  }

  key(event) {
    if (!this.isOpen || event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { this.at = (this.at + step + this.found.length) % this.found.length; this.draw(); }
    else if (event.key === "Enter" || event.key === "Tab") this.take();
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  take() {
    const { field, start } = this;
    const name = `${this.found[this.at].name} `;
    field.setRangeText(name, start, field.selectionStart, "end");
    this.close();
    this.changed();
  }

  close() {
    this.list.hidden = true;
    this.field.removeAttribute("aria-activedescendant");
  }
}
