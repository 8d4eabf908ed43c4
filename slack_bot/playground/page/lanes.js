// Lanes: decisions and their reasons, events from the agent, calls of Slack.
//
// A stream of tokens is hundreds of equal entries. Neighbours of one kind share a row, which counts them and
// shows the newest; opened, it lists them. A lane keeps all rows and shows the last few hundred.

import { h } from "./dom.js";
import { stickToEnd } from "./frames.js";
import { DECISIONS } from "./words.js";

const LANES = {
  decisions: ["Decisions", "of the bot, with their names in the code, and why; and what went wrong around it", "Nothing yet. Ask something: what the bot does with it stands here."],
  events: ["Events", "from the agent", "Nothing yet."],
  calls: ["Slack calls", "and their answers", "Nothing yet."],
};
const SHOWN_AT_ONCE = 300; // entries of an opened row
const ROWS_SHOWN = 200; // of a lane; more when the reader asks for earlier ones
const TAIL = 140; // characters of growing text in a row

/** Lanes that stand in one box. `clear()` starts afresh, `add(entry)` goes on; `draw()` brings both onto the page. */
export class Lanes {
  constructor(box, names) {
    this.lanes = Object.fromEntries(names.map((name) => [name, new Lane(name, ...LANES[name])]));
    box.append(...this.all.map((lane) => lane.node));
    box.addEventListener("focusin", (event) => this.stopAt(event.target));
    box.addEventListener("keydown", (event) => this.key(event));
    this.box = box;
    this.stopAt(this.all[0].list);
  }

  get all() { return Object.values(this.lanes); }

  has(name) { return name in this.lanes; }

  clear() { for (const lane of this.all) lane.clear(); }

  add(entry) { this.lanes[entry.lane].add(entry); }

  draw() {
    const hadFocus = this.box.contains(document.activeElement);
    for (const lane of this.all) lane.draw();
    if (this.stop.isConnected) return;
    this.stopAt(this.stopLane.list); // the row it was on has left the page
    if (hadFocus) this.stop.focus();
  }

  /** The lanes are one stop of the Tab key: the list or row that had the focus last. */
  stopAt(node) {
    const lane = this.all.find((one) => one.list.contains(node));
    if (!lane) return;
    if (this.stop) this.stop.tabIndex = -1;
    [this.stop, this.stopLane] = [node, lane];
    node.tabIndex = 0;
  }

  /** Up and down go through the rows of a lane, left and right from lane to lane, Escape closes a row. */
  key(event) {
    const lane = this.all.find((one) => one.list.contains(event.target));
    if (!lane || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const beside = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = beside ? this.all[this.all.indexOf(lane) + beside]?.list : lane.nextStop(event.target, event.key);
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

class Lane {
  constructor(name, title, hint, empty) {
    this.count = h("span", { class: "count", text: "0" });
    this.earlier = h("button", { type: "button", class: "earlier", tabindex: "-1", on: { click: () => this.showEarlier() } });
    this.empty = h("p", { class: "empty", text: empty });
    this.list = h("div", { class: "scroll", role: "log", "aria-live": "off", "aria-label": title, "aria-description": "Up and down arrow keys go through the rows, left and right from lane to lane", tabindex: "-1" });
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

  /** What gets the focus when `key` is pressed on `node`; undefined for a key that means nothing here. */
  nextStop(node, key) {
    const stops = [...this.list.querySelectorAll(".earlier:not([hidden]), summary, pre")].filter((one) => one.checkVisibility());
    const at = stops.indexOf(node);
    switch (key) {
      case "ArrowDown": return at < 0 ? stops.find((one) => one.getBoundingClientRect().bottom > this.list.getBoundingClientRect().top) : stops[at + 1];
      case "ArrowUp": return at < 0 ? stops.at(-1) : stops[at - 1] ?? this.list;
      case "Home": return stops[0];
      case "End": return stops.at(-1);
      case "Escape": return closeRow(node);
      default: return undefined;
    }
  }

  tellEarlier() {
    this.earlier.hidden = this.first === 0;
    this.earlier.textContent = `Show earlier (${this.first} more)`;
  }
}

/** Close the open row that `node` is in; its summary, or undefined where there is none. */
function closeRow(node) {
  const row = node.closest("details[open]");
  if (row) row.open = false;
  return row?.firstElementChild;
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
    const [plain, meaning] = (entry.lane === "decisions" && DECISIONS[entry.name]) || [];
    const name = plain ? [h("b", { text: plain }), h("small", { class: "named", text: entry.name })] : [h("b", {}, ...breakable(entry.name))];
    return h("details", { class: "row", data: { look: entry.look ?? "" }, on: { toggle: () => this.open() } },
      h("summary", { tabindex: "-1", title: meaning }, h("span", { class: "line" }, h("time", { text: entry.time }), ...name),
        h("span", { class: "note" }, this.times, this.words)), this.list);
  }

  remove() {
    this.built?.remove();
    this.built = null;
  }

  settle() {
    if (!this.built) return;
    const newest = this.entries[this.entries.length - 1];
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
      h("pre", { tabindex: "-1", text: JSON.stringify(entry.raw, null, 1) }))));
    while (this.list.childElementCount > SHOWN_AT_ONCE) this.list.firstElementChild.remove();
  }
}
