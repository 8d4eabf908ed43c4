// The panel for what shall go wrong: faults of Slack call by call, a cut of the agent's stream, an agent that is
// away. The controls and the written form beside them say the same. The faults in force come back as an update.

import { h, icon } from "./dom.js";

const METHODS = [["chat.startStream", "begin an answer"], ["chat.appendStream", "add text to it"], ["chat.stopStream", "end it"], ["chat.update", "change a message"],
  ["chat.postMessage", "post a message"], ["assistant.threads.setStatus", "typing status"], ["conversations.replies", "read the thread"]];
const PERHAPS = "Perhaps the answer goes on in a second message. Nothing is missing, and nothing is there twice.";
const STILL = "The text stands still for about ten seconds. Then it goes on, perhaps in a second message. Nothing is missing, and nothing is there twice.";
const BELOW = "The message ends, and the answer goes on in another one, which may be edited every few seconds.";
/** What is written, what it means, and what the person sees where it happens once. */
const KINDS = [["ratelimited:2", "Slack: wait 2 s", "The text stands still for two seconds, then it goes on."], ["internal_error", "Slack fails, nothing done", PERHAPS],
  ["internal_error!", "Slack fails, but it is done", PERHAPS], ["timeout", "no answer, nothing done", STILL], ["timeout!", "no answer, but it is done", STILL], ["cut", "the connection breaks", PERHAPS],
  ["http:503", "Slack is down (HTTP 503)", PERHAPS], ["slow:5", "Slack takes 5 s", "The text stands still for five seconds, then it goes on."], ["msg_too_long", "the message is full", BELOW],
  ["message_not_in_streaming_state", "Slack ended the message", BELOW], ["channel_type_not_supported", "no live text in this channel", "The answer is a message that is edited every few seconds while it grows."]];
const CALLS = [["-, X, -", "on the 2nd call"], ["X, -", "on the 1st call"], ["-, -, X, -", "on the 3rd call"], ["X", "on every call"], ["-, X", "from the 2nd call on"]];
const NO_FAULT = "-";
const EXAMPLE = "-, ratelimited:2, -";
const NONE = { slack_faults: {}, cut_after: null, away: false };

export class FaultPanel {
  /** `dialog` is filled; `button` opens it and shows that something is in force; `send(order, settled)` gives an order; `demo()` asks a question that fails until it is tried again. */
  constructor(dialog, button, send, demo) {
    this.button = button;
    this.label = h("span", { text: "Faults…" });
    button.replaceChildren(icon("alert"), this.label);
    this.inForce = NONE;
    this.dialog = dialog;
    this.rows = h("div", { class: "faults" });
    this.cut = h("input", { type: "number", min: "0", step: "1", id: "cut-after", class: "short", placeholder: "never" });
    this.away = h("input", { type: "checkbox", id: "agent-away" });
    const order = () => ({ type: "faults", slack_faults: this.faults(), cut_after: this.cut.value === "" ? null : Number(this.cut.value), away: this.away.checked });
    this.why = h("p", { class: "bad", role: "alert" });
    const settled = (taken, why) => {
      if (taken) dialog.close();
      this.why.textContent = why;
      return dialog.open;
    };
    dialog.append(h("p", { class: "dim", text: "Try it: a question while the agent is away, which heals when it is asked again." }),
      h("div", { class: "demo" }, h("button", { type: "button", class: "button", id: "fault-demo", data: { sends: "" }, on: { click: () => { dialog.close(); demo(); } } }, icon("retry"), "Fail, then heal on “Try again”")),
      h("form", { method: "dialog", on: { submit: (event) => { event.preventDefault(); send(order(), settled); }, input: () => { this.why.textContent = ""; } } },
        h("label", { class: "field" }, this.away, "The agent is away until somebody presses “Try again”"),
        h("label", { class: "field" }, "Cut the agent's stream after", this.cut, "events"),
        h("div", {}, h("p", { class: "dim" }, "What Slack answers when the bot calls it, and on which of its calls. The lists fill the field, which can also be written by hand: one entry for each call of an answer, with commas between. ",
          h("code", { text: NO_FAULT }), " is a call without a fault, and the last entry stands for all calls after it. Example: ", h("code", { text: EXAMPLE }), " refuses the second call for two seconds and no other."), this.rows,
          h("button", { type: "button", class: "button small", on: { click: () => this.add() } }, "One more kind of call")),
        this.why,
        h("div", { class: "deeds" },
          h("button", { type: "submit", class: "button primary", data: { sends: "" }, id: "faults-set" }, "Use from the next question on"),
          h("button", { type: "button", class: "button", data: { sends: "" }, id: "faults-clear", on: { click: () => send({ type: "faults", ...NONE }, settled) } }, "Nothing goes wrong"),
          h("button", { type: "button", class: "button", on: { click: () => dialog.close() } }, "Cancel"))));
    button.addEventListener("click", () => { this.why.textContent = ""; this.fill(); dialog.showModal(); });
  }

