// A question with two answers, in a dialog.

import { h } from "./dom.js";

/** Whether the visitor says yes. Enter says yes, Escape says no. */
export function confirmed(dialog, { title, text, confirm, deny, about = "", danger = false }) {
  return new Promise((done) => {
    let said = false;
    const answer = (yes) => () => { said = yes; dialog.close(); };
    dialog.replaceChildren(h("h2", { id: "ask-title", text: title }), h("p", { text }), ...(about ? [h("blockquote", { class: "about", text: about })] : []), h("div", { class: "deeds to-end" },
      h("button", { type: "button", class: "button", on: { click: answer(false) } }, deny),
      h("button", { type: "button", class: `button ${danger ? "danger-full" : "primary"}`, autofocus: "", on: { click: answer(true) } }, confirm)));
    dialog.addEventListener("close", () => done(said), { once: true });
    dialog.showModal();
  });
}
