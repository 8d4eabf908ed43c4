// The page. Everything comes over one web socket: first a snapshot, then updates. What the visitor does goes the
// other way as an order and comes back as updates.
//
// An update changes the `model` and marks what has to be drawn (`due`); `draw` draws it, once a frame.

import { h, icon } from "./dom.js";
import { paced, scrollAll } from "./frames.js";
import { Link } from "./link.js";
import { faceNode } from "./faces.js";
import { Composer } from "./composer.js";
import { Column } from "./column.js";
import { FaultPanel, save } from "./faults.js";
import { Inside } from "./inside.js";
import { Model, WINDOW, isRoot, mayRead, rootOf, threadKey } from "./model.js";
import { Replay } from "./replay.js";
import { showChips, showHome, showTabs, suggested } from "./prompts.js";
import { Sidebar } from "./sidebar.js";
import { Deeds } from "./deeds.js";
import { takeDrops } from "./drop.js";
import { visitor } from "./drafts.js";
import { read, written } from "./address.js";
import { Modal } from "./modal.js";
import { paneKeys, typeAnywhere } from "./panes.js";
import { roving } from "./roving.js";
import { themeSwitch } from "./theme.js";
import { slackText } from "./text.js";

const $ = (id) => document.getElementById(id);
const byId = (...ids) => Object.fromEntries(ids.map((id) => [id, $(id)]));
const DRAWN_EVERY_MS = 80;
const CLOCK_EVERY_MS = 100;
const CHIPS_AT_ONCE = 7;
const ENDED_AFTER_MS = 4000; // a connection that is lost for longer may not come back by itself
const BESIDE = matchMedia("(min-width: 75.01rem)"); // a thread stands beside its channel

const model = new Model();
const view = { me: "", place: "", tab: "messages", thread: null, known: false, since: null }; // since: up to where the visitor had read when they came
const due = { parts: new Set(), messages: new Map(), roots: new Map() };
const page = paced(draw, DRAWN_EVERY_MS);
const world = { get names() { return model.names; }, get channels() { return model.channelNames; }, person: (id) => model.person(id), authorOf: (message) => model.authorOf(message), bot: () => model.bot.user_id, me: () => view.me, act, deeds: (message, shown) => deeds.of(message, shown), react: (message, name) => deeds.react(message, name), people: named,
  fill: (message, name, given) => send({ type: "fill", channel: message.channel, ts: message.ts, name, given }),
  open: (message) => { openThread(message.channel, rootOf(message)); page.now(); composers.reply.field.focus(); } };
const deeds = new Deeds(model, { me: () => view.me, send, open: world.open, lookInside: (story) => { openThread(story.channel, story.thread); inside.open(true); inside.choose(story.key); } });
const sidebar = new Sidebar({ places: $("places"), people: $("people") }, model, { choose: choosePlace, become });
const inside = new Inside(byId("inside", "inside-open", "inside-here", "inside-close", "leave-inside", "inside-tabs", "menu", "past", "past-title", "turns", "figures", "sent", "sent-note", "sent-parts", "thinking", "narration", "story", "raw", "export"), model, {
  place: () => view.thread ?? (view.tab === "home" ? null : { channel: view.place }), opened: () => { change("inside", "sizes"); page.now(); }, chosen: () => { change("inside"); keepAddress(); page.now(); } });
const modal = new Modal($("modal"), { names: () => model.names, submit: (values, window) => send({ type: "submit", values, window }), close: (window) => send({ type: "close", window }) });
const faultPanel = new FaultPanel($("fault-panel"), $("faults"), send, demo);
const replay = new Replay(byId("pick", "file", "speed", "choose", "choose-note", "keys"), { send, isUp: () => link.up, complain });
const link = new Link((updates) => { for (const update of updates) HANDLERS[update.type]?.(update); page.ask(); }, linkChanged);

// -- updates

