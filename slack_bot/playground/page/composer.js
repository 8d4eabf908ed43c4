// Where the visitor writes. The text stays until the playground has taken it: through a lost connection, a
// refusal, another thread in between.

import { h, icon } from "./dom.js";
import { Attachments } from "./attach.js";
import { Completion } from "./completion.js";
import { drafts } from "./drafts.js";
import { emojiButton } from "./picker.js";

const TALLEST = 160; // pixels; then the field scrolls
const TOO_EARLY = "Not connected yet. This is sent as soon as the playground answers.";
/** Slack's keys for marks, with Ctrl or the Mac's Command; + is Shift. */
const MARKS = { b: "*", i: "_", "x+": "~", "c+": "`" };
const CUT_OFF = "Not connected. The text stays here: send it when the connection is back.";

export class Composer {
  /**
   * `where()` is the place that is written to: {channel, ts}, or null. `begin(place)` is what a message there
   * begins with (it gets the place). `lacks(text)` is a hint if it cannot be sent so. `send(place, text, settled, files)` is false if it
   * could not be sent. `people()`: who can be named; `complain(text)` says what is not taken. `stop(place)` ends the answer
   * that runs there. `rewrite(place)` changes the last message that the visitor wrote there. `named(place)` is what the place is called.
   */
  constructor(form, { where, begin, lacks, send, people, complain, rewrite, named, stop = null }) {
    Object.assign(this, { form, where, begin, lacks, send, rewrite, named });
    this.place = null;
    this.sending = false;
    this.wanted = false; // Enter was pressed before the first connection
    this.isBusy = false; // an answer runs here, which can be stopped
    this.field = form.querySelector("textarea"); // there from the first moment, so nobody types into nothing
    this.hint = h("p", { class: "hint", role: "status" });
    this.names = new Completion(form, this.field, people, () => this.fit());
    this.field.addEventListener("input", () => { this.wanted = false; this.say(""); this.fit(); });
    this.field.addEventListener("keydown", (event) => this.key(event));
    addEventListener("pagehide", () => this.keep());
    form.addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    this.sender = h("button", { type: "submit", class: "bare", "aria-label": "Send", title: "Send", data: { sends: "" } }, icon("send"));
    this.stopper = stop && h("button", { type: "button", class: "button small stop", id: "stop", title: "Stop the answer", hidden: true, data: { sends: "" }, on: { click: () => stop(this.place) } }, icon("stop"), "Stop");
    this.tip = h("p", { class: "tip", "aria-hidden": "true" }, h("b", { text: "Shift + Enter" }), " for a new line");
    form.append(this.sender, this.stopper ?? "", this.tip, this.hint);
    let width = 0; // a hidden field cannot be measured: it is fitted when it is shown, and when its lines break elsewhere
    new ResizeObserver(() => {
      if (this.field.clientWidth === width) return;
      width = this.field.clientWidth;
      requestAnimationFrame(() => this.fit());
    }).observe(this.field);
    this.attached = new Attachments(form, this.field, { complain, changed: () => { this.say(""); this.offer(); } });
    form.append(emojiButton((name) => this.insert(`:${name}: `)));
  }

  /** Enter sends; the upward arrow in a field without words of one's own changes the last message, as in Slack; Ctrl+B and the like mark what is selected. */
  key(event) {
    if (event.isComposing || event.defaultPrevented) return;
    const mark = (event.ctrlKey || event.metaKey) && !event.altKey ? MARKS[event.key.toLowerCase() + (event.shiftKey ? "+" : "")] : null;
    if (mark) this.enclose(mark);
    else if (event.key === "Enter" && !event.shiftKey) this.submit();
    else if (event.key !== "ArrowUp" || event.shiftKey || this.draft() || !this.place || !this.rewrite(this.place)) return;
    event.preventDefault();
  }

  enclose(mark) {
    const { field } = this, { selectionStart: from, selectionEnd: to } = field;
    field.setRangeText(mark + field.value.slice(from, to) + mark, from, to, "end");
    field.setSelectionRange(from + mark.length, to + mark.length);
    this.fit();
  }

  insert(text) {
    this.field.focus();
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.fit();
  }

