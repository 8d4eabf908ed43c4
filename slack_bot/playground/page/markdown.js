// Markdown, as far as Slack's messages know it, straight into DOM nodes.
//
// A message grows by a few words many times. So the text is parsed into blocks, and a block whose source did
// not change keeps its node: only the end of the message is built again. Nothing here writes markup from text;
// a link is the only thing that leads anywhere, and nothing is ever fetched.

import { h } from "./dom.js";
import { copyButton } from "./clipboard.js";
import { emojiAt, withoutCharacters } from "./emoji.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(?:(\s+)(.*)|\s*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 10;

/** Show `text` in `box`, keeping the nodes of blocks that did not change. `names` gives user names by id, and as `me` the reader's id. */
export function show(box, text, names = {}) {
  const shown = box.shownBlocks ?? [];
  const blocks = parse(text.split("\n"), 0);
  let same = 0;
  while (same < shown.length && same < blocks.length && shown[same] === blocks[same].source) same += 1;
  while (box.childNodes.length > same) box.lastChild.remove();
  for (const block of blocks.slice(same)) box.append(build(block, names));
  box.shownBlocks = blocks.map((block) => block.source);
}

function parse(lines, depth) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) { at += 1; continue; }
    const [block, next] = depth > DEEPEST ? paragraph(lines, at) : take(lines, at, depth);
    block.source = `${block.kind}\n${lines.slice(at, next).join("\n")}`;
    blocks.push(block);
    at = next;
  }
  return blocks;
}

function take(lines, at, depth) {
  const line = lines[at];
  let match;
  if ((match = FENCE.exec(line))) return fence(lines, at, match);
  if ((match = HEADING.exec(line))) return [{ kind: "heading", level: match[1].length, text: match[2] ?? "" }, at + 1];
  if (RULE.test(line)) return [{ kind: "rule" }, at + 1];
  if (QUOTE.test(line)) return quote(lines, at, depth);
  if (ITEM.test(line)) return list(lines, at, depth);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at);
}

function fence(lines, at, match) {
  const closing = new RegExp(`^ {0,3}${match[1][0]}{${match[1].length},}\\s*$`);
  let end = at + 1;
  while (end < lines.length && !closing.test(lines[end])) end += 1;
  return [{ kind: "fence", language: match[2].trim().split(/\s+/)[0], text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

function quote(lines, at, depth) {
  let end = at;
  const inner = [];
  for (let match; end < lines.length && (match = QUOTE.exec(lines[end])); end += 1) inner.push(match[1]);
  return [{ kind: "quote", blocks: parse(inner, depth + 1) }, end];
}

function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  const base = first[1].length;
  const ordered = /\d/.test(first[2]);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const match = ITEM.exec(lines[end]);
    if (!match || match[1].length > base + 3 || /\d/.test(match[2]) !== ordered || RULE.test(lines[end])) break;
    const [item, next] = listItem(lines, end, match, depth);
    items.push(item);
    end = next;
    if (next < lines.length && !lines[next].trim()) {
      const further = skipBlank(lines, next);
      const following = further < lines.length ? ITEM.exec(lines[further]) : null;
      if (!following || following[1].length < base) break;
      end = further;
    }
  }
  return [{ kind: "list", ordered, start: ordered ? Number.parseInt(first[2], 10) : 1, items }, Math.max(end, at + 1)];
}

function listItem(lines, at, match, depth) {
  const indent = match[1].length;
  const inner = [match[4] ?? ""];
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end];
    const deep = line.length - line.trimStart().length;
    if (!line.trim()) {
      const next = skipBlank(lines, end);
      if (next >= lines.length || leading(lines[next]) <= indent + 1) break;
      inner.push("");
    } else if (deep > indent + 1) inner.push(line.slice(Math.min(deep, indent + match[2].length + 1)));
    else if (startsBlock(lines, end)) break;
    else inner.push(line.trim());
  }
  const box = /^\[([ xX])\]\s+/.exec(inner[0]);
  if (box) inner[0] = inner[0].slice(box[0].length);
  return [{ blocks: parse(inner, depth + 1), done: box ? box[1] !== " " : null }, end];
}

