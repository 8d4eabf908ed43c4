// A panel of emoji to choose from, with a search. The focus stays in the field: arrows go through the emoji, Enter
// chooses, Escape closes.

import { h, icon } from "./dom.js";
import { drawn, isShown } from "./emoji.js";
import { CHARACTERS, namesFor } from "./emoji_list.js";

const IN_A_ROW = 8; // as in the style sheet
const EDGE = 8; // pixels to the edges of the window

class Picker {
  constructor() {
    this.field = h("input", { type: "text", class: "input", role: "combobox", "aria-label": "Search emoji", placeholder: "Search emoji", autocomplete: "off", spellcheck: "false", "aria-controls": "picker-list", "aria-expanded": "true", "aria-autocomplete": "list" });
    this.list = h("div", { class: "picked", id: "picker-list", role: "listbox", "aria-label": "Emoji", tabindex: "-1" });
    this.name = h("p", { class: "dim", role: "status" });
    this.node = h("div", { class: "picker", id: "picker", popover: "auto", role: "dialog", "aria-label": "Emoji" }, this.field, this.list, this.name);
    this.field.addEventListener("input", () => this.search());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.pressed = null; // the button of the open panel, on which a press has begun: the browser closes the panel for that
    addEventListener("pointerdown", ({ target }) => { this.pressed = this.isOpen && this.button.contains(target) ? this.button : null; }, { capture: true });
    this.node.addEventListener("toggle", ({ newState }) => {
      this.button.setAttribute("aria-expanded", String(newState === "open"));
      if (newState === "closed") this.node.remove(); // so that nothing of it is in the page
    });
  }

  get isOpen() { return this.node.matches(":popover-open"); }

  /** `choose(name)` is called once, unless the panel is closed. */
  open(button, choose) {
    Object.assign(this, { button, choose });
    this.field.value = "";
    document.body.append(this.node);
    this.search();
    this.node.showPopover();
    const [at, own] = [button.getBoundingClientRect(), this.node.getBoundingClientRect()];
    this.node.style.left = `${Math.max(EDGE, Math.min(at.left, innerWidth - own.width - EDGE))}px`;
    this.node.style.top = `${at.top - own.height - EDGE > EDGE ? at.top - own.height - EDGE / 2 : Math.max(EDGE, Math.min(at.bottom + EDGE / 2, innerHeight - own.height - EDGE))}px`;
    this.field.focus();
  }

  search() {
    const wanted = this.field.value.trim().replaceAll(":", "").replaceAll(" ", "_");
    this.found = (wanted ? namesFor(wanted) : [...CHARACTERS.keys()]).filter(isShown);
    this.list.replaceChildren(...this.found.map((name, at) => h("div", { role: "option", id: `picker-${at}`, "aria-label": name.replaceAll("_", " "), "aria-selected": "false", data: { name },
      on: { pointermove: () => this.at !== at && this.mark(at), pointerdown: (event) => event.preventDefault(), click: () => { this.mark(at); this.take(); } } }, drawn(name))));
    this.mark(0);
    if (!this.found.length) this.name.textContent = `No emoji here is called “${wanted}”. In a message, any name can be written: :${wanted}:`;
  }

  mark(at) {
    this.list.children[this.at]?.setAttribute("aria-selected", "false");
    this.at = at;
    const option = this.list.children[at];
    if (!option) { this.field.removeAttribute("aria-activedescendant"); return; }
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", option.id);
    this.name.textContent = `:${this.found[at]}:`;
  }

  key(event) {
    if (event.isComposing) return;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: IN_A_ROW, ArrowUp: -IN_A_ROW }[event.key];
    if (step) { if (this.found[this.at + step]) this.mark(this.at + step); }
    else if (event.key === "Enter") this.take();
    else if (event.key === "Escape" || event.key === "Tab") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation(); // else Escape would close the thread too
  }

  take() {
    const name = this.found[this.at];
    if (!name) return;
    this.close();
    this.choose(name);
  }

  close() {
    this.node.hidePopover();
    this.button.focus();
  }
}

let picker;

/** Let somebody choose an emoji beside `button`, or close the panel that is open there. */
export function pickEmoji(button, choose) {
  picker ??= new Picker();
  const wasOpen = picker.pressed === button;
  picker.pressed = null;
  if (picker.isOpen) picker.close(); else if (!wasOpen) picker.open(button, choose);
}

/** A button that opens the panel. */
export function emojiButton(choose) {
  const button = h("button", { type: "button", class: "bare", "aria-label": "Emoji", title: "Emoji", "aria-haspopup": "dialog", "aria-expanded": "false", data: { emoji: "" }, on: { click: () => pickEmoji(button, choose) } }, icon("smile"));
  return button;
}
