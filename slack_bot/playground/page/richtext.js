// Slack's rich_text: sections, lists, quotes and code, with styles, links, people and emoji.

import { h } from "./dom.js";
import { copyButton } from "./clipboard.js";
import { drawn, withoutCharacters } from "./emoji.js";

const TAGS = [["bold", "strong"], ["italic", "em"], ["strike", "s"], ["code", "code"]];

export function richTextNode(block, on) {
  return h("div", { class: "md rich" }, ...grouped(block.elements ?? []).map((element) => elementNode(element, on)));
}

/** Neighbouring lists of growing indent are one list in another: Slack writes them side by side. */
function grouped(elements) {
  const found = [];
  for (const element of elements) {
    const last = found[found.length - 1];
    if (element.type === "rich_text_list" && (element.indent ?? 0) > 0 && last?.type === "rich_text_list") {
      last.below ??= [];
      last.below.push([last.elements.length, { ...element, indent: element.indent - 1 }]);
    } else found.push(element.type === "rich_text_list" ? { ...element, below: undefined } : element);
  }
  return found;
}

function elementNode(element, on) {
  const inside = element.elements ?? [];
  switch (element.type) {
    case "rich_text_list": return listNode(element, on);
    case "rich_text_quote": return h("blockquote", {}, ...inline(inside, on));
    case "rich_text_preformatted": return codeNode(inside.map((one) => one.text ?? one.url ?? "").join(""));
    default: return h("p", {}, ...inline(inside, on));
  }
}

function codeNode(text) { return h("figure", { class: "code" }, h("pre", { tabindex: "0" }, h("code", { text })), copyButton(text)); }

function listNode({ style, elements, offset, below = [] }, on) {
  const items = elements.map((one) => h("li", {}, ...inline(one.elements ?? [], on)));
  for (const [after, list] of below) (items[after - 1] ?? items[0])?.append(...grouped([list]).map((one) => elementNode(one, on)));
  return h(style === "ordered" ? "ol" : "ul", { start: offset ? offset + 1 : null }, ...items);
}

export function inline(elements, on) { return elements.flatMap((element) => partNodes(element, on)); }

function partNodes(element, on) {
  switch (element.type) {
    case "text": return styled(lines(element.text ?? ""), element.style);
    case "link": return styled([linkNode(element)], element.style);
    case "user": return [h("span", { class: element.user_id === on.me ? "mention mine" : "mention", text: `@${on.names[element.user_id] ?? element.user_id}` })];
    case "usergroup": return [h("span", { class: "mention", text: `@${element.usergroup_id}` })];
    case "channel": return [h("span", { class: "mention", text: `#${on.channels?.[element.channel_id] ?? element.channel_id}` })];
    case "broadcast": return [h("span", { class: "mention mine", text: `@${element.range}` })];
    case "emoji": return [emojiNode(element)];
    case "date": return [element.fallback ?? new Date((element.timestamp ?? 0) * 1000).toLocaleString()];
    case "color": return [element.value ?? ""];
    default: return element.elements ? inline(element.elements, on) : [element.text ?? ""];
  }
}

/** Where Slack gives the characters with the name, they are text as any other. */
function emojiNode({ name = "", unicode }) {
  const node = drawn(name);
  const isGiven = typeof node === "string" && /^[0-9a-f]{2,6}(-[0-9a-f]{2,6})*$/i.test(unicode ?? "");
  const codes = isGiven ? unicode.split("-").map((code) => Number.parseInt(code, 16)) : [];
  return codes.length && codes.every((code) => code <= 0x10ffff) ? String.fromCodePoint(...codes) : node;
}

function linkNode({ url, text }) {
  const isSafe = /^(?:https?:\/\/|mailto:)/i.test(url ?? "");
  return isSafe ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer", text: text || url }) : h("span", { text: text || url || "" });
}

function lines(text) {
  return text.split("\n").flatMap((line, at) => (at ? [h("br"), ...withoutCharacters(line)] : withoutCharacters(line)));
}

function styled(nodes, style = {}) {
  return TAGS.reduce((inner, [name, tag]) => (style[name] ? [h(tag, {}, ...inner)] : inner), nodes);
}