  /** The draft of this place. */
  keep() {
    if (!this.place) return;
    if (this.draft()) drafts.set(keyOf(this.place), this.field.value); else drafts.delete(keyOf(this.place));
  }

  /** Go to the place of `where`, with the draft for it. */
  visit() {
    const here = this.where();
    const key = keyOf(here);
    if (key === keyOf(this.place)) { this.beginAnew(); return; }
    if (!this.place && this.field.value.trim()) { this.settleIn(here); return; }
    this.keep();
    this.place = here;
    this.begun = here ? this.begin(here) : "";
    this.write(drafts.get(key) ?? this.begun);
    drafts.delete(key);
    this.callPlace();
  }

  /** Another person writes here now, or somebody has written: an untouched field may begin otherwise. */
  beginAnew() {
    const begun = this.place ? this.begin(this.place) : "";
    if (begun !== this.begun && this.field.value === (this.begun ?? "")) this.write(begun);
    this.begun = begun;
  }

  /** The first place is known: text that was typed before stays, with the caret, and is sent if Enter was pressed. */
  settleIn(here) {
    const { value: typed, selectionStart, selectionEnd } = this.field;
    const { wanted } = this;
    const begin = this.begin(here);
    const added = typed.startsWith(begin.trim()) ? "" : begin;
    this.place = here;
    this.callPlace();
    this.write(added + typed);
    this.field.setSelectionRange(added.length + selectionStart, added.length + selectionEnd);
    if (wanted) this.submit();
  }

  callPlace() {
    const name = this.place ? this.named(this.place) : "Message";
    this.field.placeholder = name;
    this.field.setAttribute("aria-label", name);
  }

  /** What the visitor has written and not sent; "" for a field with a mention alone. */
  draft() {
    const text = this.field.value;
    return this.place && text.trim() && !this.lacks(text) ? text : "";
  }

  write(text) {
    this.wanted = false;
    this.say("");
    this.field.value = text;
    this.fit();
  }

  say(hint) {
    if (this.hint.textContent !== hint) this.hint.textContent = hint;
  }

  fit() {
    this.field.style.height = "auto";
    if (this.field.checkVisibility()) this.field.style.height = `${Math.min(this.field.scrollHeight + 2, TALLEST)}px`;
    this.offer();
  }

  /** Whether an answer runs at the place. */
  busy(isBusy) {
    this.isBusy = isBusy;
    this.offer();
  }

  /** As in Slack: while an answer runs, Stop stands in the place of Send, until something is there to send. */
  offer() {
    const hasFiles = this.attached.files.length > 0;
    this.sender.classList.toggle("ready", hasFiles || Boolean(this.draft()));
    this.tip.classList.toggle("seen", Boolean(this.draft()));
    const canStop = this.isBusy && !(this.draft() || hasFiles); // a mention alone is nothing to send
    if (!this.stopper || this.stopper.hidden === !canStop) return;
    const hadFocus = [this.sender, this.stopper].includes(document.activeElement);
    this.sender.hidden = canStop;
    this.stopper.hidden = !canStop;
    if (hadFocus) this.field.focus();
  }

  async submit() {
    const { place, field: { value: text } } = this;
    const hasFiles = this.attached.files.length > 0;
    if (!(text.trim() || hasFiles) || this.sending) return;
    this.wanted = !place;
    if (!place) { this.say(TOO_EARLY); return; }
    const lack = hasFiles ? "" : this.lacks(text);
    this.say(lack);
    if (lack) return;
    this.sending = true;
    const files = hasFiles ? await this.attached.read() : [];
    this.sending = this.send(place, text, (taken) => this.settled(keyOf(place), text, taken, hasFiles), files);
    if (!this.sending) this.say(CUT_OFF);
  }

  settled(key, text, taken, hadFiles) {
    this.sending = false;
    if (!taken) return;
    if (hadFiles) this.attached.clear();
    if (key !== keyOf(this.place)) {
      if (drafts.get(key) === text) drafts.delete(key);
    } else if (this.field.value.startsWith(text)) {
      this.write(this.field.value.slice(text.length) || this.begin(this.place));
    }
  }
}

function keyOf(place) { return place ? `${place.channel} ${place.ts}` : ""; }
