// The page. Everything comes over one web socket: first a snapshot, then updates. What the visitor does goes the
// other way as an order and comes back as updates.
//
// An update changes the `model` and marks what has to be drawn (`due`); `draw` draws it, once a frame.

import { h, icon, refill } from "./dom.js";
import { paced, scrollAll, stickToEnd } from "./frames.js";
import { Link } from "./link.js";
import { Composer } from "./composer.js";
import { Column } from "./column.js";
import { Lanes } from "./lanes.js";
import { TurnStory, rows, seconds } from "./facts.js";
import { FaultPanel, save } from "./faults.js";

const $ = (id) => document.getElementById(id);
const TONES = 4;
const DRAWN_EVERY_MS = 80;
const STORIES_KEPT = 30; // as many as the playground keeps
const CLOCK_EVERY_MS = 100;
const LARGEST_FILE = 32 * 1024 * 1024;

const model = { people: {}, channels: [], bot: { user_id: "", name: "slack_bot" }, messages: new Map(), statuses: new Map(), stories: new Map(), suggestions: [], agent: null, now: 0, receivedAt: 0 };
const view = { me: "", place: "", thread: null, turn: "follow", story: null, known: false };
const world = { names: {}, person, press, open: (message) => { openThread(message.channel, rootOf(message)); page.now(); composers.reply.field.focus(); } };
const due = { parts: new Set(), messages: new Map(), roots: new Map() };
const page = paced(draw, DRAWN_EVERY_MS);
const lanes = new Lanes($("lanes"));
const narration = stickToEnd($("narration"));
const faultPanel = new FaultPanel($("fault-panel"), $("faults"), send);
const link = new Link((updates) => { for (const update of updates) HANDLERS[update.type]?.(update); page.ask(); }, linkChanged);

// -- updates

const HANDLERS = {
  snapshot(all) {
    Object.assign(model, { people: Object.fromEntries(all.people.map((one) => [one.id, one])), channels: all.channels, bot: all.bot, suggestions: all.suggestions, agent: all.agent, now: all.now, receivedAt: performance.now() });
    world.names = { ...Object.fromEntries(all.people.map((one) => [one.id, one.name])), [all.bot.user_id]: all.bot.name };
    model.messages = new Map();
    model.statuses = new Map();
    model.stories = new Map();
    for (const message of all.messages) keep(message);
    for (const status of all.statuses) model.statuses.set(threadKey(status.channel, status.thread_ts), status.text);
    for (const fact of all.facts) note(fact);
    faultPanel.show(all.faults);
    $("where").textContent = $("where").title = model.agent ? `Asks ${model.agent} and writes to an emulated Slack.` : "The real bot, a real A2A agent, an emulated Slack. Nothing leaves this machine.";
    if (!model.people[view.me]) view.me = all.people.find((one) => !one.virtual)?.id ?? "";
    if (!model.channels.some((channel) => channel.id === view.place)) view.place = model.channels[0]?.id ?? "";
    if (!view.known && location.hash) visitAddress();
    else if (!view.known) showLastThread();
    view.known = true;
    if (view.thread && !messagesOf(view.thread.channel).has(view.thread.ts)) leaveThread();
    change("people", "room", "thread", "inside");
  },
  message({ message }) {
    keep(message);
    due.messages.set(`${message.channel} ${message.ts}`, message);
    recount(message.channel, rootOf(message));
  },
  grow({ channel, ts, text }) {
    const message = messagesOf(channel).get(ts);
    if (message) HANDLERS.message({ message: { ...message, text: message.text + text } });
  },
  gone({ channel, ts }) {
    messagesOf(channel).delete(ts);
    due.messages.delete(`${channel} ${ts}`);
    change("room", "thread");
  },
  status({ channel, thread_ts, text }) {
    model.statuses.set(threadKey(channel, thread_ts), text);
    recount(channel, thread_ts);
    change("typing");
  },
  fact({ fact }) {
    const story = note(fact);
    if (!story) return;
    if (["opened", "closed", "ignored"].includes(fact.kind)) turnChanged(story, fact);
    if (!watched(story)) return;
    view.story = story;
    change("story");
    if (!due.parts.has("inside")) for (const row of rows(fact, story.began)) lanes.add(row);
  },
  said({ channel, ts, thread_ts }) {
    if (thread_ts) return;
    const wasTyping = document.activeElement === composers.root.field;
    openThread(channel, ts);
    page.now();
    if (wasTyping && !composers.root.field.checkVisibility()) composers.reply.field.focus();
  },
  faults(update) { faultPanel.show(update.faults); },
  tape({ name, text }) { save(name, text); },
  choose({ name, keys }) { choose(name, keys); },
  taken({ n }) { link.settle(n, true); },
  refused({ n, text }) {
    if (!link.settle(n, false, text)) complain(text);
  },
};

