// Where the visitor writes. What was typed stays until the playground has taken it: through a lost connection,
// a refusal, another thread in between.

import { h, icon } from "./dom.js";

const TALLEST = 160; // pixels; then the field scrolls

export class Composer {
  /**
   * `where()` is the place that is written to: {channel, ts}, or null. `begin(channel)` is what a message there
   * begins with. `lacks(text)` is a hint if it cannot be sent so. `send(place, text, settled)` is false if it
   * could not be sent.
   */
  constructor(form, label, { where, begin, lacks, send }) {
    Object.assign(this, { where, begin, lacks, send });
    this.place = null;
    this.sending = false;
    this.drafts = new Map();
    this.field = h("textarea", { rows: "1", "aria-label": label, placeholder: label });
    this.hint = h("p", { class: "hint", role: "status" });
    this.field.addEventListener("input", () => { this.say(""); this.fit(); });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.submit();
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    form.append(this.field, h("button", { type: "submit", class: "bare", "aria-label": "Send", data: { sends: "" } }, icon("send")), this.hint);
  }

  /** Be at the place that `where` names now, with what was typed there before. */
  visit() {
    const here = this.where();
    const key = keyOf(here);
    if (key === keyOf(this.place)) return;
    if (this.place) this.drafts.set(keyOf(this.place), this.field.value);
    this.place = here;
    this.write(this.drafts.get(key) ?? (here ? this.begin(here.channel) : ""));
    this.drafts.delete(key);
  }

  /** What the visitor has written and not sent; "" for an untouched field. */
  draft() {
    const text = this.field.value;
    return this.place && text.trim() !== this.begin(this.place.channel).trim() ? text : "";
  }

  write(text) {
    this.say("");
    this.field.value = text;
    this.fit();
  }

  say(hint) {
    if (this.hint.textContent !== hint) this.hint.textContent = hint;
  }

  fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, TALLEST)}px`;
  }

  submit() {
    const { place, field: { value: text } } = this;
    if (!place || !text.trim() || this.sending) return;
    const lack = this.lacks(text);
    this.say(lack);
    if (lack) return;
    this.sending = this.send(place, text, (taken) => this.settled(keyOf(place), text, taken));
  }

  settled(key, text, taken) {
    this.sending = false;
    if (!taken) return;
    if (key !== keyOf(this.place)) {
      if (this.drafts.get(key) === text) this.drafts.delete(key);
    } else if (this.field.value.startsWith(text)) {
      this.write(this.field.value.slice(text.length) || this.begin(this.place.channel));
    }
  }
}

function keyOf(place) { return place ? `${place.channel} ${place.ts}` : ""; }
