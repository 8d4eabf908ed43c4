// What the agent was sent for a turn: the question's parts, what was quoted of the thread, the metadata.

import { h } from "./dom.js";

/** `sent` is the `params` of the call. Returns a short note, and the nodes. */
export function sentNodes(sent) {
  const message = sent.message ?? {};
  const parts = message.parts ?? [];
  const quoted = parts.slice(1).flatMap(quotes).length;
  const note = [`${parts.length} ${parts.length === 1 ? "part" : "parts"}`, quoted ? `${quoted} quoted` : ""].filter(Boolean).join(", ");
  const nodes = parts.flatMap((part, index) => partNodes(part, index));
  const ids = pairs({ contextId: message.contextId, taskId: message.taskId, referenceTaskIds: message.referenceTaskIds?.join(", ") });
  const metadata = pairs({ ...sent.metadata, ...message.metadata });
  if (ids.length) nodes.push(h("h3", { text: "Conversation" }), h("dl", {}, ...ids));
  if (metadata.length) nodes.push(h("h3", { text: "Metadata" }), h("dl", {}, ...metadata));
  return { note, nodes };
}

function partNodes(part, index) {
  if (typeof part.text === "string") {
    return [h("h3", { text: index === 0 ? "The question" : "Quoted text, not as instruction" }), h("p", { class: `said-part ${index ? "quoted" : ""}`, text: part.text })];
  }
  const file = part.file ?? (part.raw || part.url ? part : null);
  if (file) return [h("h3", { text: "File" }), h("p", { class: "said-part", text: fileWords(file) })];
  const found = quotes(part);
  if (found.length) return [h("h3", { text: `Quoted from the thread (${found.length}), not as instruction` }), ...found.map(quoteNode), ...rest(part)];
  return [h("h3", { text: "Data" }), h("p", { class: "said-part", text: JSON.stringify(part.data ?? part, null, 1) })];
}

function fileWords(file) {
  const size = file.bytes ?? file.raw;
  return [file.name ?? file.filename ?? "file", file.mimeType ?? file.mediaType ?? "", size ? `${Math.floor(size.length * 0.75)} bytes` : file.uri ?? file.url ?? ""].filter(Boolean).join(" · ");
}

/** The messages that a data part quotes: the first list of objects with a text. */
function quotes(part) {
  const data = part.data?.data ?? part.data;
  if (!data || typeof data !== "object") return [];
  const lists = Object.values(data).filter((value) => Array.isArray(value) && value.every((one) => typeof one?.text === "string"));
  return lists[0] ?? [];
}

function rest(part) {
  const data = part.data?.data ?? part.data;
  const found = pairs(Object.fromEntries(Object.entries(data).filter(([, value]) => !Array.isArray(value))));
  return found.length ? [h("dl", {}, ...found)] : [];
}

function quoteNode({ text, ...about }) {
  const who = [about.author ?? about.name ?? about.user, about.kind, about.time ?? about.ts].filter((one) => one && typeof one !== "object").join(" · ");
  const files = Array.isArray(about.files) && about.files.length ? ` [${about.files.map((one) => one?.name ?? one).join(", ")}]` : "";
  return h("div", { class: "quote" }, h("b", { text: who }), h("span", { text: text + files }));
}

function pairs(object, prefix = "") {
  return Object.entries(object).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === "") return [];
    if (typeof value === "object" && !Array.isArray(value)) return pairs(value, `${prefix}${name.replace(/^https?:\/\/\S*\//, "")}.`);
    return [h("dt", { text: prefix + name }), h("dd", { text: typeof value === "string" ? value : JSON.stringify(value) })];
  });
}