function keep(message) { messagesOf(message.channel).set(message.ts, message); }

function messagesOf(channel) {
  if (!model.messages.has(channel)) model.messages.set(channel, new Map());
  return model.messages.get(channel);
}

function note(fact) {
  if (fact.kind === "opened" || fact.kind === "ignored") model.stories.set(fact.turn, new TurnStory(fact));
  if (model.stories.size > STORIES_KEPT) model.stories.delete(model.stories.keys().next().value);
  const story = model.stories.get(fact.turn);
  story?.add(fact);
  return story;
}

function turnChanged(story, fact) {
  recount(story.channel, story.thread);
  change("typing", "turns");
  if (fact.kind !== "closed" && view.turn === "follow" && watched(story)) change("inside");
  const here = view.thread?.channel === story.channel && view.thread.ts === story.thread;
  if (fact.kind === "ignored" && here) $("spoken").textContent = `${model.bot.name} does not answer: ${fact.reason}.`;
  if (fact.kind === "closed" && here) $("spoken").textContent = `${model.bot.name}: ${fact.outcome}, after ${seconds(fact.at - story.began)}.`;
}

// -- drawing

function change(...parts) {
  for (const part of parts) due.parts.add(part);
  page.ask();
}

function recount(channel, ts) { due.roots.set(threadKey(channel, ts), [channel, ts]); }

function draw() {
  const parts = due.parts;
  due.parts = new Set();
  if (parts.has("people")) showPeople();
  if (parts.has("room")) showRoom();
  if (parts.has("thread")) showThread();
  for (const message of due.messages.values()) {
    if (!parts.has("room")) room.take(message);
    if (!parts.has("thread")) thread.take(message);
  }
  due.messages.clear();
  for (const [channel, ts] of due.roots.values()) room.countReplies(channel, ts);
  due.roots.clear();
  if (parts.has("typing") || parts.has("thread")) showTyping();
  if (parts.has("inside")) showInside();
  if (parts.has("turns") || parts.has("inside")) showTurns();
  lanes.draw();
  if (parts.has("story") || parts.has("inside")) showStory(view.story);
  for (const button of document.querySelectorAll("[data-sends]")) if (button.disabled === link.up) button.disabled = !link.up;
  scrollAll(parts.has("sizes"));
  if (!document.body.dataset.ready && link.up) begin();
}

function begin() {
  document.body.dataset.ready = "yes";
  if (document.activeElement === document.body && innerWidth > 800) composers.root.field.focus();
}

// -- who and where

function person(id) {
  if (id === model.bot.user_id) return { name: model.bot.name, letter: "✳", tone: "bot", app: true };
  const one = model.people[id];
  const name = one?.name ?? id;
  return { name, letter: name.slice(0, 1).toUpperCase(), tone: one?.virtual ? "virtual" : Object.keys(model.people).indexOf(id) % TONES, app: false };
}

function threadKey(channel, ts) { return `${channel} ${ts}`; }
function rootOf(message) { return message.thread_ts ?? message.ts; }
function isRoot(message) { return rootOf(message) === message.ts; }
function mayRead(message) { return !message.for || message.for === view.me; }
function isDm(channel) { return model.channels.find((one) => one.id === channel)?.kind === "im"; }
function runningIn(channel, ts) { return [...model.stories.values()].some((story) => !story.outcome && story.channel === channel && story.thread === ts); }

function press(message, action, value) {
  send({ type: "press", channel: message.channel, ts: message.ts, action_id: action, value });
}

function openThread(channel, ts) {
  view.thread = { channel, ts };
  look("thread");
  change("thread", "inside");
  keepAddress();
}

