// Messages as a reader sees them: text that grows, the plan with its cards, buttons, files, who and when.
//
// A view is built once a message and then updated, so live text does not flicker and a reader's selection or
// open plan stays.

import { h, icon } from "./dom.js";
import { show } from "./markdown.js";
import { faceNode } from "./faces.js";
import { drawn, isOnlyEmoji } from "./emoji.js";
import { foldLong } from "./fold.js";
import { blockNode } from "./blocks.js";
import { nameOf } from "./elements.js";
import { Rewrite } from "./rewrite.js";
import { ThreadLine } from "./threadline.js";
import { asMarkdown } from "./text.js";
import { clock, moment } from "./times.js";

const CARD_STATES = { in_progress: "running", pending: "waiting", complete: "done", error: "failed" };

/**
 * One message. `world` knows names, and what a click does: `act(message, block, element, chosen)`, `open(message)`,
 * `deeds(message, view)`: [name, icon, run] of what can be done with it; `react(message, name)` adds a reaction or takes it away.
 */
export class MessageView {
  constructor(message, world, { inThread }) {
    this.world = world;
    this.given = {}; // what was filled in, by `nameOf`
    this.body = h("div", { class: "md" });
    this.plan = new PlanView();
    this.blocks = h("div", { class: "blocks" });
    this.files = h("ul", { class: "files", "aria-label": "Files" });
    this.reactions = h("ul", { class: "reactions", "aria-label": "Reactions" });
    this.threadLine = inThread ? null : new ThreadLine(world.authorOf, () => world.open(this.message));
    const author = world.authorOf(message);
    this.isOfPerson = !author.app;
    this.time = h("time", { datetime: new Date(message.ts * 1000).toISOString(), title: moment(message.ts), text: clock(message.ts) });
    this.edited = h("span", { class: "edited", text: " (edited)" });
    this.deeds = h("div", { class: "hover", role: "toolbar", "aria-label": "Message actions" });
    this.node = h("article", { class: "message", tabindex: "-1", data: { ts: message.ts, author: message.author, by: author.name } },
      faceNode(author),
      h("div", { class: "said" },
        h("header", {}, h("b", { text: author.name }), author.app ? h("span", { class: "badge", text: "APP" }) : null,
          this.time, message.for ? h("span", { class: "dim only" }, icon("eye"), "Only visible to you") : null),
        this.plan.node, this.body, this.blocks, this.files, this.reactions, this.threadLine?.node), this.deeds);
    this.node.setAttribute("aria-label", `${author.name}, ${clock(message.ts)}`);
    this.update(message);
    this.offer();
  }

  update(message) {
    const before = this.message;
    this.message = message;
    this.node.dataset.state = message.state;
    this.node.classList.toggle("private", Boolean(message.for));
    if (message.gone && !before?.gone) { this.node.classList.add("gone"); this.node.firstChild.replaceChildren(icon("trash")); if (before) this.offer(); }
    if (!before || before.text !== message.text) {
      this.edited.remove();
      this.body.classList.toggle("large", isOnlyEmoji(message.text));
      show(this.body, this.isOfPerson ? asMarkdown(message.text) : message.text, { ...this.world.channels, ...this.world.names, me: this.world.me() });
    }
    if (!message.edited || message.author === this.world.bot()) this.edited.remove(); else lastLine(this.body).append(this.edited);
    if (!before) this.unfold = foldLong(this.body, `${message.channel} ${message.ts}`);
    if (message.state === "streaming" || (before && before.text !== message.text)) this.unfold();
    this.plan.update(message);
    const blocks = JSON.stringify([message.blocks, message.pressed, this.world.me()]);
    if (blocks !== this.shownBlocks) {
      this.shownBlocks = blocks;
      const controls = () => [...this.blocks.querySelectorAll("button, input, select, textarea")];
      const held = controls().indexOf(document.activeElement);
      const on = { names: this.world.names, channels: this.world.channels, me: this.world.me(), used: message.pressed, given: this.given, act: (...what) => this.world.act(this.message, ...what),
        fill: (block, element, given) => { const name = nameOf(block, element); this.given[name] = given; this.world.fill(this.message, name, given); } };
      this.blocks.replaceChildren(...message.blocks.map((block) => blockNode(block, on)).filter(Boolean));
      if (held >= 0) this.keepFocus(controls()[held]);
    }
    if (JSON.stringify(before?.files) !== JSON.stringify(message.files)) this.files.replaceChildren(...message.files.map(fileNode));
    if (JSON.stringify(before?.reactions) !== JSON.stringify(message.reactions)) this.showReactions(message);
  }

  showReactions(message) {
    const held = this.reactions.contains(document.activeElement) ? document.activeElement.parentElement.dataset.emoji : null;
    this.reactions.replaceChildren(...Object.entries(message.reactions).map(([name, users]) => reactionNode(name, users, this.world, () => this.world.react(this.message, name))));
    if (held) (this.reactions.querySelector(`[data-emoji="${CSS.escape(held)}"] button`) ?? this.node).focus();
  }