const HANDLERS = {
  snapshot(all) {
    model.begin(all);
    faultPanel.show(all.faults);
    document.body.classList.toggle("bot-elsewhere", all.bot_elsewhere);
    $("where").textContent = all.bot_elsewhere ? "An emulated Slack. The bot that connects to it answers here. It is a process of its own, so there is no “Inside the bot”: slack-bot play has that, and slack-bot explain tells of an answer that the bot has kept." : model.agent ? `Asks ${model.agent} and writes to an emulated Slack.` : "The real bot, a real A2A agent, an emulated Slack. Nothing leaves this machine.";
    if (!model.people[view.me]) view.me = visitor.get("me");
    if (!model.here.some((one) => one.id === view.me)) view.me = model.here[0]?.id ?? "";
    if (!model.channel(view.place)) view.place = model.channels[0]?.id ?? "";
    if (!view.known) model.seenAll();
    if (!view.known && location.hash) visitAddress();
    else if (!view.known) showLastThread();
    view.known = true;
    if (view.thread && !model.messagesOf(view.thread.channel).has(view.thread.ts)) leaveThread();
    modal.show(model.modalOf(view.me));
    change("people", "room", "thread", "inside");
  },
  message({ message }) {
    const isNew = model.keep(message);
    if (isNew) change("places", "prompts", "typing");
    if (isNew && standsBehind(message)) { const left = view.thread; leaveThread(); view.left = left; change("thread", "inside"); }
    else if (isNew && goesOn(message)) openThread(message.channel, rootOf(message));
    if (model.isElsewhere) change("typing"); // an answer may have begun or ended
    due.messages.set(`${message.channel} ${message.ts}`, message);
    recount(message.channel, rootOf(message));
  },
  grow({ channel, ts, text }) {
    const message = model.messagesOf(channel).get(ts);
    if (message) HANDLERS.message({ message: { ...message, text: message.text + text } });
  },
  gone({ channel, ts }) {
    model.messagesOf(channel).delete(ts);
    due.messages.delete(`${channel} ${ts}`);
    if (view.thread?.ts === ts && model.repliesTo(channel, ts).length === 0) leaveThread();
    change("places", "room", "thread");
  },
  status({ channel, thread_ts, text, name }) {
    model.statuses.set(threadKey(channel, thread_ts), { text, name });
    recount(channel, thread_ts);
    change("typing");
  },
  fact({ fact }) {
    const story = model.note(fact);
    if (!story) return;
    if (["opened", "closed", "ignored"].includes(fact.kind)) turnChanged(story, fact);
    if (!inside.watches(story)) return;
    inside.story = story;
    change("story");
    if (!due.parts.has("inside")) inside.add(fact, story);
  },
  said({ channel, ts, thread_ts }) {
    (thread_ts ? thread : room).stick.toEnd(); // as in Slack, who writes sees it
    if (thread_ts) return;
    view.since = null;
    room.endNews();
    const message = model.messagesOf(channel).get(ts);
    const isAsked = model.isDm(channel) || message?.author !== view.me || message.text.includes(`<@${model.bot.user_id}>`);
    if (!isAsked) return; // an answer in a thread is to be expected of a question only
    const wasTyping = document.activeElement === composers.root.field || $("chips").contains(document.activeElement);
    openThread(channel, ts);
    page.now();
    if (wasTyping && !composers.root.field.checkVisibility()) composers.reply.field.focus();
  },
  prompts({ channel, thread_ts, prompts }) {
    model.prompts.set(threadKey(channel, thread_ts), prompts);
    change("prompts");
  },
  home({ user, home }) {
    model.homes[user] = home;
    if (user === view.me) change("home");
  },
  modals({ user, modals }) {
    model.modals[user] = modals;
    if (user === view.me) modal.show(model.modalOf(user));
  },
  faults(update) { faultPanel.show(update.faults); },
  tape({ name, text }) { save(name, text); },
  choose({ name, keys }) { replay.choose(name, keys); },
  taken({ n }) { link.settle(n, true); },
  refused({ n, text }) {
    if (!link.settle(n, false, text)) complain(text);
  },
};

/** What only the visitor sees of a question that was not taken: it stands in the channel, not in the question's thread, which stays empty. */
function standsBehind(message) {
  const open = view.thread;
  return open?.channel === message.channel && message.for === view.me && isRoot(message) && message.ts > open.ts && !model.repliesTo(open.channel, open.ts).length;
}

/** A question that waited is answered, and its visitor is still where it was asked, or at the page of a sign-in. */
function goesOn(message) {
  const left = view.left;
  return left && !view.thread && view.tab === "messages" && view.place === left.channel && message.channel === left.channel && message.thread_ts === left.ts && !message.for;
}

function recount(channel, root) { due.roots.set(threadKey(channel, root), [channel, root]); }

/** A turn begins or ends: what is watched may be another one, and somebody who cannot see it hears of it. */
function turnChanged(story, fact) {
  recount(story.channel, story.thread);
  change("typing", "inside");
  if (fact.kind === "ignored" || story.user !== view.me) return;
  $("spoken").textContent = fact.kind === "opened" ? `${model.bot.name} begins to answer.` : `The answer is over: ${fact.outcome}.`;
}

