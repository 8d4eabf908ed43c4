// Block Kit: what stands in a message, in the Home tab and in a modal.

import { h } from "./dom.js";
import { show } from "./markdown.js";
import { chartNode } from "./charts.js";
import { elementNode } from "./elements.js";
import { richTextNode } from "./richtext.js";
import { dataTableNode, tableNode } from "./tables.js";

/**
 * A block as a node; null for what the message itself shows. `on` has `names`; `used`: values of pressed buttons by
 * action_id and `given`: what was filled in, by `nameOf`; `errors` by block_id; `act(block, element, value)` for a press and
 * `fill(block, element, given)` for what is filled in; `idOf(block)` in a form, for its labels.
 */
export function blockNode(block, on) { return MAKERS[block.type]?.(block, on) ?? null; }

const MAKERS = {
  markdown: (block, on) => markdown(block.text, on),
  section: (block, on) => h("div", { class: "section" },
    block.text || block.fields ? h("div", { class: "section-text" }, block.text ? textNode(block.text, on) : null,
      block.fields?.length ? h("div", { class: "fields" }, ...block.fields.map((field) => textNode(field, on))) : null) : null,
    block.accessory ? elementNode(block.accessory, block, on) ?? imageNode(block.accessory) : null),
  header: (block) => h("h3", { text: block.text?.text ?? "" }),
  divider: () => h("hr"),
  context: (block, on) => h("div", { class: "context" }, ...(block.elements ?? []).map((one) => (one.type === "image" ? imageNode(one) : textNode(one, on)))),
  actions: actionsNode,
  context_actions: actionsNode,
  input: inputNode,
  image: imageNode,
  rich_text: richTextNode,
  table: tableNode,
  data_table: dataTableNode,
  data_visualization: chartNode,
  alert: (block, on) => h("div", { class: "alert", role: "note" }, textNode(block.text ?? {}, on)),
  // plan and task_card are shown by the message itself
};

function actionsNode(block, on) {
  return h("div", { class: "actions" }, ...(block.elements ?? []).map((element) => elementNode(element, block, on)));
}

function inputNode(block, on) {
  const own = on.idOf?.(block);
  const isGroup = ["checkboxes", "radio_buttons", "multi_static_select"].includes(block.element?.type);
  const error = on.errors?.[block.block_id];
  const label = h(own && !isGroup ? "label" : "div", { class: "label", for: own && !isGroup ? own : null, id: own ? `${own}-label` : null },
    block.label?.text ?? "", block.optional ? h("span", { class: "dim", text: " (optional)" }) : null);
  const field = elementNode(block.element ?? {}, block, on);
  if (error) field?.setAttribute("aria-invalid", "true");
  return h("div", { class: `form-row ${error ? "wrong" : ""}`, data: { block: block.block_id } }, label, field,
    h("div", { id: own ? `${own}-more` : null }, error ? h("p", { class: "bad", role: "alert" }, h("span", { class: "unseen", text: `${block.label?.text ?? ""}: ` }), error) : null, block.hint ? h("p", { class: "dim hint", text: block.hint.text ?? "" }) : null));
}

/** A picture by an address is not fetched: the page asks nobody but the playground. */
function imageNode(block) {
  if (block.type !== "image") return null;
  const title = block.title?.text ?? block.alt_text ?? "";
  return h("div", { class: "no-image" }, title || "image", block.image_url ? h("small", { class: "dim", text: ` ${block.image_url}` }) : null);
}

function markdown(text, on) {
  const box = h("div", { class: "md" });
  show(box, text ?? "", { ...on.channels, ...on.names, me: on.me });
  return box;
}

/** A text object. Slack's own mrkdwn has single stars for bold; shown as such. */
function textNode(text, on) {
  if (text.type !== "mrkdwn") return h("span", { text: text.text ?? text.alt_text ?? "" });
  return markdown((text.text ?? "").replace(/(^|[\s(])\*(\S[^*\n]*)\*(?=$|[\s).,!?:])/g, "$1**$2**"), on);
}