function leading(line) { return line.length - line.trimStart().length; }

function skipBlank(lines, at) {
  while (at < lines.length && !lines[at].trim()) at += 1;
  return at;
}

function startsBlock(lines, at) {
  const line = lines[at];
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line) || isTable(lines, at);
}

function isTable(lines, at) {
  return lines[at].includes("|") && at + 1 < lines.length && lines[at + 1].includes("-") && DELIMITER.test(lines[at + 1])
    && cells(lines[at]).length === cells(lines[at + 1]).length;
}

function table(lines, at) {
  const aligns = cells(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : ""));
  let end = at + 2;
  while (end < lines.length && lines[end].trim() && lines[end].includes("|")) end += 1;
  return [{ kind: "table", head: cells(lines[at]), aligns, rows: lines.slice(at + 2, end).map(cells) }, end];
}

/** The cells of a table row; `\|` and a bar inside a code span do not divide. */
function cells(line) {
  const found = [""];
  let code = false;
  const row = line.trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
  for (let at = 0; at < row.length; at += 1) {
    if (row[at] === "\\" && row[at + 1] === "|") { found[found.length - 1] += "|"; at += 1; continue; }
    if (row[at] === "`") code = !code;
    if (row[at] === "|" && !code) found.push("");
    else found[found.length - 1] += row[at];
  }
  return found.map((cell) => cell.trim());
}

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !startsBlock(lines, end)) end += 1;
  return [{ kind: "paragraph", text: lines.slice(at, end).map((line) => line.trimStart()).join("\n") }, end];
}

// -- blocks to nodes

function build(block, names) {
  switch (block.kind) {
    case "heading": return h(`h${Math.min(block.level + 2, 6)}`, {}, ...inline(block.text, names));
    case "rule": return h("hr");
    case "fence": return h("figure", { class: "code" },
      block.language ? h("figcaption", { text: block.language }) : null,
      h("pre", { tabindex: "0" }, h("code", { text: block.text })), copyButton(block.text));
    case "quote": return h("blockquote", {}, ...block.blocks.map((inner) => build(inner, names)));
    case "list": return h(block.ordered ? "ol" : "ul", { start: block.ordered && block.start !== 1 ? block.start : null },
      ...block.items.map((item) => listNode(item, names)));
    case "table": return tableNode(block, names);
    default: return h("p", {}, ...inline(block.text, names));
  }
}

function listNode(item, names) {
  const nodes = item.blocks.flatMap((block, index) => (index === 0 && block.kind === "paragraph"
    ? inline(block.text, names) : [build(block, names)]));
  if (item.done === null) return h("li", {}, ...nodes);
  const label = item.done ? "done" : "to do";
  return h("li", { class: "todo" }, h("span", { class: item.done ? "tick done" : "tick", role: "img", "aria-label": label }), ...nodes);
}

function tableNode(block, names) {
  const cell = (tag, text, column) => breakable(h(tag, { class: block.aligns[column] ? `to-${block.aligns[column]}` : null,
    scope: tag === "th" ? "col" : null }, ...inline(text ?? "", names)));
  return h("div", { class: "table", tabindex: "0" }, h("table", {},
    h("thead", {}, h("tr", {}, ...block.head.map((text, column) => cell("th", text, column)))),
    h("tbody", {}, ...block.rows.map((row) => h("tr", {}, ...block.head.map((_, column) => cell("td", row[column], column)))))));
}

/** Code in a cell is mostly one long name: broken between its words, a table that is a little too wide fits its pane. */
function breakable(cell) {
  for (const code of cell.querySelectorAll("code"))
    code.replaceChildren(...code.textContent.split(/(?<=[_./:])(?=[^_./:])/).flatMap((part, at) => (at ? [h("wbr"), part] : [part])));
  return cell;
}

