// The picture beside a name: a person's first letter, or the bot.

import { h, icon } from "./dom.js";

/** `person` is {letter, tone, app}. */
export function faceNode({ letter, tone, app }, isSmall = false) {
  return h("span", { class: `face ${isSmall ? "small " : ""}face-${tone}`, "aria-hidden": "true" }, app ? icon("bot") : letter);
}
