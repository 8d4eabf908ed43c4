// The picture beside a name: a person's first letter, the bot, or the emoji of one of its agents. A picture that has
// an address is not fetched, as nothing leaves this machine: its place has the first letter of the name.

import { h, icon } from "./dom.js";
import { drawn } from "./emoji.js";

/** `person` is {letter, tone, app}; of an agent with a name or picture of its own also {emoji, looked}. */
export function faceNode({ letter, tone, app, emoji, looked }, isSmall = false) {
  const sign = emoji ? drawn(emoji) : app && !looked ? icon("bot") : letter;
  return h("span", { class: `face ${isSmall ? "small " : ""}face-${emoji ? "emoji" : tone}`, "aria-hidden": "true" }, typeof sign === "string" && emoji ? letter : sign);
}
