// The side bar: conversations with their unread marks, and who the visitor is.

import { h, icon } from "./dom.js";
import { faceNode } from "./faces.js";

export class Sidebar {
  /** `choose(channel)` goes to a conversation, `become(id)` makes the visitor another person. */
  constructor({ places, people }, model, { choose, become }) {
    Object.assign(this, { places, people, model, choose, become });
  }

  showPlaces(me, open) {
    const mine = this.model.placesOf(me);
    const section = (title, of) => h("section", { "aria-label": title }, h("h2", { text: title }), ...of.map((one) => this.place(one, me, open)));
    refillFocused(this.places, "channel", [
      section("Channels", mine.filter((one) => one.kind !== "im")),
      section("Direct messages", mine.filter((one) => one.kind === "im"))]);
  }

  place(channel, me, open) {
    const unread = channel.id === open ? 0 : this.model.unread(me, channel.id);
    const isDm = channel.kind === "im";
    const name = this.model.title(channel.id);
    return h("button", { type: "button", class: `row-button ${unread ? "unread" : ""}`, data: { channel: channel.id, kind: channel.kind },
      "aria-current": channel.id === open ? "page" : null, "aria-label": `${name}${isDm ? " APP" : ""}${unread ? `, ${unread} unread` : ""}${isDm ? ", direct message" : ""}`,
      on: { click: () => this.choose(channel.id) } },
    isDm ? faceNode(this.model.person(this.model.bot.user_id), true) : icon("hash"),
    h("span", { class: "name", text: name }), " ", isDm ? h("span", { class: "app", text: "APP" }) : null, " ",
    unread && isDm ? h("span", { class: "number", "aria-hidden": "true", text: String(unread) }) : null);
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