function closeThread() {
  view.thread = null;
  look("room");
  change("thread", "inside");
  keepAddress();
  page.now();
  composers.root.field.focus();
}

function choosePlace(channel) {
  view.place = channel;
  change("room");
  keepAddress();
  page.now();
  composers.root.field.focus();
}

// -- the address: a conversation and perhaps a thread, for a reload and a second tab

function keepAddress() {
  const { channel, ts } = view.thread ?? { channel: view.place };
  const address = `#${channel}${ts ? `/${ts}` : ""}`;
  if (location.hash !== address) history.pushState(null, "", address);
}

/** Go to the address; to a direct message as the person it belongs to. */
function visitAddress() {
  const [id, ts] = location.hash.slice(1).split("/");
  const channel = model.channels.find((one) => one.id === id);
  const reader = channel?.kind !== "im" || channel.members.includes(view.me) ? view.me : channel.members.find((one) => model.people[one]?.virtual === false);
  view.thread = null;
  if (channel && reader) {
    [view.me, view.place] = [reader, id];
    if (messagesOf(id).has(ts)) view.thread = { channel: id, ts };
    else if (ts) complain("The thread of this address is not here any more: a playground that has ended keeps nothing.");
  }
  look(view.thread ? "thread" : "room");
  change("people", "room", "thread", "inside");
}

/** A page without an address shows the last thread that everybody may read, beside its channel. */
function showLastThread() {
  const last = [...model.stories.values()].findLast((story) => !isDm(story.channel) && messagesOf(story.channel).has(story.thread));
  if (!last) return;
  view.place = last.channel;
  view.thread = { channel: last.channel, ts: last.thread };
}

/** The thread was deleted: its draft moves to the channel. */
function leaveThread() {
  const draft = composers.reply.draft();
  view.thread = null;
  keepAddress();
  look("room");
  const begun = composers.root.draft();
  if (draft) composers.root.write(begun ? `${begun}\n${draft.replace(`@${model.bot.name} `, "")}` : draft);
}

function look(name) {
  document.body.dataset.view = name;
  for (const button of document.querySelectorAll(".views button")) button.setAttribute("aria-pressed", String(button.dataset.view === name));
  change("sizes");
}

// -- messages

const room = new Column($("roots"), world, { replies,
  wants: (message) => message.channel === view.place && isRoot(message) && mayRead(message) });
const thread = new Column($("thread"), world, {
  wants: (message) => view.thread && message.channel === view.thread.channel && rootOf(message) === view.thread.ts && mayRead(message) });

function replies(channel, ts) {
  const count = [...messagesOf(channel).values()].filter((one) => rootOf(one) === ts && one.ts !== ts && !one.for).length;
  return { count, live: runningIn(channel, ts) };
}

function showRoom() {
  refill($("places"), model.channels.filter((channel) => channel.kind !== "im" || channel.members.includes(view.me)).map((channel) =>
    h("button", { type: "button", class: "tab", "aria-pressed": String(channel.id === view.place), data: { channel: channel.id },
      on: { click: () => choosePlace(channel.id) } }, channel.kind === "im" ? "Direct message" : `# ${channel.name}`)));
  refill($("chips"), model.suggestions.map(({ label, text }) =>
    h("button", { type: "button", class: "chip", title: text, data: { sends: "" }, on: { click: () => say({ channel: view.place, ts: null }, address(view.place) + text) } }, label)));
  room.show(messagesOf(view.place).values(), welcome);
  composers.root.visit();
}

function welcome() {
  return [h("div", { class: "welcome" },
    h("h2", { text: isDm(view.place) ? "Talk to the bot alone" : "Ask the bot something" }),
    h("p", { text: isDm(view.place) ? "No mention is needed here: every message of yours is a question."
      : `Mention @slack_bot${model.suggestions.length ? ", or take one of the questions below" : ""}. The answer is written into a thread while the agent is still at work.` }),
    h("p", { class: "dim", text: "On the right you see what the agent sent, what the bot decided and why, and what it told Slack. Drop a captured event file anywhere to replay it." }))];
}

