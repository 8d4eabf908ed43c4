// The panel for faults of Slack, call by call, and for a cut of the agent's stream. It gives an order; the faults
// in force come back as an update, to every page.

import { h, icon } from "./dom.js";

const METHODS = ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update", "chat.postMessage", "assistant.threads.setStatus", "conversations.replies"];
const EXAMPLES = ["ratelimited:2", "internal_error", "internal_error!", "timeout", "timeout!", "cut", "http:503", "slow:5", "msg_too_long", "message_not_in_streaming_state", "channel_type_not_supported"];
const NO_FAULT = "-";

export class FaultPanel {
  /** `dialog` is filled; `button` opens it and shows that something is in force; `send(order, settled)` gives an order. */
  constructor(dialog, button, send) {
    this.button = button;
    this.label = h("span", { text: "Faults…" });
    button.replaceChildren(icon("alert"), this.label);
    this.inForce = { slack_faults: {}, cut_after: null };
    this.dialog = dialog;
    this.rows = h("div", { class: "faults" });
    this.cut = h("input", { type: "number", min: "0", step: "1", id: "cut-after", class: "short", placeholder: "never" });
    const order = () => ({ type: "faults", slack_faults: this.faults(), cut_after: this.cut.value === "" ? null : Number(this.cut.value) });
    this.why = h("p", { class: "bad", role: "alert" });
    const settled = (taken, why) => {
      if (taken) dialog.close();
      this.why.textContent = why;
      return dialog.open;
    };
    const calm = () => send({ type: "faults", slack_faults: {}, cut_after: null }, settled);
    const use = (event) => { event.preventDefault(); send(order(), settled); };
    dialog.append(h("form", { method: "dialog", on: { submit: use } },
      h("label", { class: "field" }, "Cut the agent's stream after", this.cut, "events"),
      h("p", { class: "dim", text: "Slack's answers, call by call; the last one repeats, - is none:" }), this.rows,
      this.why,
      h("datalist", { id: "fault-examples" }, ...EXAMPLES.map((value) => h("option", { value }))),
      h("div", { class: "deeds" },
        h("button", { type: "submit", class: "button", data: { sends: "" }, id: "faults-set" }, "Use from the next question on"),
        h("button", { type: "button", class: "button", data: { sends: "" }, id: "faults-clear", on: { click: calm } }, "Nothing goes wrong"),
        h("button", { type: "button", class: "button", on: { click: () => this.add() } }, "One more method"),
        h("button", { type: "button", class: "button", on: { click: () => dialog.close() } }, "Cancel"))));
    button.addEventListener("click", () => { this.why.textContent = ""; this.fill(); dialog.showModal(); });
  }

  /** Show the faults in force on the button too. */
  show(inForce) {
    this.inForce = inForce;
    this.fill();
    const count = Object.keys(inForce.slack_faults).length + (inForce.cut_after === null ? 0 : 1);
    this.button.setAttribute("aria-pressed", String(count > 0));
    this.label.textContent = count ? "Faults are on…" : "Faults…";
  }

  /** Show the faults in force; a draft is dropped. */
  fill() {
    const { slack_faults, cut_after } = this.inForce;
    this.cut.value = cut_after ?? "";
    this.rows.replaceChildren();
    for (const [method, entries] of Object.entries(slack_faults)) this.add(method, entries.map((entry) => entry ?? NO_FAULT).join(", "));
    if (!this.rows.childElementCount) this.add();
  }

  add(method = METHODS[1], entries = "") {
    const known = METHODS.includes(method) ? METHODS : [method, ...METHODS];
    this.rows.append(h("div", { class: "fault" },
      h("select", { "aria-label": "Method" }, ...known.map((value) => h("option", { value, selected: value === method, text: value }))),
      h("input", { type: "text", "aria-label": "Its answers", list: "fault-examples", value: entries, placeholder: "-, ratelimited:2, -" })));
  }

  faults() {
    const found = {};
    for (const row of this.rows.children) {
      const entries = row.lastElementChild.value.split(",").map((entry) => entry.trim()).filter(Boolean);
      if (entries.length) found[row.firstElementChild.value] = entries.map((entry) => (entry === NO_FAULT ? null : entry));
    }
    return found;
  }
}

/** Give the visitor a file. */
export function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