// -- drawing

function change(...parts) { for (const part of parts) due.parts.add(part); page.ask(); }

const DRAWERS = {
  people() { sidebar.showPeople(view.me); change("places"); },
  room: showRoom,
  places() { if (roomIsSeen()) model.seen(view.me, view.place); sidebar.showPlaces(view.me, view.place); showTitle(); },
  home() { if (!$("home").hidden) showHome($("home"), model, view.me, (element, value) => send({ type: "press_home", action_id: element.action_id, value }), (element, given) => send({ type: "fill_home", name: element.action_id, given })); },
  thread() { showThread(); change("typing", "prompts"); },
  prompts: showPrompts,
  typing: showTyping,
  inside() { inside.showLanes(); inside.showTurns(); change("story"); },
  story() { inside.showStory(); },
};

function draw() {
  const parts = new Set(due.parts);
  for (const name of Object.keys(DRAWERS)) {
    if (!due.parts.has(name)) continue;
    DRAWERS[name]();
    for (const more of due.parts) parts.add(more);
    due.parts.delete(name);
  }
  if (!parts.has("room")) for (const message of due.messages.values()) room.take(message);
  if (!parts.has("thread")) for (const message of due.messages.values()) thread.take(message);
  if (view.thread && due.messages.size) composers.reply.visit();
  for (const [channel, ts] of due.roots.values()) room.countReplies(channel, ts);
  inside.draw();
  for (const box of document.querySelectorAll("[data-sends]")) box.disabled = !link.up;
  scrollAll(parts.has("sizes"));
  due.parts.clear();
  due.messages.clear();
  due.roots.clear();
  if (!document.body.dataset.ready && link.up) begin();
}

function begin() {
  document.body.dataset.ready = "yes";
  if (document.activeElement === document.body && innerWidth > 800) composers.root.field.focus();
}

function roomIsSeen() { return document.visibilityState === "visible" && view.tab === "messages"; }

// -- where the visitor is

function act(message, block, element, value) {
  send({ type: "press", channel: message.channel, ts: message.ts, action_id: element.action_id, value });
}

/** A thread of another channel comes with it: a replay begins in its own, wherever the visitor is. */
function openThread(channel, ts) {
  if (view.place !== channel) {
    [view.place, view.tab] = [channel, "messages"];
    change("room", "places");
  }
  view.thread = { channel, ts };
  view.left = null;
  openMenu(false);
  look("thread");
  change("thread", "inside");
  keepAddress();
}

/** Where the thread covered its channel, the focus goes to what leads into it again. */
function closeThread() {
  const { ts } = view.thread;
  view.thread = null;
  look("room");
  change("thread", "inside");
  keepAddress();
  page.now();
  const from = BESIDE.matches ? null : room.views.get(ts)?.threadLine.node;
  (from?.checkVisibility() ? from : composers.root.field).focus();
}

function choosePlace(channel) {
  if (view.thread && view.thread.channel !== channel) view.thread = null;
  [view.place, view.tab, view.since] = [channel, "messages", model.unreadSince(view.me, channel)];
  look(view.thread ? "thread" : "room");
  openMenu(false);
  visitApp();
  change("room", "places", "thread", "inside");
  keepAddress();
  page.now();
  if (composers.root.field.checkVisibility()) composers.root.field.focus();
}

function chooseTab(tab) {
  view.tab = tab;
  if (tab === "home") { view.thread = null; look("room"); change("thread"); }
  visitApp();
  keepAddress();
  change("room");
  page.now();
}

/** Slack tells the app when somebody comes to its Home tab or to their direct messages. */
function visitApp() { if (model.isDm(view.place) && link.up) send({ type: "home", tab: view.tab }); }

function keepAddress() {
  const address = written({ ...view, turn: inside.isOpen ? inside.named : null });
  if (location.hash !== address) history.pushState(null, "", address);
}

/** Go to the address; to a direct message as the person it belongs to. */
function visitAddress() {
  const { place, ts, tab, turn } = read(location.hash);
  const channel = model.channel(place);
  const reader = channel?.kind !== "im" || channel.members.includes(view.me) ? view.me : channel.members.find((one) => model.people[one]?.virtual === false);
  view.thread = null;
  if (channel && reader) {
    [view.me, view.place, view.tab] = [reader, place, channel.kind === "im" ? tab : "messages"];
    if (model.messagesOf(place).has(ts)) view.thread = { channel: place, ts };
    else if (ts) complain("The thread of this address is not here any more: a playground that has ended keeps nothing.");
    if (view.thread && model.stories.has(turn)) { inside.turn = turn; inside.open(true); }
  }
  visitApp();
  look(view.thread ? "thread" : "room");
  change("people", "room", "thread", "inside");
}