function showThread() {
  const open = view.thread;
  $("thread-place").textContent = open ? (isDm(open.channel) ? "direct message" : `# ${model.channels.find((one) => one.id === open.channel)?.name ?? ""}`) : "";
  $("close-thread").hidden = !open;
  $("say-reply").hidden = !open;
  thread.show(open ? messagesOf(open.channel).values() : [], () => [h("div", { class: "welcome small" },
    h("p", { class: "dim", text: "No thread is open. Ask something, or open the replies of a message." }))]);
  composers.reply.visit();
}

function showTyping() {
  const open = view.thread;
  const status = open ? model.statuses.get(threadKey(open.channel, open.ts)) ?? "" : "";
  const text = status ? `${model.bot.name} ${status}` : "";
  if ($("status").textContent !== text) $("status").textContent = text;
  $("status").classList.toggle("busy", Boolean(text));
  const runs = Boolean(open && runningIn(open.channel, open.ts));
  if (!runs && document.activeElement === $("stop")) composers.reply.field.focus();
  $("stop").hidden = !runs;
}

function showPeople() {
  refill($("people"), Object.values(model.people).filter((one) => !one.virtual).map((one) => {
    const { letter, tone } = person(one.id);
    return h("button", { type: "button", class: "who", "aria-pressed": String(one.id === view.me), title: `Be ${one.name}`, on: { click: () => become(one.id) } },
      h("span", { class: `face small face-${tone}`, "aria-hidden": "true", text: letter }), one.name);
  }));
}

function become(id) {
  const dm = model.channels.find((channel) => channel.kind === "im" && channel.members.includes(id));
  if (isDm(view.place) && dm) view.place = dm.id;
  view.me = id;
  if (view.thread && isDm(view.thread.channel) && view.thread.channel !== dm?.id) view.thread = null;
  keepAddress();
  change("people", "room", "thread", "inside");
  page.now();
}

// -- the right side

function followed() {
  const stories = [...model.stories.values()];
  const here = view.thread ? stories.filter((story) => story.channel === view.thread.channel && story.thread === view.thread.ts) : stories;
  return here.findLast((story) => !story.outcome) ?? here.at(-1);
}

function watched(story) {
  return view.turn === "all" || (view.turn === "follow" ? followed() === story : view.turn === story.key);
}

function showTurns() {
  if (view.turn !== "all" && !model.stories.has(view.turn)) view.turn = "follow";
  const short = (story) => `${story.text.replace(/\s+/g, " ").slice(0, 42)}${story.outcome ? ` (${story.outcome})` : ""}`;
  const option = (value, text) => h("option", { value, selected: value === view.turn, text });
  $("turn").replaceChildren(option("follow", "Follow the thread"), option("all", "All turns"),
    ...[...model.stories.values()].reverse().map((story) => option(story.key, short(story))));
}

function showInside() {
  const shown = [...model.stories.values()].filter(watched);
  lanes.show(shown.flatMap((story) => story.facts.map((fact) => [story, fact])).sort((one, two) => one[1].n - two[1].n)
    .flatMap(([story, fact]) => rows(fact, story.began)));
  view.story = shown[shown.length - 1];
}

