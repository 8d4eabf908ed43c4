// What stands beside messages: the app's tabs, its Home tab, and what can be asked with one click.

import { h, refill } from "./dom.js";
import { blockNode } from "./blocks.js";
import { menuNode } from "./menu.js";
import { threadKey } from "./model.js";

const TABS = [["home", "Home"], ["messages", "Messages"]];

const asks = new WeakMap(), drawn = new WeakMap(), held = new WeakSet(); // of each box: who is asked, what it shows; which are pressed

export function showTabs(box, chosen, choose) {
  refill(box, TABS.map(([name, title]) =>
    h("button", { type: "button", role: "tab", "aria-selected": String(chosen === name), data: { tab: name }, on: { click: () => choose(name) } }, title)));
}

/** The Home tab as the bot published it for `me`; `press(element, value)` for its buttons, `fill(element, given)` for its selects. */
export function showHome(box, model, me, press, fill) {
  const blocks = model.homes[me]?.blocks, key = JSON.stringify([me, blocks, model.names]);
  if (drawn.get(box) === key) return;
  if (box.matches(":active")) { // a button that is drawn anew while it is pressed would be no click
    if (!held.has(box)) addEventListener("pointerup", () => setTimeout(() => { held.delete(box); showHome(box, model, me, press, fill); }), { once: true });
    held.add(box);
    return;
  }
  drawn.set(box, key);
  const on = { names: model.names, channels: model.channelNames, me, act: (block, element, value) => press(element, value), fill: (block, element, given) => fill(element, given) };
  const hasFocus = box.contains(document.activeElement) && document.activeElement !== box;
  box.replaceChildren(blocks ? h("div", { class: "blocks" }, ...blocks.map((block) => blockNode(block, on)).filter(Boolean))
    : h("p", { class: "nothing dim", text: "The bot has published nothing here yet." }));
  if (hasFocus) (box.querySelector("button") ?? box).focus();
}

/** What the bot suggests at a place, as {label, text}. */
export function suggested(model, channel, ts) {
  return (model.prompts.get(threadKey(channel, ts)) ?? []).map((one) => ({ label: one.title, text: one.message }));
}

/** The first `atOnce` of `found` as chips, the others behind one button. `ask(text, one)` for the one that is chosen. */
export function showChips(box, found, ask, atOnce = found.length) {
  asks.set(box, ask);
  const key = JSON.stringify([found, atOnce]);
  if (drawn.get(box) === key) return; // a press on a button that is drawn anew meanwhile would be no click
  drawn.set(box, key);
  const hadFocus = box.contains(document.activeElement);
  const choices = found.map((one) => ({ label: one.label, title: one.text, run: () => asks.get(box)(one.text, one) }));
  const chips = choices.slice(0, atOnce).map(({ label, title, run }) => h("button", { type: "button", class: "chip", title, data: { sends: "" }, on: { click: run } }, label));
  const others = choices.slice(atOnce);
  refill(box, others.length ? [...chips, menuNode(atOnce ? "More…" : "Try…", others)] : chips);
  if (hadFocus && !box.contains(document.activeElement)) box.querySelector("button")?.focus();
}