  /** The buttons that show on hover. They are reached by the arrow keys, so that Tab does not stop at each. */
  offer() {
    this.deeds.replaceChildren(...this.world.deeds(this.message, this).map(([name, sign, run]) =>
      h("button", { type: "button", class: `bare ${sign === "trash" ? "danger" : ""}`, tabindex: "-1", "aria-label": name, title: name, data: { deed: sign }, on: { click: run } }, icon(sign))));
  }

  /** The text becomes a field, until it is sent or left; then `back` gets the focus. */
  rewrite(text, send, back = this.node) {
    if (this.rewriting) return;
    this.body.hidden = true;
    this.rewriting = new Rewrite(text, this.world.people, send, () => {
      this.rewriting.node.remove();
      this.rewriting = null;
      this.body.hidden = false;
      back.focus();
    });
    this.body.after(this.rewriting.node);
    this.rewriting.field.focus();
  }

  /** A pressed button is drawn again; a disabled one gives the focus to its pane. */
  keepFocus(button) {
    if (button && !button.disabled) button.focus(); else this.node.closest(".scroll")?.focus();
  }
}

class PlanView {
  constructor() {
    this.cards = new Map();
    this.title = h("span", { class: "plan-title" });
    this.count = h("span", { class: "dim" });
    this.list = h("ul", { class: "cards" });
    this.mark = h("span", { class: "state" });
    this.node = h("details", { class: "plan", open: true, hidden: true }, h("summary", {}, this.mark, this.title, this.count), this.list);
  }

  update(message) {
    const tasks = message.tasks ?? [];
    this.node.hidden = tasks.length === 0 && !message.plan_title;
    if (this.node.hidden) return;
    const states = tasks.map((task) => CARD_STATES[task.status]);
    const over = states.every((one) => one === "done" || one === "failed");
    const state = message.plan_failed || (over && states.at(-1) === "failed") ? "failed" : over ? "done" : "running";
    this.node.dataset.state = state;
    const isOver = state === "done" && message.state !== "streaming"; // then its title says enough, as in Slack
    if (isOver !== this.isOver) this.node.open = !isOver;
    this.isOver = isOver;
    setMark(this.mark, state);
    this.title.textContent = message.plan_failed ? "Something went wrong" : message.plan_title || (state === "done" ? "Done" : "Working");
    const titled = message.plan_failed || message.plan_title; // such a title says by itself how far the plan is
    this.count.textContent = titled ? "" : `${states.filter((one) => one === "done").length} of ${tasks.length}`;
    for (const task of tasks) {
      const card = this.cards.get(task.id) ?? this.add(task.id);
      card.update(task);
    }
    for (const [id, card] of this.cards) if (!tasks.some((task) => task.id === id)) { card.node.remove(); this.cards.delete(id); }
  }

  add(id) {
    const card = new CardView();
    this.cards.set(id, card);
    this.list.append(card.node);
    return card;
  }
}

class CardView {
  constructor() {
    this.mark = h("span", { class: "state" });
    this.title = h("span", { class: "title" });
    this.more = h("div", { class: "details" });
    this.output = h("div", { class: "output" });
    this.node = h("li", { class: "card" }, this.mark, h("div", {}, this.title, this.more, this.output));
  }

  update(task) {
    const state = CARD_STATES[task.status] ?? "running";
    this.node.dataset.state = state;
    setMark(this.mark, state);
    this.title.textContent = task.title;
    this.more.textContent = task.details ?? "";
    this.output.textContent = task.output ?? "";
  }
}

/** Where the last word of a text stands; the text itself, if it ends with a table or code. */
function lastLine(text) {
  let line = text;
  while (line.lastElementChild?.matches("p, ul, ol, li, blockquote, h3, h4, h5, h6")) line = line.lastElementChild;
  return line;
}

function setMark(mark, state) {
  if (mark.dataset.state === state) return;
  mark.dataset.state = state;
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", state);
  mark.replaceChildren(...(state === "done" ? [icon("check")] : state === "failed" ? [icon("alert")] : []));
}

/** A file that a person gave has only its name here; of one that was uploaded the playground has the bytes. */
function fileNode({ id, name, size }) {
  const known = size > 0;
  if (known && /\.(png|jpe?g|gif|webp)$/i.test(name)) return pictureNode(id, name);
  const label = known ? h("a", { href: `/file/${encodeURIComponent(id)}`, target: "_blank", rel: "noopener noreferrer", text: name }) : h("span", { text: name });
  return h("li", { class: "file" }, icon("file"), label, known ? h("span", { class: "dim", text: sized(size) }) : null);
}

function pictureNode(id, name) {
  const address = `/file/${encodeURIComponent(id)}`;
  return h("li", { class: "picture" }, h("span", { class: "dim", text: name }),
    h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, h("img", { src: address, alt: name })));
}

function reactionNode(name, users, { me, names }, react) {
  const isMine = users.includes(me());
  const who = [...(isMine ? ["You"] : []), ...users.filter((id) => id !== me()).map((id) => names[id] ?? id)];
  const list = who.length > 1 ? `${who.slice(0, -1).join(", ")} and ${who.at(-1)}` : who[0];
  return h("li", { data: { emoji: name } },
    h("button", { type: "button", class: "reaction", "aria-pressed": String(isMine), title: `${list} reacted with :${name}:`, data: { sends: "" }, on: { click: react } }, drawn(name), h("span", { text: String(users.length) })));
}

function sized(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