function showStory(story) {
  $("figures").hidden = !story;
  $("export").hidden = !story?.outcome || story.outcome === "ignored";
  const figures = story?.figures(model.now + (performance.now() - model.receivedAt) / 1000) ?? [];
  while ($("figures").childElementCount > figures.length) $("figures").lastElementChild.remove();
  figures.forEach(([label, value], index) => {
    const box = $("figures").children[index] ?? $("figures").appendChild(h("div", {}, h("span"), h("b")));
    write(box.firstElementChild, label);
    write(box.lastElementChild, String(value));
    if (label === "outcome") box.dataset.outcome = value;
  });
  const thoughts = story?.thoughts ?? [];
  while ($("narration").childElementCount > thoughts.length) $("narration").lastElementChild.remove();
  thoughts.forEach((thought, index) => {
    const line = $("narration").children[index] ?? $("narration").appendChild(h("p", {}, h("time"), h("span")));
    write(line.firstElementChild, seconds(thought.at - story.began));
    write(line.lastElementChild, thought.text);
  });
  $("thinking").classList.toggle("none", thoughts.length === 0);
  narration.follow();
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// -- what the visitor does

function send(order, settled) { return link.send({ user: view.me, ...order }, settled); }

function linkChanged(up) {
  $("link").hidden = up;
  change("sizes");
  if (!up || !held) return;
  send(held, lostOnTheWay(held));
  held = null;
}

function address(channel) { return isDm(channel) ? "" : `@${model.bot.name} `; }

/** The text as Slack has it: escaped, and with one mention where a second one was typed or pasted. */
function plain(text) {
  const mention = `<@${model.bot.user_id}>`;
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const said = escaped.replaceAll(`@${model.bot.name}`, mention).trim();
  return said.replace(new RegExp(`^(?:${mention}\\s*){2,}`), `${mention} `).trim();
}

function lacks(text) { return plain(text) === `<@${model.bot.user_id}>` ? `Write your question after @${model.bot.name}.` : ""; }
function say(place, text, settled) { return send({ type: "say", channel: place.channel, thread_ts: place.ts, text: plain(text) }, settled); }

const writing = { begin: address, lacks, send: say };
const composers = {
  root: new Composer($("say-root"), { ...writing, where: () => (view.place ? { channel: view.place, ts: null } : null) }),
  reply: new Composer($("say-reply"), { ...writing, where: () => view.thread }),
};

let dropped = null;
let held = null; // a file that was dropped while there was no connection

async function replay(file) {
  if (!file) return;
  if (file.size > LARGEST_FILE) { complain(`${file.name} is larger than 32 MB.`); return; }
  dropped = { type: "replay", name: file.name, text: await file.text(), speed: Number($("speed").value) };
  if (send(dropped, lostOnTheWay(dropped))) return;
  held = { ...dropped, user: view.me };
  complain(`${file.name} will be replayed when the connection is back.`);
}

/** A file that may have arrived is not sent again by itself: it could have broken the connection. */
function lostOnTheWay({ name }) {
  return (taken) => { if (!taken && !link.up) complain(`The connection was lost while ${name} was on its way. Drop it again if no replay begins.`); };
}

function choose(name, keys) {
  $("choose-note").textContent = `${name} holds several. Each can be replayed by itself.`;
  $("keys").replaceChildren(...keys.map((key) =>
    h("button", { type: "button", class: "chip", data: { sends: "" }, on: { click: () => { $("choose").close(); send({ ...dropped, key }, lostOnTheWay(dropped)); } } }, key)));
  $("choose").showModal();
}

/** Escape: the browser itself closes a dialog. */
function closeUppermost() {
  if (document.querySelector("dialog[open]")) return;
  if (!$("notice").hidden) complain("");
  else if (!document.querySelector(".pane.room").checkVisibility() && document.body.dataset.view === "inside") look(view.thread ? "thread" : "room");
  else if (view.thread) closeThread();
}

let complaint = 0;

function complain(text) {
  clearTimeout(complaint);
  $("notice").textContent = text;
  $("notice").hidden = !text;
  change("sizes");
  if (text) complaint = setTimeout(() => complain(""), 9000);
}

function listen() {
  $("close-thread").append(icon("close"));
  $("close-thread").addEventListener("click", closeThread);
  addEventListener("popstate", () => { visitAddress(); page.now(); });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) closeUppermost(); });
  setInterval(() => { if (link.up && view.story && !view.story.outcome) change("story"); }, CLOCK_EVERY_MS); // the clock of a turn runs while nothing comes
  $("stop").prepend(icon("stop"));
  $("stop").addEventListener("click", () => view.thread && send({ type: "stop", channel: view.thread.channel, thread_ts: view.thread.ts }));
  $("turn").addEventListener("change", () => { view.turn = $("turn").value; change("inside"); page.now(); });
  $("export").addEventListener("click", () => view.story && send({ type: "export", turn: view.story.key }));
  $("pick").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => { replay($("file").files[0]); $("file").value = ""; });
  for (const button of document.querySelectorAll(".views button")) button.addEventListener("click", () => { look(button.dataset.view); page.now(); });
  let within = 0;
  const over = (change) => { within = Math.max(0, within + change); $("drop").hidden = within === 0; };
  addEventListener("dragenter", (event) => { event.preventDefault(); over(1); });
  addEventListener("dragleave", () => over(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { event.preventDefault(); over(-within); replay(event.dataTransfer?.files[0]); });
}

listen();
look("room");
link.connect();
