// A button that opens a list to choose from. By keys: Enter, Space or an arrow opens it, arrows go through it, Enter
// chooses, Escape and Tab close it.

import { h, icon } from "./dom.js";

/** `choices` are {label, title, run}. */
export function menuNode(name, choices) {
  const items = choices.map(({ label, title, run }) => h("button", { type: "button", role: "menuitem", tabindex: "-1", title, data: { sends: "" },
    on: { click: () => { open(false); button.focus(); run(); } } }, label));
  const list = h("div", { class: "menu-list", role: "menu", "aria-label": name, hidden: true }, ...items);
  const button = h("button", { type: "button", class: "chip", "aria-haspopup": "menu", "aria-expanded": "false", data: { sends: "" }, on: { click: () => open(list.hidden) } }, name, icon("below"));
  const node = h("div", { class: "menu", on: { keydown: key, focusout: ({ relatedTarget }) => { if (!node.contains(relatedTarget)) open(false); } } }, button, list);

  function open(isOpen) {
    list.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    list.classList.toggle("leftward", isOpen && button.getBoundingClientRect().left + list.offsetWidth > node.parentElement.getBoundingClientRect().right);
    if (isOpen) items.find((item) => !item.disabled)?.focus();
  }

  function key(event) {
    const able = items.filter((item) => !item.disabled), at = able.indexOf(document.activeElement);
    const next = list.hidden ? null : { ArrowDown: able[(at + 1) % able.length], ArrowUp: able.at(at <= 0 ? -1 : at - 1), Home: able[0], End: able.at(-1) }[event.key];
    if (next) next.focus();
    else if (list.hidden && ["ArrowDown", "ArrowUp"].includes(event.key)) { open(true); if (event.key === "ArrowUp") able.at(-1)?.focus(); }
    else if (!list.hidden && event.key === "Escape") { open(false); button.focus(); }
    else return;
    event.preventDefault();
  }

  return node;
}
