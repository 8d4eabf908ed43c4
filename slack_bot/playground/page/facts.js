// Facts about turns become what Inside shows: rows of the lanes, the narration, the figures.

import { because, happened, heard } from "./words.js";

/** The rows that one fact adds to the lanes; `began` is the turn's start on the bot's clock. */
export function rows(fact, began) {
  const time = Math.max(0, fact.at - began).toFixed(2);
  const base = { turn: fact.turn, time };
  switch (fact.kind) {
    case "event": return inStory(eventRow(fact, base));
    case "decision": return decisionRows(fact, base);
    case "call": return inStory(callRow(fact, base));
    case "opened": return [{ ...base, lane: "decisions", name: "turn opened", note: fact.text, raw: fact, look: "turn", alone: true }];
    case "ignored": return [{ ...base, lane: "decisions", name: "ignored", note: `${fact.reason}: ${fact.text}`, raw: fact, look: "turn", alone: true }];
    case "closed": return [{ ...base, lane: "decisions", name: `turn ${fact.outcome}`, note: closedNote(fact), raw: fact, look: "turn", alone: true }];
    default: return [];
  }
}

/** What went wrong outside the bot is a part of the story too. */
function inStory(row) {
  return row.look === "bad" ? [row, { ...row, lane: "decisions" }] : [row];
}

function eventRow(fact, base) {
  const row = { ...base, lane: "events", name: fact.name, raw: fact.raw };
  if (fact.unread?.length) return { ...row, note: `not understood: ${fact.unread.join("; ")}`, look: "bad", alone: true };
  return { ...row, note: eventNote(fact.raw), grows: tokenOf(fact.raw) };
}

function decisionRows(fact, base) {
  const from = fact.event.name;
  if (fact.actions.length === 0) {
    const isStopped = fact.late && fact.state === "stopping";
    const name = isStopped ? "stopped" : fact.late ? "late" : "nothing";
    const note = isStopped ? "not shown, the human had stopped it" : fact.late ? "came too late, dropped" : "nothing to do";
    return [{ ...base, lane: "decisions", name, note: `${heard(from)}: ${note}`, look: fact.late && !isStopped ? "bad" : "quiet", raw: { event: fact.event, state: fact.state } }];
  }
  return fact.actions.map((action) => ({ ...base, lane: "decisions", name: action.name, note: action.reason ? because(action.reason) : heard(from),
    look: action.name === "NoOp" ? "quiet" : "", raw: { event: fact.event, action, state: fact.state } }));
}

function callRow(fact, base) {
  const took = `${Math.round(fact.took * 1000)} ms`;
  const parts = [fact.ok ? "ok" : fact.error ?? "no answer", took, ...argumentNotes(fact.args)];
  return { ...base, lane: "calls", name: fact.method, note: parts.join(" · "), look: fact.ok ? "" : "bad", alone: true, raw: { ok: fact.ok, error: fact.error, took: fact.took, args: fact.args } };
}

function argumentNotes(args) {
  const notes = [];
  const chunks = Array.isArray(args.chunks) ? args.chunks : [];
  const blocks = Array.isArray(args.blocks) ? args.blocks : [];
  const written = blocks.filter((block) => block.type === "markdown").reduce((sum, block) => sum + (block.text?.length ?? 0), 0);
  // beside a markdown block, `text` is what a notification says: nobody reads it in the thread
  const text = chunks.filter((chunk) => chunk.type === "markdown_text").reduce((sum, chunk) => sum + chunk.text.length, 0)
    + (args.markdown_text?.length ?? 0) + (written || (args.text?.length ?? 0));
  if (text) notes.push(`${text} ${text === 1 ? "character" : "characters"}`);
  for (const chunk of chunks) if (chunk.type === "task_update") notes.push(`${chunk.title}: ${chunk.status}`);
  for (const chunk of chunks) if (chunk.type === "plan_update") notes.push(`plan: ${chunk.title}`);
  if (args.status) notes.push(`“${args.status}”`);
  if (args.status === "") notes.push("cleared");
  if (blocks.length) notes.push(blocks.map((block) => block.type).join(", "));
  return notes;
}