/** A page without an address shows the last thread that everybody may read. What was answered before this playground began must not hide the channel. */
function showLastThread() {
  const last = [...model.stories.values()].findLast((story) => !model.isDm(story.channel) && model.messagesOf(story.channel).has(story.thread));
  const [channel, ts] = last ? [last.channel, last.thread] : [view.place, BESIDE.matches ? model.lastThreadOf(view.place) : undefined];
  if (!ts) return;
  view.place = channel;
  view.thread = { channel, ts };
  look("thread");
}

/** The thread was deleted, or nothing will come there: its draft moves to the channel, and so does the focus. */
function leaveThread() {
  const draft = composers.reply.draft(), wasTyping = document.activeElement === composers.reply.field;
  view.thread = null;
  keepAddress();
  look("room");
  const begun = composers.root.draft();
  if (draft) composers.root.write(begun ? `${begun}\n${draft.replace(`@${model.bot.name} `, "")}` : draft);
  if (wasTyping) composers.root.field.focus();
}

function look(name) {
  document.body.dataset.view = name;
  change("sizes");
}

function openMenu(open) {
  document.body.classList.toggle("menu-open", open);
  $("veil").hidden = !open;
  $("menu").setAttribute("aria-expanded", String(open));
}

function become(id) {
  const dm = model.directOf(id);
  if (model.isDm(view.place) && dm) view.place = dm.id;
  visitor.set("me", id);
  [view.me, view.since] = [id, model.unreadSince(id, view.place)];
  openMenu(false);
  if (view.thread && model.isDm(view.thread.channel) && view.thread.channel !== dm?.id) { view.thread = null; look("room"); }
  if (!model.isDm(view.place)) view.tab = "messages";
  else visitApp();
  modal.show(model.modalOf(id));
  keepAddress();
  change("people", "room", "thread", "inside");
  page.now();
}

// -- messages

const room = new Column($("roots"), world, { replies: (channel, ts) => ({ replies: model.repliesTo(channel, ts), isLive: model.runningIn(channel, ts) }),
  wants: (message) => message.channel === view.place && isRoot(message) && mayRead(message, view.me) });
const thread = new Column($("thread"), world, {
  wants: (message) => view.thread && message.channel === view.thread.channel && rootOf(message) === view.thread.ts && mayRead(message, view.me) });

function showRoom() {
  const isDm = model.isDm(view.place);
  $("place-title").replaceChildren(...placeName(view.place));
  $("place-about").textContent = isDm ? "Direct message" : model.crowd(view.place);
  const isHome = isDm && view.tab === "home";
  $("tabs").hidden = !isDm;
  $("place-about").hidden = isDm;
  $("home").hidden = !isHome;
  for (const id of ["roots", "chips", "say-root"]) $(id).hidden = isHome;
  if (isDm) showTabs($("tabs"), view.tab, chooseTab);
  room.show(model.messagesOf(view.place).values(), { head: [welcome()], since: view.since });
  composers.root.visit();
  showWayBack();
  change("places", "home", "prompts");
}

/** As in Slack: where one is, and whether something is unread elsewhere. */
function showTitle() {
  const unread = model.placesOf(view.me).filter((one) => one.id !== view.place).map((one) => [model.isDm(one.id), model.unread(view.me, one.id)]);
  const alone = unread.reduce((sum, [isDm, count]) => sum + (isDm ? count : 0), 0);
  document.title = `${alone ? `(${alone}) ` : unread.some(([, count]) => count) ? "* " : ""}${model.title(view.place)} - slack_bot playground`;
}

/** The name of a conversation, with its sign. */
function placeName(channel) {
  return [model.isDm(channel) ? faceNode(model.person(model.bot.user_id), true) : icon("hash"), h("span", { text: model.title(channel) })];
}

