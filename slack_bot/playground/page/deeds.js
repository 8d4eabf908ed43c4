// What can be done with a message: the buttons that show when one points at it.

import { copyText } from "./clipboard.js";
import { confirmed } from "./confirm.js";
import { isRoot } from "./model.js";
import { pickEmoji } from "./picker.js";
import { shownText, slackText } from "./text.js";

export class Deeds {
  /** `me()` is the visitor; `send(order, settled)`; `open(message)` shows its thread, `lookInside(story)` what the bot did. */
  constructor(model, { me, send, open, lookInside }) { Object.assign(this, { model, me, send, open, lookInside }); }

  /** Of a message and its view: [name, icon, run]. */
  of(message, shown) {
    if (message.gone) return [];
    const { model } = this, found = [];
    if (!message.for) found.push(["Add reaction", "react", ({ currentTarget }) => pickEmoji(currentTarget, (name) => this.react(message, name))]);
    if (isRoot(message) && !message.for && shown.threadLine) found.push(["Reply in thread", "reply", () => this.open(message)]);
    found.push(["Copy text", "copy", ({ currentTarget }) => copyText(shownText(shown.message.text, model) || shown.blocks.innerText, currentTarget)]);
    const story = model.turnOf(message);
    if (story) found.push(["What the bot did with it", "inside", () => this.lookInside(story)]);
    if (message.author !== this.me()) return found;
    found.push(["Edit message", "edit", () => this.rewrite(shown)]);
    found.push(["Delete message…", "trash", async () => {
      if (await confirmed(document.getElementById("ask"), { title: "Delete message", text: "Are you sure you want to delete this message? This cannot be undone.", about: shownText(message.text, model), confirm: "Delete", deny: "Cancel", danger: true })) this.send({ type: "delete", channel: message.channel, ts: message.ts });
    }]);
    return found;
  }

  /** Add a reaction of the visitor, or take it away. */
  react({ channel, ts }, name) { this.send({ type: "react", channel, ts, name }); }

  rewrite(shown, back) {
    const { channel, ts } = shown.message;
    shown.rewrite(shownText(shown.message.text, this.model), (text, settled) => this.send({ type: "edit", channel, ts, text: slackText(text, this.model) }, settled), back);
  }

  /** Change the last message of the visitor in a column; `back` gets the focus then. False if there is none. */
  rewriteLast(column, back) {
    const own = [...column.views.values()].filter(({ message }) => message.author === this.me() && !message.for && !message.gone);
    const last = own.sort((one, other) => (one.message.ts < other.message.ts ? -1 : 1)).at(-1);
    if (last) this.rewrite(last, back);
    return Boolean(last);
  }
}