function closedNote(fact) {
  return [fact.reason, fact.said && `the agent says: ${fact.said}`, happened(fact.latches).join(", "), fact.late ? `${fact.late} came too late` : ""].filter(Boolean).join(" · ");
}

/** What a chunk of a growing artifact adds; undefined for events that are whole in themselves. */
function tokenOf(raw) {
  const update = raw.artifactUpdate ?? raw;
  return update.append || update.lastChunk === false ? update.artifact?.parts?.map((part) => part.text ?? "").join("") || undefined : undefined;
}

/** The first few words that an event carries, wherever its dialect keeps them. */
function eventNote(raw) {
  const found = [];
  const dig = (value, depth) => {
    if (found.length > 3 || depth > 9 || value === null || typeof value !== "object") return;
    for (const [key, inner] of Object.entries(value)) {
      if ((key === "text" || key === "state") && typeof inner === "string" && inner) found.push(inner);
      else dig(inner, depth + 1);
    }
  };
  dig(raw, 0);
  return found.join(" · ").slice(0, 200);
}

/** One turn, gathered from its facts. */
export class TurnStory {
  constructor(opened) {
    Object.assign(this, { key: opened.turn, began: opened.at, channel: opened.channel, thread: opened.thread_ts, text: opened.text, user: opened.user, ts: opened.turn.split(":")[2] });
    this.facts = [];
    this.thoughts = [];
    this.fresh = true;
    this.counts = { events: 0, calls: 0 };
    this.outcome = null;
  }

  add(fact) {
    this.facts.push(fact);
    if (this.outcome === null || fact.kind === "closed") this.until = fact.at; // a rating comes later
    if (fact.kind === "sent") this.sent = fact.params;
    if (fact.kind === "event") this.counts.events += 1;
    if (fact.kind === "call") this.called(fact);
    if (fact.kind === "visible") [this.visibleAt, this.signAt] = [fact.at, Math.min(this.signAt ?? Infinity, fact.at)]; // the call is told later
    if (fact.kind === "decision") this.decided(fact);
    if (fact.kind === "closed") this.outcome = fact.outcome;
    if (fact.kind === "ignored") [this.outcome, this.reason] = ["ignored", fact.reason];
  }

  /** A card or a message is a sign of life, a typing status is none. */
  called(fact) {
    this.counts.calls += 1;
    if (fact.ok && fact.method.startsWith("chat.")) this.signAt ??= fact.at;
  }

  decided(fact) {
    const { name, text, replaces } = fact.event;
    if (["AnswerText", "AnswerReplaced", "FinalAnswer"].includes(name) && this.answerAt === undefined) this.answerAt = fact.at;
    if (["PlanChanged", "ToolStarted", "ToolEnded"].includes(name)) this.fresh = true;
    if (name !== "Narrated" || !text?.trim()) return;
    const last = this.thoughts[this.thoughts.length - 1];
    if (this.fresh || !last) this.thoughts.push({ at: fact.at, text });
    else last.text = replaces ? text : last.text + text;
    this.fresh = false;
  }

  /** [label, value, what it means] for the line above the lanes. `now` is the time on the clock of the facts. */
  figures(now) {
    if (this.outcome === "ignored") return [["outcome", "ignored"], ["why", this.reason]];
    const until = this.outcome ? this.until : Math.max(this.until, now);
    const since = (at) => (at === undefined ? "–" : seconds(at - this.began));
    return [["outcome", this.outcome ?? "running"],
      ["first answer event", since(this.answerAt), "When the agent sent the first text of its answer"],
      ["first sign of life", since(this.signAt), "When the first card or text of the agent stood in the thread. “is thinking…” comes from the bot itself, at once, and does not count."],
      ["first visible text", since(this.visibleAt), "When the first text of the answer stood in the thread"],
      ["took", since(until), "From the question to the end"], ["events", this.counts.events, "Events that the agent sent"], ["Slack calls", this.counts.calls, "Calls of Slack's Web API"]];
  }
}

export function seconds(value) {
  return `${Math.max(0, value).toFixed(2)} s`;
}
