// What happened inside, in three lanes: what the agent sent, what was decided and why, what Slack was told.
//
// A stream of tokens is hundreds of entries that say the same. Neighbours of one kind share a row, which
// counts them and shows the newest; opened, it lists them all.

import { h, stickToEnd } from "./dom.js";

const LANES = [
  ["events", "Events", "from the agent"],
  ["decisions", "Decisions", "and why"],
  ["calls", "Slack calls", "and their answers"],
];
const SHOWN_AT_ONCE = 300;

/** The three lanes. `show(entries)` starts afresh, `add(entry)` goes on. */
export class Lanes {
  constructor(box) {
    this.lanes = Object.fromEntries(LANES.map(([name, title, hint]) => [name, new Lane(name, title, hint)]));
    box.append(...Object.values(this.lanes).map((lane) => lane.node));
    box.addEventListener("pointerover", (event) => this.point(event.target.closest("[data-of]")?.dataset.of));
    box.addEventListener("pointerleave", () => this.point(undefined));
    this.box = box;
  }

  show(entries) {
    for (const lane of Object.values(this.lanes)) lane.clear();
    for (const entry of entries) this.lanes[entry.lane].add(entry);
    for (const lane of Object.values(this.lanes)) lane.settle();
  }

  add(entry) {
    this.lanes[entry.lane].add(entry);
    this.lanes[entry.lane].settle();
  }

  /** Light up what belongs to one event of the agent. */
  point(of) {
    if (of === this.pointed) return;
    this.pointed = of;
    for (const row of this.box.querySelectorAll(".lit")) row.classList.remove("lit");
    if (of) for (const row of this.box.querySelectorAll(`[data-of="${CSS.escape(of)}"]`)) row.classList.add("lit");
  }
}

class Lane {
  constructor(name, title, hint) {
    this.count = h("span", { class: "count", text: "0" });
    this.list = h("div", { class: "scroll", role: "log", "aria-live": "off", "aria-label": title, tabindex: "0" });
    this.node = h("section", { class: `lane lane-${name}`, "aria-label": title },
      h("h3", {}, title, this.count, h("small", { text: hint })), this.list);
    this.stick = stickToEnd(this.list);
    this.clear();
  }

  clear() {
    this.total = 0;
    this.last = null;
    this.list.replaceChildren(h("p", { class: "empty", text: "Nothing yet." }));
  }

  add(entry) {
    if (this.total === 0) this.list.replaceChildren();
    this.total += 1;
    if (this.last && this.last.joins(entry)) this.last.add(entry);
    else {
      this.last = new Row(entry);
      this.list.append(this.last.node);
    }
  }

  settle() {
    this.count.textContent = String(this.total);
    if (this.last) this.last.settle();
    this.stick.follow();
  }
}

const TAIL = 140;

function tail(text) {
  return text.length <= TAIL ? text : `…${text.slice(-TAIL)}`;
}

/** A method's or event's name that may break after its dots and underscores. */
function breakable(name) {
  return name.split(/(?<=[._])/).flatMap((part) => [part, h("wbr")]);
}

class Row {
  constructor(entry) {
    this.entries = [];
    this.time = h("time");
    this.name = h("b", {}, ...breakable(entry.name));
    this.times = h("span", { class: "times" });
    this.words = h("span");
    this.note = h("span", { class: "note" }, this.times, this.words);
    this.list = h("div", { class: "inner" });
    this.node = h("details", { class: "row", data: { look: entry.look ?? "" }, on: { toggle: () => this.open() } },
      h("summary", {}, h("span", { class: "line" }, this.time, this.name), this.note), this.list);
    this.add(entry);
    this.settle();
  }

  joins(entry) {
    const last = this.entries[this.entries.length - 1];
    return last.name === entry.name && last.turn === entry.turn && last.look === entry.look && !entry.alone;
  }

  add(entry) {
    const before = this.entries[this.entries.length - 1];
    this.entries.push(entry);
    this.node.dataset.of = entry.of ?? "";
    if (entry.grows) this.tail = tail(`${this.tail ?? before?.note ?? ""}${entry.grows}`);
    this.stale = true;
  }

  settle() {
    if (!this.stale) return;
    this.stale = false;
    const newest = this.entries[this.entries.length - 1];
    this.time.textContent = this.entries[0].time;
    this.words.textContent = this.tail ?? newest.note;
    this.times.textContent = this.entries.length > 1 ? `×${this.entries.length} ` : "";
    if (this.node.open) this.open();
  }

  open() {
    if (!this.node.open) return;
    const fresh = this.entries.slice(Math.max(this.listed ?? 0, this.entries.length - SHOWN_AT_ONCE));
    this.listed = this.entries.length;
    this.list.append(...fresh.map((entry) => h("div", { class: "raw" },
      this.entries.length > 1 ? h("span", { class: "dim", text: `${entry.time}  ${entry.note}` }) : null,
      h("pre", { text: JSON.stringify(entry.raw, null, 1) }))));
  }
}
