// A column of messages, oldest first. It takes each changed message, once a frame.

import { MessageView } from "./message.js";
import { stickToEnd } from "./frames.js";
import { isRoot } from "./model.js";
import { h } from "./dom.js";
import { Latest } from "./latest.js";
import { counted } from "./threadline.js";
import { dayOf } from "./times.js";

const TOGETHER = 300; // seconds

export class Column {
  /** `wants(message)`: does it stand here? `replies(channel, ts)`: {replies, isLive} of a root, or null in a thread. */
  constructor(box, world, { wants, replies = null }) {
    Object.assign(this, { box, world, wants, replies, head: [], since: null });
    this.latest = new Latest(box, () => this.stick.toEnd());
    this.stick = stickToEnd(box, (isStuck) => this.latest.show(!isStuck));
    this.views = new Map();
    box.addEventListener("keydown", (event) => this.key(event));
  }

  /** `head` stands above all messages, `empty` in place of them. `since`: what came after it is new to the reader. */
  show(messages, { head = [], empty = [], since = null }) {
    this.views.clear();
    Object.assign(this, { head, since });
    this.box.replaceChildren(...head);
    for (const message of [...messages].filter(this.wants).sort((one, two) => (one.ts < two.ts ? -1 : 1))) this.place(message);
    if (this.views.size === 0) this.box.append(...empty);
    this.divide();
    this.stick.toEnd();
  }

  take(message) {
    if (this.views.has(message.ts)) {
      this.views.get(message.ts).update(message);
      if (message.gone) this.divide();
    } else if (this.wants(message)) {
      this.place(message);
      this.divide();
      if (message.author !== this.world.me()) this.latest.note();
    }
    this.stick.follow();
  }

  place(message) {
    if (this.views.size === 0) this.box.replaceChildren(...this.head);
    const made = new MessageView(message, this.world, { inThread: !this.replies });
    const after = [...this.views.values()].filter((one) => one.message.ts < message.ts).pop();
    const above = after?.node ?? this.head.at(-1);
    if (above) above.after(made.node); else this.box.prepend(made.node);
    this.views.set(message.ts, made);
    this.countReplies(message.channel, message.ts);
  }

  /** A line where a day begins, and below the root of a thread. What somebody writes right after another message stands under it, as in Slack. */
  divide() {
    for (const line of this.box.querySelectorAll(".day, .reply-count, .news")) line.remove();
    let before = "", last = null, hasNews = this.since === null;
    const first = this.box.querySelector(".message"); // in a thread its root, which stands alone
    for (const node of this.box.querySelectorAll(".message")) {
      const day = dayOf(node.dataset.ts);
      if (day !== before) node.before(h("h3", { class: "day", text: day }));
      const isFirstNews = !hasNews && node.dataset.ts > this.since && node.dataset.author !== this.world.me();
      if (isFirstNews) node.before(h("p", { class: "news", text: "New" }));
      hasNews ||= isFirstNews;
      const isNext = (this.replies || last !== first) && last?.dataset.author === node.dataset.author && last.dataset.by === node.dataset.by && day === before && !isFirstNews && node.dataset.ts - last.dataset.ts < TOGETHER;
      node.classList.toggle("follows", isNext && !/private|gone/.test(`${last.className} ${node.className}`));
      [before, last] = [day, node];
    }
    const replies = this.replies ? 0 : [...this.views.values()].filter(({ message }) => !isRoot(message) && !message.for).length;
    if (replies) first.after(h("p", { class: "reply-count", text: counted(replies) }));
  }

  /** The reader has seen what was new. */
  endNews() {
    this.since = null;
    this.divide();
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
    const { replies, isLive } = this.replies(channel, ts);
    view.threadLine.show(replies, isLive);
    this.stick.follow();
  }
}
