// A modal of the app: its blocks as a form. Slack's client checks it, the app answers with errors by field.

import { h, icon } from "./dom.js";
import { blockNode } from "./blocks.js";
import { nameOf } from "./elements.js";

export class Modal {
  /** `dialog` is filled. `submit(values, window)` and `close(window)` give orders; `names` are people's, by id. */
  constructor(dialog, { submit, close, names }) {
    Object.assign(this, { dialog, submit, close, names });
    dialog.addEventListener("close", () => {
      if (this.shown && !this.isTold) this.close(this.shown.window);
      this.shown = null;
      if (document.activeElement === document.body || dialog.contains(document.activeElement)) this.back();
    });
  }

  /** `modal` is what the person has open, or null. */
  show(modal) {
    if (!modal?.blocks) {
      this.isTold = true;
      if (this.dialog.open) this.dialog.close();
      return;
    }
    if (!this.isNews(modal)) return;
    if (modal.id !== this.shown?.id) this.given = {};
    this.shown = modal;
    this.isTold = false;
    this.draw();
    if (!this.dialog.open) {
      this.back = wayBack(document.activeElement);
      this.dialog.showModal();
    }
    this.focus();
  }

  /** What is being typed stays, whatever changed elsewhere: only another form, or what is wrong with this one, is drawn. */
  isNews(modal) {
    const { errors = {}, values, ...form } = modal;
    const [shown, told] = [JSON.stringify(form), Object.keys(errors).length ? JSON.stringify(errors) : ""];
    if (this.dialog.open && shown === this.form && (!told || told === this.told)) return false;
    [this.form, this.told] = [shown, told];
    return true;
  }

  draw() {
    const { shown } = this;
    const on = { names: this.names(), given: this.given, errors: shown.errors, idOf: (block) => `field-${block.block_id}`,
      act: () => {}, fill: (block, element, given) => { this.given[nameOf(block, element)] = given; } };
    this.lacking = h("p", { class: "bad lacking" });
    const form = h("form", { novalidate: true, on: { submit: (event) => { event.preventDefault(); this.send(); }, input: (event) => this.mended(event.target) } },
      h("div", { class: "blocks" }, ...shown.blocks.map((block) => blockNode(block, on)).filter(Boolean)),
      h("div", { class: "deeds to-end" }, this.lacking,
        h("button", { type: "button", class: "button", text: shown.close?.text ?? "Cancel", on: { click: () => this.dialog.close() } }),
        shown.submit ? h("button", { type: "submit", class: "button primary", data: { sends: "" }, text: shown.submit.text }) : null));
    this.dialog.replaceChildren(h("header", {}, h("h2", { id: "modal-title", text: shown.title?.text ?? "" }),
      h("button", { type: "button", class: "bare", "aria-label": "Close", on: { click: () => this.dialog.close() } }, icon("close"))), form);
    this.nameLacking();
  }

  /** What was wrong with a field is no longer said as soon as the field has what it wants. */
  mended(field) {
    const row = field.closest(".wrong");
    if (!row || !this.isComplete(row)) return;
    delete this.shown.errors[row.dataset.block];
    row.classList.remove("wrong");
    row.querySelector(".bad").remove();
    row.querySelector("[aria-invalid]").removeAttribute("aria-invalid");
    this.nameLacking();
  }

  isComplete(row) {
    const boxes = [...row.querySelectorAll("[type=radio], [type=checkbox]")];
    const block = this.shown.blocks.find((one) => one.block_id === row.dataset.block);
    return boxes.length ? Boolean(block.optional) || boxes.some((box) => box.checked) : row.querySelector(".input").checkValidity();
  }

  /** Beside the button, because a field of a long form may be out of sight. */
  nameLacking() {
    const names = this.shown.blocks.filter((block) => this.shown.errors?.[block.block_id]).map((block) => block.label?.text ?? "");
    this.lacking.textContent = names.length ? `Not sent. Please look at: ${names.join(", ")}` : "";
  }

  /** To the first field that is wrong, else to the first one. */
  focus() {
    (this.dialog.querySelector(".wrong :is(input, select, textarea)") ?? this.dialog.querySelector("form :is(input, select, textarea, button)"))?.focus();
  }

  /** What is still being typed counts too. */
  send() {
    if (document.activeElement?.matches("input, textarea")) document.activeElement.dispatchEvent(new Event("change"));
    this.told = null; // what is wrong is said again
    this.submit(this.given, this.shown.window);
  }
}

/** What gives the focus to the control that stands where `from` stood: a message may be drawn anew below a modal. */
function wayBack(from) {
  const controls = (message) => [...message?.querySelectorAll("button, input, select, textarea") ?? []];
  const pane = from.closest(".scroll, .home"), message = from.closest(".message");
  const at = controls(message).indexOf(from);
  return () => {
    const control = message && controls(pane.querySelector(`[data-ts="${message.dataset.ts}"]`))[at];
    (control?.disabled === false ? control : pane)?.focus();
  };
}
