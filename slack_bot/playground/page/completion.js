// Names after an @ and emoji after a colon in a text field: a list to choose from with the arrow keys, Enter or Tab.

import { h } from "./dom.js";
import { drawn, isShown } from "./emoji.js";
import { namesFor } from "./emoji_list.js";
import { faceNode } from "./faces.js";

const MOST = 8;
const PERSON = /(^|\s)@([\p{L}\p{N}_]*)$/u;
const EMOJI = /(^|[\s(])(:)([a-z0-9_+-]{2,})$/i; // from two letters on, as in Slack

export class Completion {
  /** `people()` gives {name, letter, tone, app} of all who can be named; `changed()` is called after something was put in. */
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
    const before = this.field.value.slice(0, this.field.selectionStart);
    const [person, emoji] = [PERSON.exec(before), EMOJI.exec(before)];
    this.found = person ? this.peopleFor(person[2]) : emoji ? emojiFor(emoji[3]) : [];
    this.at = 0;
    this.start = before.length - (person?.[2].length ?? (emoji ? emoji[3].length + 1 : 0));
    this.list.hidden = this.found.length === 0;
    this.list.setAttribute("aria-label", emoji ? "Emoji" : "People");
    if (this.found.length) this.draw(); else this.close();
  }

  peopleFor(begun) {
    const wanted = begun.toLowerCase();
    return this.people().filter(({ name }) => name.toLowerCase().startsWith(wanted) && name.toLowerCase() !== wanted)
      .map((one) => ({ sign: faceNode(one, true), label: one.name, text: `${one.name} ` }));
  }

  draw() {
    this.list.replaceChildren(...this.found.map(({ sign, label }, index) => h("li", { role: "option", id: `${this.list.id}-${index}`, "aria-selected": String(index === this.at),
      on: { pointerdown: (event) => { event.preventDefault(); this.at = index; this.take(); } } }, sign, label)));
    this.field.setAttribute("aria-activedescendant", `${this.list.id}-${this.at}`);
  }

  key(event) {
    if (!this.isOpen || event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { this.at = (this.at + step + this.found.length) % this.found.length; this.draw(); }
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) this.take();
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  take() {
    const { field, start } = this;
    field.setRangeText(this.found[this.at].text, start, field.selectionStart, "end");
    this.close();
    this.changed();
  }

  close() {
    this.list.hidden = true;
    this.field.removeAttribute("aria-activedescendant");
  }
}

/** Those that this machine can show, first, because a name alone is no help. */
function emojiFor(begun) {
  const names = namesFor(begun);
  return [...names.filter(isShown), ...names.filter((name) => !isShown(name))].slice(0, MOST)
    .map((name) => ({ sign: isShown(name) ? drawn(name) : h("span", { class: "emoji" }), label: `:${name}:`, text: `:${name}: ` }));
}