/** What can be asked with one click: what the bot suggests in its direct messages; in a channel the playground's questions. */
function showPrompts() {
  const here = { channel: view.place, ts: null };
  const own = suggested(model, view.place, "");
  const hasBegun = [...model.messagesOf(view.place).values()].some((one) => room.wants(one) && !model.isPast(one.channel, one.ts)); // then there are things to read
  const found = model.isDm(view.place) ? own : model.suggestions;
  showChips($("chips"), found, (text, { direct }) => (direct ? sayAlone(text) : say(here, begun(here) + text)), hasBegun ? 0 : CHIPS_AT_ONCE);
  const orTake = !found.length ? "" : hasBegun ? ", or take a question from “Try…”" : ", or take one of the questions below";
  for (const told of document.querySelectorAll(".welcome .or-take")) if (told.textContent !== orTake) told.textContent = orTake;
  const open = view.thread;
  const isFresh = open && !model.repliesTo(open.channel, open.ts).length;
  showChips($("prompts"), isFresh ? suggested(model, open.channel, open.ts) : [], (text) => say(open, text));
}

/** Where a conversation begins, as in Slack: what it is for. */
function welcome() {
  const isDm = model.isDm(view.place);
  return h("div", { class: "welcome" },
    h("h2", { text: isDm ? "Talk to the bot alone" : "Ask the bot something" }),
    isDm ? h("p", { text: "No mention is needed here: every message of yours is a question." })
      : h("p", {}, "Mention @slack_bot", h("span", { class: "or-take" }), ". The answer is written into a thread while the agent is still at work."),
    h("p", { class: "dim inside-note", text: "“Inside the bot” shows what the agent sent, what the bot decided and why, and what it told Slack. Drop a captured event file anywhere to replay it." }));
}

function showThread() {
  const open = view.thread;
  $("thread-place").textContent = open ? (model.isDm(open.channel) ? "direct message" : `# ${model.channel(open.channel)?.name ?? ""}`) : "";
  $("close-thread").hidden = $("leave-thread").hidden = $("skip-thread").hidden = !open;
  if (open) {
    $("leave-thread").replaceChildren(icon("back"), ...placeName(open.channel));
    $("leave-thread").setAttribute("aria-label", `Back to ${model.title(open.channel)}`);
  }
  $("say-reply").hidden = !open;
  thread.show(open ? model.messagesOf(open.channel).values() : [], { empty: [h("p", { class: "nothing dim", text: "No thread is open. Ask something, or open the replies of a message." })] });
  composers.reply.visit();
  showWayBack();
}

/** Where Inside covers everything else, its way back is named after what it covers. */
function showWayBack() {
  $("leave-inside").replaceChildren(icon("back"), ...(view.thread ? [h("span", { text: "Thread" })] : placeName(view.place)));
  $("leave-inside").setAttribute("aria-label", `Back to ${view.thread ? "the Thread" : model.title(view.place)}`);
}

function showTyping() {
  const open = view.thread;
  const status = open ? model.statuses.get(threadKey(open.channel, open.ts)) : null;
  const text = status?.text ? `${status.name || model.bot.name} ${status.text}` : "";
  const note = open && !text && model.isQuiet(open.channel, open.ts) ? `${model.bot.name} does not read along in this thread. Mention it, and it does again.` : text;
  if ($("status").textContent !== note) $("status").textContent = note;
  $("status").classList.toggle("busy", Boolean(text));
  composers.reply.busy(Boolean(open && model.runningIn(open.channel, open.ts)));
}

// -- what the visitor does

function send(order, settled) { return link.send({ user: view.me, window: WINDOW, ...order }, settled); }

function linkChanged(up, lost) {
  const words = lost < ENDED_AFTER_MS ? "Connection lost, reconnecting…"
    : `Still no connection. The playground may have ended: start it again with “slack-bot ${model.isElsewhere ? "workspace" : "play"}”. This page goes on trying.`;
  if (!up && $("link").textContent !== words) $("link").textContent = words;
  $("link").hidden = up;
  change("sizes");
  if (up) replay.goOn();
}

/** What a message begins with: a mention in a channel, and in a thread that the bot does not follow for this person. */
function begun({ channel, ts }) { return model.isDm(channel) || (ts && !model.isPast(channel, ts) && !model.isQuiet(channel, ts) && model.isAlone(view.me, channel, ts)) ? "" : `@${model.bot.name} `; }

function lacks(text) { return slackText(text, model) === `<@${model.bot.user_id}>` ? `Write your question after @${model.bot.name}.` : ""; }
function say(place, text, settled, files = []) { return send({ type: "say", channel: place.channel, thread_ts: place.ts, text: slackText(text, model), ...(files.length ? { files } : {}) }, settled); }

