// A column of messages, oldest first. It takes each changed message, once a frame.

import { MessageView } from "./message.js";
import { stickToEnd } from "./frames.js";
import { h } from "./dom.js";

const TOGETHER = 300; // seconds

export class Column {
  /** `wants(message)`: does it stand here? `replies(channel, ts)`: {count, live} of a root, or null in a thread. */
  constructor(box, world, { wants, replies = null }) {
    Object.assign(this, { box, world, wants, replies });
    this.stick = stickToEnd(box);
    this.views = new Map();
    box.addEventListener("keydown", (event) => this.key(event));
  }

  show(messages, empty) {
    this.views.clear();
    this.box.replaceChildren();
    for (const message of [...messages].filter(this.wants).sort((one, two) => (one.ts < two.ts ? -1 : 1))) this.place(message);
    if (this.views.size === 0) this.box.replaceChildren(...empty());
    this.divide();
    this.stick.toEnd();
  }

  take(message) {
    if (this.views.has(message.ts)) {
      this.views.get(message.ts).update(message);
      if (message.gone) this.divide();
    } else if (this.wants(message)) { this.place(message); this.divide(); }
    this.stick.follow();
  }

  place(message) {
    if (this.views.size === 0) this.box.replaceChildren();
    const made = new MessageView(message, this.world, { inThread: !this.replies });
    const after = [...this.views.values()].filter((one) => one.message.ts < message.ts).pop();
    if (after) after.node.after(made.node); else this.box.prepend(made.node);
    this.views.set(message.ts, made);
    this.countReplies(message.channel, message.ts);
  }

  /** A line with the date where a day begins. What somebody writes right after another message stands under it, as in Slack. */
  divide() {
    for (const line of this.box.querySelectorAll(".day")) line.remove();
    let before = "", last = null;
    for (const node of this.box.querySelectorAll(".message")) {
      const day = dayOf(node.dataset.ts);
      if (day !== before) node.before(h("h3", { class: "day", text: day }));
      const isNext = last?.dataset.author === node.dataset.author && day === before && node.dataset.ts - last.dataset.ts < TOGETHER;
      node.classList.toggle("follows", isNext && !/private|gone/.test(`${last.className} ${node.className}`));
      [before, last] = [day, node];
    }
  }

  /** Up and down go from message to message, right into what can be done with one. */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.matches("input, textarea, select")) return;
    const messages = [...this.box.querySelectorAll(".message")];
    const at = messages.findIndex((node) => node.contains(event.target));
    const deeds = at < 0 ? [] : [...messages[at].querySelectorAll(".hover button")];
    const next = {
      ArrowDown: at < 0 ? messages.at(0) : messages[at + 1],
      ArrowUp: at < 0 ? messages.at(-1) : messages[at - 1] ?? this.box,
      ArrowRight: deeds[deeds.indexOf(event.target) + 1],
      ArrowLeft: deeds.includes(event.target) ? deeds[deeds.indexOf(event.target) - 1] ?? messages[at] : undefined,
    }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  countReplies(channel, ts) {
    const view = this.views.get(ts);
    if (!this.replies || view?.message.channel !== channel) return;
    const { count, live } = this.replies(channel, ts);
    view.replies(count, live);
    this.stick.follow();
  }
}

function dayOf(ts) {
  const date = new Date(ts * 1000);
  const today = new Date();
  if (date.toDateString() === today.toDateString()) return "Today";
  today.setDate(today.getDate() - 1);
  if (date.toDateString() === today.toDateString()) return "Yesterday";
  return date.toLocaleDateString([], { weekday: "long", month: "long", day: "numeric" });
}
