// What the bot did with a question: its story, and raw what it got and called. It follows the thread that is open, or shows one turn, or all.

import { h, icon } from "./dom.js";
import { Lanes } from "./lanes.js";
import { rows, seconds } from "./facts.js";
import { sentNodes } from "./sent.js";
import { stickToEnd } from "./frames.js";
import { tabs } from "./tabs.js";

const FOLLOW = "follow";
const ALL = "all";

export class Inside {
  /** `nodes` by their ids; `opened()` when more or less of it is seen and `chosen()` are told; `place()` is the thread that is open, or the conversation, which has no `ts`, or null for all. */
  constructor(nodes, model, { place, opened, chosen }) {
    Object.assign(this, { nodes, model, place, opened, chosen });
    this.lanes = [new Lanes(nodes.story, ["decisions"]), new Lanes(nodes.raw, ["events", "calls"])];
    tabs(nodes["inside-tabs"], opened);
    this.narration = stickToEnd(nodes.narration);
    this.turn = FOLLOW;
    this.story = null;
    nodes["inside-close"].append(icon("close"));
    for (const id of ["inside-close", "leave-inside"]) nodes[id].addEventListener("click", () => this.open(false));
    for (const id of ["inside-open", "inside-here"]) {
      nodes[id].prepend(icon("inside"));
      nodes[id].addEventListener("click", () => this.open(!this.isOpen, nodes[id]));
    }
    nodes.past.addEventListener("toggle", () => { if (nodes.past.open) this.showTurns(); });
    document.addEventListener("pointerdown", (event) => { if (!nodes.past.contains(event.target)) nodes.past.open = false; });
  }

  get isOpen() { return !this.nodes.inside.hidden; }

  /** `from` had the focus and gets it back. */
  open(open, from = null) {
    if (open === this.isOpen) return;
    if (open) this.from = from ?? document.activeElement;
    const hadFocus = this.nodes.inside.contains(document.activeElement);
    this.nodes.inside.hidden = !open;
    for (const id of ["inside-open", "inside-here"]) this.nodes[id].setAttribute("aria-pressed", String(open));
    this.opened();
    if (open && !isSeen(this.from)) this.nodes["inside-tabs"].querySelector("[aria-selected=true]").focus();
    if (!open && hadFocus) [this.from, this.nodes["inside-here"], this.nodes.menu].find(isSeen)?.focus();
  }

  choose(turn) {
    this.turn = turn;
    this.nodes.past.open = false;
    this.chosen();
  }

  /** The turn that an address names; null while it follows. */
  get named() { return this.turn === FOLLOW || this.turn === ALL ? null : this.turn; }

  followed() {
    const stories = [...this.model.stories.values()];
    const place = this.place();
    const here = place ? stories.filter((story) => story.channel === place.channel && (!place.ts || story.thread === place.ts)) : stories;
    return here.findLast((story) => !story.outcome) ?? here.sort((one, two) => one.ts - two.ts).at(-1); // what is left alone is told later than what was asked after it
  }

  watches(story) {
    return this.turn === ALL || (this.turn === FOLLOW ? this.followed() === story : this.turn === story.key);
  }

  add(fact, story) { this.addRows(rows(fact, story.began)); }

  addRows(found) { for (const row of found) this.lanes.find((one) => one.has(row.lane)).add(row); }

  showLanes() {
    if (this.named && !this.model.stories.has(this.turn)) this.turn = FOLLOW;
    const shown = [...this.model.stories.values()].filter((story) => this.watches(story));
    for (const lanes of this.lanes) lanes.clear();
    this.addRows(shown.flatMap((story) => story.facts.map((fact) => [story, fact])).sort((one, two) => one[1].n - two[1].n)
      .flatMap(([story, fact]) => rows(fact, story.began)));
    this.story = shown[shown.length - 1] ?? null;
  }

  showTurns() {
    const stories = [...this.model.stories.values()];
    const title = { [FOLLOW]: "Follow the thread", [ALL]: "All turns" }[this.turn] ?? short(this.model.stories.get(this.turn)?.text ?? "");
    write(this.nodes["past-title"], title);
    this.nodes.past.querySelector(".dot").dataset.outcome = this.story ? this.story.outcome ?? "running" : "";
    if (!this.nodes.past.open) return;
    const one = (turn, outcome, text, below, time) => h("button", { type: "button", class: "turn", "aria-pressed": String(turn === this.turn), data: { turn }, on: { click: () => this.choose(turn) } },
      h("span", { class: "dot", data: { outcome } }), h("b", { text }), time ? h("time", { text: time }) : h("span"), below ? h("small", { text: below }) : null);
    this.nodes.turns.replaceChildren(
      one(FOLLOW, "", "Follow the thread", "the running turn of what is open, or its last one", ""),
      one(ALL, "", "All turns", "", ""),
      ...stories.reverse().map((story) => one(story.key, story.outcome ?? "running", short(story.text),
        `${this.model.person(story.user).name} in ${this.model.title(story.channel)} · ${story.outcome ?? "running"}`, this.timeOf(story))));
  }

  timeOf(story) { return new Date(Number(story.thread) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }); }

  showStory() {
    const { story, nodes } = this;
    nodes.figures.hidden = !story;
    nodes.export.hidden = !story?.outcome || story.outcome === "ignored";
    const figures = story?.figures(this.model.now + (performance.now() - this.model.receivedAt) / 1000) ?? [];
    lines(nodes.figures, figures.length, () => h("div", {}, h("span"), h("b")), (box, index) => {
      const [label, value, meaning = ""] = figures[index];
      box.title = meaning;
      write(box.firstElementChild, label);
      write(box.lastElementChild, String(value));
      if (label === "outcome") box.dataset.outcome = value;
    });
    const thoughts = story?.thoughts ?? [];
    lines(nodes.narration, thoughts.length, () => h("p", {}, h("time"), h("span")), (line, index) => {
      write(line.firstElementChild, seconds(thoughts[index].at - story.began));
      write(line.lastElementChild, thoughts[index].text);
    });
    nodes.thinking.hidden = thoughts.length === 0;
    this.narration.follow();
    this.showSent(story?.sent ?? null);
  }

  showSent(sent) {
    if (sent === this.shownSent) return;
    this.shownSent = sent;
    const { nodes } = this;
    nodes.sent.hidden = !sent;
    const { note, nodes: parts } = sent ? sentNodes(sent) : { note: "", nodes: [] };
    nodes["sent-note"].textContent = note;
    nodes["sent-parts"].replaceChildren(...parts);
  }

  draw() { for (const lanes of this.lanes) lanes.draw(); }
}

function isSeen(node) { return Boolean(node?.checkVisibility?.({ visibilityProperty: true })); }

/** As many children as wanted, each told what it is. */
function lines(box, count, make, fill) {
  while (box.childElementCount > count) box.lastElementChild.remove();
  for (let index = 0; index < count; index += 1) fill(box.children[index] ?? box.appendChild(make()), index);
}

function short(text) { return text.replace(/<@[^>]*>/g, "").replace(/\s+/g, " ").trim().slice(0, 80) || "…"; }

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