  /** Show the faults in force on the button too. */
  show(inForce) {
    this.inForce = inForce;
    this.fill();
    const isOn = Object.keys(inForce.slack_faults).length > 0 || inForce.cut_after !== null || inForce.away;
    this.button.setAttribute("aria-pressed", String(isOn));
    this.label.textContent = isOn ? "Faults are on…" : "Faults…";
  }

  /** Show the faults in force; a draft is dropped. */
  fill() {
    const { slack_faults, cut_after, away } = this.inForce;
    this.cut.value = cut_after ?? "";
    this.away.checked = away;
    this.rows.replaceChildren();
    for (const [method, entries] of Object.entries(slack_faults)) this.add(method, entries.map((entry) => entry ?? NO_FAULT).join(", "));
    if (!this.rows.childElementCount) this.add();
  }

  add(method = METHODS[1][0], entries = "") {
    const known = METHODS.some(([value]) => value === method) ? METHODS : [[method, ""], ...METHODS];
    const choice = (label, options) => h("select", { "aria-label": label }, ...options.map(([value, text]) => h("option", { value, text })));
    const kind = choice("What goes wrong", [["", "nothing"], ...KINDS, ["own", "as written"]]);
    const call = choice("On which call", [...CALLS, ["own", "as written"]]);
    const written = h("input", { type: "text", "aria-label": "As it is written", value: entries, placeholder: EXAMPLE, spellcheck: "false" });
    const write = () => {
      if (kind.value === "own") return;
      if (call.value === "own") call.value = CALLS[0][0];
      written.value = kind.value && call.value.replace("X", kind.value);
    };
    const sees = h("p", { class: "dim sees", role: "status" });
    const tell = () => {
      const seen = KINDS.find(([value]) => value === kind.value)?.[2];
      sees.textContent = seen ? `What the person sees: ${seen}` : "";
      sees.hidden = !seen;
    };
    const read = () => { [kind.value, call.value] = controlsOf(written.value); tell(); };
    for (const select of [kind, call]) select.addEventListener("change", () => { write(); tell(); });
    written.addEventListener("input", read);
    read();
    this.rows.append(h("div", { class: "fault" }, h("select", { "aria-label": "Method" }, ...known.map(([value, text]) => h("option", { value, selected: value === method, text: text ? `${text} (${value})` : value }))), kind, call, written, sees));
  }

  faults() {
    const found = {};
    for (const row of this.rows.children) {
      const entries = row.querySelector("input").value.split(",").map((entry) => entry.trim()).filter(Boolean);
      if (entries.length) found[row.firstElementChild.value] = entries.map((entry) => (entry === NO_FAULT ? null : entry));
    }
    return found;
  }
}

/** What the two controls say of a written form. */
function controlsOf(text) {
  const entries = text.split(",").map((entry) => entry.trim()).filter(Boolean);
  const faults = entries.filter((entry) => entry !== NO_FAULT);
  if (faults.length === 0) return ["", CALLS[0][0]];
  const call = entries.map((entry) => (entry === faults[0] ? "X" : entry)).join(", ");
  const isKnown = faults.length === 1 && KINDS.some(([value]) => value === faults[0]) && CALLS.some(([value]) => value === call);
  return isKnown ? [faults[0], call] : ["own", "own"];
}

/** Give the visitor a file. */
export function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
