// Block Kit's elements: what is pressed, chosen and filled in.

import { h, icon } from "./dom.js";
import { confirmed } from "./confirm.js";

/**
 * An element of `block` as a node; null for one that is not known. `on`: see `blockNode`. What is filled in goes to
 * `on.fill(block, element, given)`: text, an option's label, several labels, or null.
 */
export function elementNode(element, block, on) {
  if (on.me && element.visible_to_user_ids && !element.visible_to_user_ids.includes(on.me)) return null; // as in Slack
  return MAKERS[element.type]?.(element, block, on) ?? null;
}

/** What an input is called where it is filled in: its block's id, which is its own; else its action_id. */
export function nameOf(block, element) { return block.type === "input" ? block.block_id : element.action_id; }

const MAKERS = {
  button: buttonNode,
  icon_button: buttonNode,
  feedback_buttons: feedbackNode,
  plain_text_input(element, block, on) {
    const field = h(element.multiline ? "textarea" : "input", { ...common(element, block, on), type: element.multiline ? null : "text", rows: element.multiline ? "4" : null,
      placeholder: words(element.placeholder), minlength: element.min_length, maxlength: element.max_length });
    return filled(field, element, block, on, element.initial_value);
  },
  number_input(element, block, on) {
    const field = h("input", { ...common(element, block, on), type: "number", step: element.is_decimal_allowed ? "any" : "1", min: element.min_value, max: element.max_value, placeholder: words(element.placeholder) });
    return filled(field, element, block, on, element.initial_value);
  },
  datepicker(element, block, on) {
    return filled(h("input", { ...common(element, block, on), type: "date" }), element, block, on, element.initial_date);
  },
  static_select(element, block, on) {
    const field = h("select", common(element, block, on), h("option", { value: "", text: words(element.placeholder) || "Choose…" }), ...element.options.map(optionNode));
    return filled(field, element, block, on, words(element.initial_option?.text));
  },
  radio_buttons: (element, block, on) => boxes(element, block, on, "radio", [element.initial_option].filter(Boolean)),
  checkboxes: (element, block, on) => boxes(element, block, on, "checkbox", element.initial_options ?? []),
  multi_static_select: (element, block, on) => boxes(element, block, on, "checkbox", element.initial_options ?? []),
};

function words(text) { return text?.text ?? ""; }

function common(element, block, on) {
  const own = on.idOf?.(block);
  return { class: "input", id: own ?? null, "aria-label": own ? null : words(element.placeholder) || words(block.text) || element.action_id,
    "aria-describedby": own ? `${own}-more` : null, required: block.type === "input" && !block.optional, data: { action: element.action_id, sends: "" } };
}

function optionNode(option) { return h("option", { value: words(option.text), text: words(option.text) }); }

/** A field that tells what is in it, once it is left. */
function filled(field, element, block, on, initial) {
  field.value = on.given?.[nameOf(block, element)] ?? initial ?? "";
  field.addEventListener("change", () => fill(element, block, on, field.value || null, () => { field.value = initial ?? ""; }));
  return field;
}

async function fill(element, block, on, given, undo) {
  if (element.confirm && !(await agreed(element.confirm))) { undo(); return; }
  on.fill(block, element, given);
}

function boxes(element, block, on, type, initial) {
  const isOne = type === "radio";
  const known = on.given?.[nameOf(block, element)];
  const chosen = new Set(known === undefined ? initial.map((option) => words(option.text)) : [known ?? []].flat());
  const group = h("div", { class: "boxes", role: isOne ? "radiogroup" : "group", id: on.idOf?.(block) ?? null, "aria-labelledby": on.idOf ? `${on.idOf(block)}-label` : null, "aria-label": on.idOf ? null : words(block.text) || element.action_id, data: { action: element.action_id } });
  const name = `${block.block_id}-${element.action_id}`;
  const tell = () => {
    const labels = [...group.querySelectorAll(":checked")].map((box) => box.value);
    fill(element, block, on, isOne ? labels[0] ?? null : labels, () => {});
  };
  group.append(...element.options.map((option) => h("label", { class: "choice" },
    h("input", { type, name, value: words(option.text), checked: chosen.has(words(option.text)), data: { sends: "" }, on: { change: tell } }),
    h("span", {}, words(option.text), option.description ? h("small", { class: "dim", text: words(option.description) }) : null))));
  return group;
}

function buttonNode(element, block, on) {
  const used = on.used?.[element.action_id] !== undefined && on.used[element.action_id] === element.value;
  const press = async () => {
    if (element.url) open(element.url, "_blank", "noopener,noreferrer");
    if (!element.confirm || await agreed(element.confirm)) on.act(block, element, element.value ?? "");
  };
  const label = used ? "Asked again" : words(element.text);
  return h("button", { type: "button", class: `button ${element.style ?? ""}`, disabled: used, "aria-label": element.accessibility_label && !used ? element.accessibility_label : null,
    data: { action: element.action_id, ...(used ? {} : { sends: "" }) }, on: { click: press } },
  element.action_id === "retry" ? icon("retry") : element.type === "icon_button" ? icon("trash") : null, label);
}

function feedbackNode(element, block, on) {
  const one = (button, sign, word) => {
    const pressed = on.used?.[element.action_id] === button.value;
    return h("button", { type: "button", class: "feedback", "aria-pressed": String(pressed), title: words(button.text) || word,
      "aria-label": button.accessibility_label ?? (words(button.text) || word), data: { action: element.action_id, value: button.value, sends: "" },
      on: { click: () => on.act(block, element, button.value) } }, icon(sign));
  };
  return h("div", { class: "pair", role: "group", "aria-label": "Feedback" },
    one(element.positive_button, "up", "Good answer"), one(element.negative_button, "down", "Bad answer"));
}

function agreed(confirm) {
  return confirmed(document.getElementById("ask"), { title: words(confirm.title), text: words(confirm.text), confirm: words(confirm.confirm), deny: words(confirm.deny), danger: confirm.style === "danger" });
}
