// What is copied, and that it was.

import { h, icon } from "./dom.js";

const SHOWN_MS = 1500;

/** Copy `text`, and show on `button` that it is done. */
export async function copyText(text, button) {
  if (!(await copied(text))) return;
  const [sign, name] = [button.firstChild, button.getAttribute("aria-label")];
  button.replaceChildren(icon("check"));
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => { button.replaceChildren(sign); button.setAttribute("aria-label", name); }, SHOWN_MS);
}

/** Below a piece of code, over its corner. */
export function copyButton(text) {
  const button = h("button", { type: "button", class: "bare copy", "aria-label": "Copy code", title: "Copy code", on: { click: () => copyText(text, button) } }, icon("copy"));
  return button;
}

/** A page that does not come from this machine has no clipboard, so the browser's own command is the second way. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h("textarea", { class: "unseen", readonly: true });
    field.value = text;
    const before = document.activeElement;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    before?.focus();
    return isDone;
  }
}
