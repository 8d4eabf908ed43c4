// What happened inside, in three lanes: what the agent sent, what was decided and why, what Slack was told.
//
// A stream of tokens is hundreds of entries that say the same. Neighbours of one kind share a row, which
// counts them and shows the newest; opened, it lists them. A lane keeps all its rows, and shows the last few
// hundred of them: what is added is drawn when the page is.

import { h } from "./dom.js";
import { stickToEnd } from "./frames.js";

const LANES = [
  ["events", "Events", "from the agent"],
  ["decisions", "Decisions", "and why"],
  ["calls", "Slack calls", "and their answers"],
];
const SHOWN_AT_ONCE = 300; // entries of an opened row
const ROWS_SHOWN = 200; // of a lane; more when the reader asks for earlier ones
const TAIL = 140; // characters of growing text in a row

/** The three lanes. `show(entries)` starts afresh, `add(entry)` goes on; `draw()` brings both onto the page. */
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
    for (const entry of entries) this.add(entry);
  }

  add(entry) { this.lanes[entry.lane].add(entry); }

  draw() { for (const lane of Object.values(this.lanes)) lane.draw(); }

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
    this.earlier = h("button", { type: "button", class: "earlier", on: { click: () => this.showEarlier() } });
    this.empty = h("p", { class: "empty", text: "Nothing yet." });
    this.list = h("div", { class: "scroll", role: "log", "aria-live": "off", "aria-label": title, tabindex: "0" });
    this.node = h("section", { class: `lane lane-${name}`, "aria-label": title },
      h("h3", {}, title, this.count, h("small", { text: hint })), this.list);
    this.stick = stickToEnd(this.list);
    this.clear();
    this.draw();
  }

  clear() {
    this.total = 0;
    this.rows = [];
    this.first = this.next = 0; // the rows from `first` up to `next` stand on the page
    this.wanted = ROWS_SHOWN;
    this.stale = new Set();
    this.cleared = true;
  }

  add(entry) {
    this.total += 1;
    let last = this.rows[this.rows.length - 1];
    if (last?.joins(entry)) last.add(entry);
    else this.rows.push(last = new Row(entry));
    this.stale.add(last);
  }

  draw() {
    if (!this.cleared && this.stale.size === 0) return;
    if (this.cleared) this.list.replaceChildren(this.rows.length ? this.earlier : this.empty);
    else if (this.next === 0) this.list.replaceChildren(this.earlier);
    this.cleared = false;
    this.count.textContent = String(this.total);
    const wanted = this.stick.stuck ? this.wanted : this.wanted + 4 * ROWS_SHOWN; // who reads further up is not disturbed soon
    const first = Math.max(this.first, this.rows.length - wanted);
    for (const row of this.rows.slice(this.first, Math.min(first, this.next))) row.remove();
    this.list.append(...this.rows.slice(Math.max(first, this.next)).map((row) => row.node));
    this.first = first;
    this.next = this.rows.length;
    for (const row of this.stale) row.settle();
    this.stale.clear();
    this.tellEarlier();
    this.stick.follow();
  }

  showEarlier() {
    const height = this.list.scrollHeight;
    const first = Math.max(0, this.first - ROWS_SHOWN);
    const rows = this.rows.slice(first, this.first);
    this.wanted += ROWS_SHOWN;
    this.first = first;
    this.earlier.after(...rows.map((row) => row.node));
    for (const row of rows) row.settle();
    this.tellEarlier();
    this.list.scrollTop += this.list.scrollHeight - height;
  }

  tellEarlier() {
    this.earlier.hidden = this.first === 0;
    this.earlier.textContent = `Show earlier (${this.first} more)`;
  }
}

function tail(text) {
  return text.length <= TAIL ? text : `…${text.slice(-TAIL)}`;
}

/** A method's or event's name that may break after its dots and underscores. */
function breakable(name) {
  return name.split(/(?<=[._])/).flatMap((part) => [part, h("wbr")]);
}

/** Entries of one kind. Its node is built when it is first shown, and given up when it leaves the page. */
class Row {
  constructor(entry) {
    this.entries = [];
    this.built = null;
    this.add(entry);
  }

  joins(entry) {
    const last = this.entries[this.entries.length - 1];
    return last.name === entry.name && last.turn === entry.turn && last.look === entry.look && !entry.alone;
  }

  add(entry) {
    const before = this.entries[this.entries.length - 1];
    this.entries.push(entry);
    if (entry.grows) this.tail = tail(`${this.tail ?? before?.note ?? ""}${entry.grows}`);
    else if (this.tail !== undefined) this.tail = tail(`${this.tail} ${entry.note}`); // another text begins
  }

  get node() { return (this.built ??= this.build()); }

  build() {
    const [entry] = this.entries;
    this.listed = 0;
    this.times = h("span", { class: "times" });
    this.words = h("span");
    this.list = h("div", { class: "inner" });
    return h("details", { class: "row", data: { look: entry.look ?? "" }, on: { toggle: () => this.open() } },
      h("summary", {}, h("span", { class: "line" }, h("time", { text: entry.time }), h("b", {}, ...breakable(entry.name))),
        h("span", { class: "note" }, this.times, this.words)), this.list);
  }

  remove() {
    this.built?.remove();
    this.built = null;
  }

  settle() {
    if (!this.built) return;
    const newest = this.entries[this.entries.length - 1];
    this.built.dataset.of = newest.of ?? "";
    this.words.textContent = this.tail ?? newest.note;
    this.times.textContent = this.entries.length > 1 ? `×${this.entries.length} ` : "";
    this.open();
  }

  /** List what is new, if the reader has opened the row; the newest few hundred stay. */
  open() {
    if (!this.built?.open || this.listed === this.entries.length) return;
    const fresh = this.entries.slice(Math.max(this.listed, this.entries.length - SHOWN_AT_ONCE));
    this.listed = this.entries.length;
    this.list.append(...fresh.map((entry) => h("div", { class: "raw" },
      this.entries.length > 1 ? h("span", { class: "dim", text: `${entry.time}  ${entry.note}` }) : null,
      h("pre", { text: JSON.stringify(entry.raw, null, 1) }))));
    while (this.list.childElementCount > SHOWN_AT_ONCE) this.list.firstElementChild.remove();
  }
}
