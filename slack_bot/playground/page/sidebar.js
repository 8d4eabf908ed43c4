// The side bar: conversations with their unread marks, and who the visitor is.

import { h, icon } from "./dom.js";
import { faceNode } from "./faces.js";

export class Sidebar {
  /** `choose(channel)` goes to a conversation, `become(id)` makes the visitor another person. */
  constructor({ places, people }, model, { choose, become }) {
    Object.assign(this, { places, people, model, choose, become });
  }

  /** What is there already stays, whatever comes: a button that is drawn anew while it is pressed would be no click. */
  showPlaces(me, open) {
    const mine = this.model.placesOf(me), key = JSON.stringify(mine.map((one) => [one.id, this.model.title(one.id)]));
    if (key !== this.shown) {
      this.shown = key;
      this.rows = mine.map((one) => this.row(one));
      const section = (title, isDm) => h("section", { "aria-label": title }, h("h2", { text: title }), ...this.rows.filter((row) => row.isDm === isDm).map((row) => row.button));
      refillFocused(this.places, "channel", [section("Channels", false), section("Direct messages", true)]);
    }
    for (const row of this.rows) this.mark(row, me, open);
  }

  row({ id, kind }) {
    const isDm = kind === "im", number = h("span", { class: "number", "aria-hidden": "true", hidden: true });
    const button = h("button", { type: "button", data: { channel: id, kind }, on: { click: () => this.choose(id) } },
      isDm ? faceNode(this.model.person(this.model.bot.user_id), true) : icon("hash"),
      h("span", { class: "name", text: this.model.title(id) }), " ", isDm ? h("span", { class: "app", text: "APP" }) : null, " ", number);
    return { id, isDm, button, number };
  }

  mark({ id, isDm, button, number }, me, open) {
    const unread = id === open ? 0 : this.model.unread(me, id);
    button.className = `row-button ${unread ? "unread" : ""}`;
    if (id === open) button.setAttribute("aria-current", "page"); else button.removeAttribute("aria-current");
    button.setAttribute("aria-label", `${this.model.title(id)}${isDm ? " APP" : ""}${unread ? `, ${unread} unread` : ""}${isDm ? ", direct message" : ""}`);
    number.hidden = !(unread && isDm);
    if (number.textContent !== String(unread)) number.textContent = String(unread);
  }

  showPeople(me) {
    refillFocused(this.people, "user", this.model.here.map((one) =>
      h("button", { type: "button", class: "who", "aria-pressed": String(one.id === me), title: `Be ${one.name}`, data: { user: one.id }, on: { click: () => this.become(one.id) } },
        faceNode(this.model.person(one.id), true), one.name)));
  }
}

/** Draw anew; the focus stays on what has the same `data-<name>`. */
function refillFocused(box, name, nodes) {
  const held = box.contains(document.activeElement) ? document.activeElement.dataset[name] : undefined;
  box.replaceChildren(...nodes);
  if (held) box.querySelector(`[data-${name}="${CSS.escape(held)}"]`)?.focus();
}