// -- inside a line

const MARKS = { "**": "strong", "__": "strong", "*": "em", "_": "em", "~~": "s" };
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'", "&nbsp;": "\u00a0" };
const PLAIN = /[^\\`*_~[!<&:\n\u2028\u2029h]+|h(?!ttps?:\/\/)[^\\`*_~[!<&:\n\u2028\u2029h]*/y;

/** The nodes of one run of text. */
export function inline(text, names = {}, depth = 0) {
  const out = [];
  const say = (piece) => {
    if (typeof out[out.length - 1] === "string") out[out.length - 1] += piece;
    else out.push(piece);
  };
  const hopeless = new Set();
  let at = 0;
  while (at < text.length) {
    PLAIN.lastIndex = at;
    const plain = PLAIN.exec(text);
    if (plain) {
      for (const piece of withoutCharacters(plain[0])) if (typeof piece === "string") say(piece); else out.push(piece);
      at = PLAIN.lastIndex;
      continue;
    }
    const found = depth > DEEPEST ? null : special(text, at, names, depth, hopeless);
    if (found) {
      if (typeof found.node === "string") say(found.node); else out.push(found.node);
      at = found.next;
    } else { say(text[at]); at += 1; }
  }
  return out;
}

function special(text, at, names, depth, hopeless) {
  switch (text[at]) {
    case "\n": case "\u2028": case "\u2029": return { node: h("br"), next: at + 1 };
    case "\\": return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? { node: text[at + 1], next: at + 2 } : null;
    case "&": return entity(text, at);
    case "`": return codeSpan(text, at, hopeless);
    case "<": return angle(text, at, names);
    case "h": return bareLink(text, at);
    case ":": return emojiAt(text, at);
    case "!": return text[at + 1] === "[" ? link(text, at + 1, names, depth, hopeless) : null;
    case "[": return link(text, at, names, depth, hopeless);
    default: return emphasis(text, at, names, depth, hopeless);
  }
}

function entity(text, at) {
  const match = /^&(?:lt|gt|amp|quot|nbsp|#39);/.exec(text.slice(at, at + 7));
  return match ? { node: ENTITIES[match[0]], next: at + match[0].length } : null;
}

function codeSpan(text, at, hopeless) {
  const ticks = /^`+/.exec(text.slice(at, at + 64))[0];
  if (hopeless.has(ticks)) return { node: ticks, next: at + ticks.length };
  for (let end = text.indexOf(ticks, at + ticks.length); end >= 0; end = text.indexOf(ticks, end)) {
    let run = ticks.length;
    while (text[end + run] === "`") run += 1;
    if (run === ticks.length) {
      const code = text.slice(at + ticks.length, end).replaceAll("\n", " ");
      return { node: h("code", { text: /^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code }), next: end + run };
    }
    end += run;
  }
  hopeless.add(ticks);
  return { node: ticks, next: at + ticks.length };
}

/** `<https://...>`, and what Slack writes between angles: `<url|label>`, `<@U123>`. */
function angle(text, at, names) {
  const end = text.indexOf(">", at);
  if (end < 0 || end - at > 2000) return null;
  const inner = text.slice(at + 1, end);
  const person = /^@([UW][A-Z0-9]+)(?:\|([^|]*))?$/.exec(inner);
  if (person) return { node: h("span", { class: person[1] === names.me ? "mention mine" : "mention", text: `@${names[person[1]] ?? person[2] ?? person[1]}` }), next: end + 1 };
  const date = /^!date\^(\d+)\^([^|^]*)/.exec(inner);
  if (date) return { node: h("time", { text: dated(Number(date[1]), date[2]) }), next: end + 1 };
  const channel = /^#([CDG][A-Z0-9]+)(?:\|([^|]*))?$/.exec(inner);
  if (channel) return { node: h("span", { class: "mention", text: `#${names[channel[1]] || channel[2] || channel[1]}` }), next: end + 1 };
  const place = /^(?:#[A-Z0-9]+|!subteam\^[A-Z0-9]+|!(?:here|channel|everyone))(?:\|(.*))?$/.exec(inner);
  if (place) return { node: h("span", { class: "mention mine", text: place[1] ?? inner.replace(/^!(?:subteam\^)?/, "@") }), next: end + 1 };
  const [url, label] = inner.split("|", 2);
  return /^(?:https?:\/\/|mailto:)[^\s<]+$/.test(url) ? { node: anchor(url, [label ?? url]), next: end + 1 } : null;
}

/** A moment as Slack writes it: `{date_short_pretty} {time}`, in the reader's own zone. */
function dated(seconds, format) {
  const moment = new Date(seconds * 1000);
  return format.replace(/\{(\w+)\}/g, (_, name) => (name.startsWith("time")
    ? moment.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" }) : moment.toLocaleDateString([], { month: "short", day: "numeric", year: "numeric" })));
}

function bareLink(text, at) {
  const match = /^https?:\/\/[^\s<>`]+/.exec(text.slice(at, at + 2000));
  if (!match) return null;
  let url = match[0].replace(/[.,;:!?*_~'"]+$/, "");
  if (url.endsWith(")") && !url.includes("(")) url = url.slice(0, -1);
  return { node: anchor(url, [url]), next: at + url.length };
}

function link(text, at, names, depth, hopeless) {
  if (hopeless.has("[")) return null;
  let open = 0;
  let end = at;
  for (; end < text.length; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "[") open += 1;
    else if (text[end] === "]" && (open -= 1) === 0) break;
  }
  if (end >= text.length) { hopeless.add("["); return null; }
  const target = /^\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)/.exec(text.slice(end + 1, end + 2100));
  if (!target) return null;
  const label = inline(text.slice(at + 1, end), names, depth + 1);
  const next = end + 1 + target[0].length;
  return /^(?:https?:\/\/|mailto:)/i.test(target[1]) ? { node: anchor(target[1], label), next } : { node: h("span", {}, ...label), next };
}

function anchor(url, label) {
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...label);
}

function emphasis(text, at, names, depth, hopeless) {
  const sign = text[at];
  let run = 1;
  while (text[at + run] === sign) run += 1;
  const mark = sign === "~" ? "~~" : sign.repeat(run === 1 ? 1 : 2);
  const asIs = { node: text.slice(at, at + run), next: at + run };
  if (run < mark.length || run > 3 || hopeless.has(mark) || !opens(text, at, run)) return asIs;
  const inside = run === 3 && sign !== "~" ? at + 3 : at + mark.length;
  const close = closer(text, inside, sign, run === 3 ? 3 : mark.length);
  if (close < 0) { hopeless.add(mark); return asIs; }
  const inner = inline(text.slice(inside, close), names, depth + 1);
  const node = run === 3 ? h("strong", {}, h("em", {}, ...inner)) : h(MARKS[mark], {}, ...inner);
  return { node, next: close + (run === 3 ? 3 : mark.length) };
}

function opens(text, at, run) {
  const next = text[at + run];
  return next !== undefined && !/\s/.test(next) && !(text[at] === "_" && /\w/.test(text[at - 1] ?? ""));
}

/** Where a run of exactly the wanted length ends an emphasis; code spans and escapes are stepped over. */
function closer(text, from, sign, wanted) {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") { at += 1; continue; }
    if (text[at] === "`") {
      const end = text.indexOf("`", at + 1);
      if (end > 0) at = end;
      continue;
    }
    if (text[at] !== sign) continue;
    let run = 1;
    while (text[at + run] === sign) run += 1;
    const ends = at > from && !/\s/.test(text[at - 1]) && !(sign === "_" && /\w/.test(text[at + run] ?? ""));
    if (ends && (run === wanted || run === 3)) return run === 3 && wanted < 3 ? at + 3 - wanted : at;
    at += run - 1;
  }
  return -1;
}
