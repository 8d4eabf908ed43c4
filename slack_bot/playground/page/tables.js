// Slack's `table` and `data_table`. The second is sorted by its heads and shown page by page.

import { h, icon } from "./dom.js";
import { richTextNode } from "./richtext.js";

export function tableNode(block, on) {
  const aligns = (block.column_settings ?? []).map((one) => one?.align ?? "");
  const [head = [], ...rows] = block.rows ?? [];
  return h("div", { class: "table", tabindex: "0" }, h("table", {},
    h("thead", {}, h("tr", {}, ...head.map((cell, at) => cellNode("th", cell, on, aligns[at])))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell, at) => cellNode("td", cell, on, aligns[at])))))));
}

export function dataTableNode(block, on) {
  const [head = [], ...rows] = block.rows ?? [];
  const size = block.page_size ?? 5;
  const view = { page: 0, by: null, down: false };
  const body = h("tbody");
  const said = h("span", { class: "dim", role: "status" });
  const step = (by, label, sign) => h("button", { type: "button", class: "button small", "aria-label": label, on: { click: () => { view.page += by; draw(); } } }, icon(sign));
  const [back, next] = [step(-1, "Rows before", "before"), step(1, "Next rows", "ahead")];
  const heads = head.map((cell, at) => h("th", { scope: "col", "aria-sort": "none", class: rows[0]?.[at]?.type === "raw_number" ? "to-right" : null },
    h("button", { type: "button", class: "sort", on: { click: () => { [view.down, view.by, view.page] = [view.by === at && !view.down, at, 0]; draw(); } } }, valueOf(cell).text)));
  const draw = () => {
    const sorted = view.by === null ? rows : [...rows].sort((one, two) => compare(valueOf(one[view.by]), valueOf(two[view.by])) * (view.down ? -1 : 1));
    const shown = sorted.slice(view.page * size, (view.page + 1) * size);
    heads.forEach((one, at) => one.setAttribute("aria-sort", at !== view.by ? "none" : view.down ? "descending" : "ascending"));
    body.replaceChildren(...shown.map((row) => h("tr", {}, ...row.map((cell, at) => cellNode(at === block.row_header_column_index ? "th" : "td", cell, on, cell.type === "raw_number" ? "right" : "")))));
    said.textContent = rows.length > size ? `${view.page * size + 1}–${view.page * size + shown.length} of ${rows.length}` : `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
    back.disabled = view.page === 0;
    next.disabled = (view.page + 1) * size >= rows.length;
    back.hidden = next.hidden = rows.length <= size;
  };
  draw();
  return h("figure", { class: "data-table" }, h("figcaption", { text: block.caption ?? "" }),
    h("div", { class: "table", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body)),
    h("div", { class: "pages" }, said, back, next));
}

function cellNode(tag, cell, on, align) {
  const node = h(tag, { class: align && align !== "left" ? `to-${align}` : null, scope: tag === "th" ? "col" : null });
  if (cell?.type === "rich_text") node.append(...richTextNode(cell, on).childNodes);
  else node.textContent = valueOf(cell).text;
  return node;
}

function valueOf(cell) {
  if (cell?.type === "raw_number") return { number: cell.value, text: cell.text ?? String(cell.value) };
  if (cell?.type === "rich_text") return { text: wordsOf(cell) };
  return { text: cell?.text ?? "" };
}

function wordsOf(item) { return (item.elements ?? []).map((one) => one.text ?? one.url ?? wordsOf(one)).join(""); }

function compare(one, two) {
  return one.number !== undefined && two.number !== undefined ? one.number - two.number : one.text.localeCompare(two.text, undefined, { numeric: true });
}
