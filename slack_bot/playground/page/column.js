// A column of messages, oldest first. It takes each changed message, once a frame.

import { MessageView } from "./thread.js";
import { stickToEnd } from "./frames.js";

export class Column {
  /** `wants(message)`: does it stand here? `replies(channel, ts)`: {count, live} of a root, or null in a thread. */
  constructor(box, world, { wants, replies = null }) {
    Object.assign(this, { box, world, wants, replies });
    this.stick = stickToEnd(box);
    this.views = new Map();
  }

  show(messages, empty) {
    this.views.clear();
    this.box.replaceChildren();
    for (const message of [...messages].filter(this.wants).sort((one, two) => (one.ts < two.ts ? -1 : 1))) this.place(message);
    if (this.views.size === 0) this.box.replaceChildren(...empty());
    this.stick.toEnd();
  }

  take(message) {
    if (this.views.has(message.ts)) this.views.get(message.ts).update(message);
    else if (this.wants(message)) this.place(message);
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

  countReplies(channel, ts) {
    const view = this.views.get(ts);
    if (!this.replies || view?.message.channel !== channel) return;
    const { count, live } = this.replies(channel, ts);
    view.replies(count, live);
    this.stick.follow();
  }
}
