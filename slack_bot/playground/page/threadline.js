// Below a message of a channel that has replies: who replied, how many replies, when the last one came.

import { h, icon } from "./dom.js";
import { faceNode } from "./faces.js";
import { clock, dayOf } from "./times.js";

const MOST_FACES = 5;
const DAY = 86400; // seconds

export class ThreadLine {
  /** `authorOf(message)` is {name, letter, tone, app} of who wrote it; `open()` shows the thread. */
  constructor(authorOf, open) {
    this.authorOf = authorOf;
    this.node = h("button", { type: "button", class: "replies", hidden: true, on: { click: open } });
  }

  /** `replies` are messages; `isLive`: an answer is being written. */
  show(replies, isLive) {
    const sorted = [...replies].sort((one, two) => one.ts - two.ts);
    const faces = sorted.map((one) => this.authorOf(one));
    const authors = faces.filter((one, at) => faces.findIndex((other) => other.name === one.name) === at).slice(0, MOST_FACES);
    const last = sorted.at(-1)?.ts;
    const key = JSON.stringify([authors, replies.length, last && lastReply(last), isLive]);
    if (key === this.shown) return;
    this.shown = key;
    this.node.hidden = replies.length === 0 && !isLive;
    this.node.replaceChildren(
      h("span", { class: "faces", "aria-hidden": "true" }, ...authors.map((one) => faceNode(one, true))),
      replies.length ? h("span", { class: "count", text: counted(replies.length) }) : "",
      h("span", { class: "last" }, isLive ? h("span", { class: "pulse" }) : "", h("span", { text: isLive ? "answering…" : lastReply(last) })),
      h("span", { class: "view", "aria-hidden": "true" }, "View thread", icon("ahead")));
  }
}

export function counted(replies) { return replies === 1 ? "1 reply" : `${replies} replies`; }

function lastReply(ts) {
  const day = dayOf(ts);
  if (day === "Today" || day === "Yesterday") return `Last reply ${day.toLowerCase()} at ${clock(ts)}`;
  return `Last reply ${Math.max(2, Math.round((Date.now() / 1000 - ts) / DAY))} days ago`;
}
