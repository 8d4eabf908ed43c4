// Emoji come by name, as Slack has them, or as characters. Those that are offered are characters where this machine
// has a font for them. Where it has none, the common ones are drawn, and every other one is shown by its name.

import { h, svg } from "./dom.js";
import { DRAWINGS } from "./emoji_drawings.js";
import { CHARACTERS, nameOfCharacters, offeredName } from "./emoji_list.js";

const NAMED = /^:([a-z0-9_+'-]{1,100}):(?::skin-tone-[2-6]:)?/;
const BEFORE = /(?:^|[^\w:]|:[a-z0-9_+'-]+:)$/; // another one, but no word, as in 1:100:2
const AS_CHARACTERS = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})*/gu;
const ONLY = /^(?:\s*(?::[a-z0-9_+'-]+:|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})*))+\s*$/u;
const MOST_LARGE = 23; // as in Slack

/** What stands for the emoji `name`: characters, or a drawing; else `:name:`. */
export function drawn(name) {
  const own = offeredName(name), label = name.replaceAll("_", " ");
  if (CHARACTERS.has(own) && hasFont()) return h("span", { class: "emoji emoji-character", role: "img", "aria-label": label, text: CHARACTERS.get(own) });
  if (!Object.hasOwn(DRAWINGS, own)) return `:${name}:`;
  const paths = DRAWINGS[own].map(([d, fill, stroke]) => svg("path", { d, fill: fill ?? "none", ...(stroke ? { stroke } : {}) }));
  return svg("svg", { viewBox: "0 0 16 16", class: `emoji emoji-${own === "-1" ? "down" : "plain"}`, role: "img", "aria-label": label }, ...paths);
}

/** Whether it can be shown otherwise than by its name. */
export function isShown(name) { return Object.hasOwn(DRAWINGS, offeredName(name)) || (isOffered(name) && hasFont()); }

/** What of a text is an emoji by its name at `at`: {node, next}; null if there is none. */
export function emojiAt(text, at) {
  const match = NAMED.exec(text.slice(at, at + 120));
  const next = at + (match?.[0].length ?? 0);
  if (!match || !isKnown(match[1]) || !BEFORE.test(text.slice(Math.max(0, at - 110), at)) || /\w/.test(text[next] ?? "")) return null;
  return { node: drawn(match[1]), next };
}

/** The nodes of a text without names. Where there is no font, characters that are known are drawn or named. */
export function withoutCharacters(text) {
  if (!/\p{Extended_Pictographic}/u.test(text) || hasFont()) return [text];
  const found = [];
  let from = 0;
  for (const match of text.matchAll(AS_CHARACTERS)) {
    const name = nameOfCharacters(match[0]);
    if (!name) continue;
    found.push(text.slice(from, match.index), drawn(name));
    from = match.index + match[0].length;
  }
  return [...found, text.slice(from)].filter((one) => one !== "");
}

/** A message of nothing but a few emoji is shown large. */
export function isOnlyEmoji(text) {
  if (!ONLY.test(text)) return false;
  const names = [...text.matchAll(/:([^:\s]+):/g)].map((match) => match[1]);
  return names.every(isShown) && names.length <= MOST_LARGE && text.length < 400;
}

function isOffered(name) { return CHARACTERS.has(offeredName(name)); }

function isKnown(name) { return isOffered(name) || Object.hasOwn(DRAWINGS, offeredName(name)); }

let known;

/** Whether emoji have a font here: then a sign of it is drawn in colour. */
function hasFont() {
  if (known === undefined) {
    const pen = Object.assign(document.createElement("canvas"), { width: 20, height: 20 }).getContext("2d", { willReadFrequently: true });
    pen.font = `16px ${getComputedStyle(document.documentElement).getPropertyValue("--emoji")}`;
    pen.textBaseline = "top";
    pen.fillText("\u{1F44F}", 0, 0);
    const { data } = pen.getImageData(0, 0, 20, 20);
    known = data.some((value, at) => at % 4 === 0 && data[at + 3] > 0 && (value !== data[at + 1] || value !== data[at + 2]));
  }
  return known;
}