/** Ask in the visitor's own direct message. */
function sayAlone(text) {
  const { id: channel } = model.directOf(view.me);
  if (view.place !== channel) choosePlace(channel);
  say({ channel, ts: null }, text);
}

/** A question to an agent that is away; "Try again" heals it. */
function demo() { send({ type: "say", channel: view.place, thread_ts: null, text: slackText(`${begun({ channel: view.place, ts: null })}How does streaming work?`, model), away: true }); }

function named() { return [model.bot.user_id, ...model.here.map((one) => one.id).filter((id) => id !== view.me)].map((id) => model.person(id)); }

const writing = { begin: begun, lacks, send: say, people: named, complain, rewrite: ({ ts }) => deeds.rewriteLast(ts ? thread : room, composers[ts ? "reply" : "root"].field), named: ({ channel, ts }) => (ts ? "Reply…" : `Message ${model.isDm(channel) ? "" : "#"}${model.title(channel)}`) };
const composers = {
  root: new Composer($("say-root"), { ...writing, where: () => (view.place ? { channel: view.place, ts: null } : null) }),
  reply: new Composer($("say-reply"), { ...writing, where: () => view.thread, stop: ({ channel, ts }) => send({ type: "stop", channel, thread_ts: ts }) }),
};

/** Escape: the browser itself closes a dialog. */
function closeUppermost() {
  if (document.querySelector("dialog[open], :popover-open")) return;
  if ($("past").open) $("past").open = false;
  else if (!$("notice").hidden) complain("");
  else if (!$("veil").hidden) { openMenu(false); $("menu").focus(); }
  else if (inside.isOpen) inside.open(false);
  else if (view.thread) closeThread();
}

/** Each pane with the stop where the keyboard comes into it. */
function panes() {
  const [places, tab] = [$("places"), $("inside-tabs")].map((box) => box.querySelector("[tabindex='0']"));
  const [inRoom, inThread] = [[composers.root.field, $("home")], [composers.reply.field, $("thread")]].map((stops) => stops.find((one) => one.checkVisibility()));
  return [[$("side"), places], [document.querySelector(".pane.room"), inRoom], [$("inside"), tab], [document.querySelector(".pane.thread"), inThread]];
}

/** A link to a message of this workspace leads to it here. */
function followLink(event) {
  const found = /\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})(?:\?(?:.*&)?thread_ts=([\d.]+))?/.exec(event.target.closest?.("a")?.href ?? "");
  const [, channel, seconds, micros, root] = found ?? [];
  const message = found && model.messagesOf(channel).get(`${seconds}.${micros}`);
  if (!message) return;
  event.preventDefault();
  [view.place, view.tab] = [channel, "messages"];
  openThread(channel, root ?? rootOf(message));
  change("room");
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
  themeSwitch($("theme"));
  for (const [id, sign] of [["close-thread", "close"], ["menu", "menu"], ["pick", "file"]]) $(id).prepend(icon(sign));
  for (const id of ["places", "people"]) roving($(id), "list");
  for (const id of ["chips", "prompts", "tabs"]) roving($(id), "row");
  paneKeys(panes);
  typeAnywhere((node) => {
    const fields = [composers.root.field, composers.reply.field].filter((one) => one.checkVisibility());
    return fields.find((one) => one.closest(".pane") === node.closest(".pane")) ?? fields[0] ?? null;
  });
  $("skip-field").addEventListener("click", () => [composers.root.field, composers.reply.field, $("home")].find((one) => one.checkVisibility())?.focus());
  $("skip-thread").addEventListener("click", () => $("thread").focus());
  $("menu").addEventListener("click", () => { openMenu(true); $("places").querySelector("[tabindex='0']")?.focus(); });
  $("veil").addEventListener("click", () => openMenu(false));
  $("inside-open").addEventListener("click", () => openMenu(false), { capture: true }); // before the focus goes somewhere
  for (const id of ["close-thread", "leave-thread"]) $(id).addEventListener("click", closeThread);
  document.addEventListener("click", followLink);
  addEventListener("popstate", () => { visitAddress(); page.now(); });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) closeUppermost(); });
  setInterval(() => { if (link.up && inside.story && !inside.story.outcome) change("story"); }, CLOCK_EVERY_MS); // the clock of a turn runs while nothing comes
  $("export").addEventListener("click", () => inside.story && send({ type: "export", turn: inside.story.key }));
  takeDrops($("drop"), $("drop-says"), { composers: Object.values(composers), replay: (file) => replay.take(file), complain });
}

listen();
look("room");
link.connect();
