// The page: keeps what the playground tells it, and shows it. All it knows comes over one web socket: first a
// snapshot of everything, then what changes. What the visitor does goes the other way and comes back as change.

import { h, icon, stickToEnd } from "./dom.js";
import { MessageView } from "./thread.js";
import { Lanes } from "./lanes.js";
import { TurnStory, rows, seconds } from "./facts.js";

const $ = (id) => document.getElementById(id);
const TONES = 4;
const RECONNECT_MS = 1000;

const told = { people: {}, channels: [], bot: { user_id: "", name: "slack_bot" }, messages: new Map(), statuses: new Map(), stories: new Map(), suggestions: [] };
const view = { me: "", place: "", thread: null, turn: "follow" };
const world = { names: {}, person, press, open: (message) => openThread(message.channel, message.thread_ts ?? message.ts) };
const lanes = new Lanes($("lanes"));
let socket = null;

// -- what the playground tells

const TELLS = {
  snapshot(all) {
    Object.assign(told, { people: Object.fromEntries(all.people.map((one) => [one.id, one])), channels: all.channels, bot: all.bot, suggestions: all.suggestions });
    world.names = { ...Object.fromEntries(all.people.map((one) => [one.id, one.name])), [all.bot.user_id]: all.bot.name };
    told.messages = new Map();
    told.statuses = new Map();
    told.stories = new Map();
    for (const message of all.messages) keep(message);
    for (const status of all.statuses) told.statuses.set(threadKey(status.channel, status.thread_ts), status.text);
    for (const fact of all.facts) note(fact);
    if (!told.people[view.me]) view.me = all.people.find((one) => !one.virtual)?.id ?? "";
    if (!told.channels.some((channel) => channel.id === view.place)) view.place = told.channels[0]?.id ?? "";
    if (view.thread && !messagesOf(view.thread.channel).has(view.thread.ts)) view.thread = null;
    showAll();
    if (!document.body.dataset.ready && document.activeElement === document.body && innerWidth > 800) $("say-root").querySelector("textarea").focus();
    document.body.dataset.ready = "yes";
  },
  message({ message }) {
    keep(message);
    room.take(message);
    thread.take(message);
  },
  grow({ channel, ts, text }) {
    const message = messagesOf(channel).get(ts);
    if (message) TELLS.message({ message: { ...message, text: message.text + text } });
  },
  gone({ channel, ts }) {
    messagesOf(channel).delete(ts);
    showRoom();
    showThread();
  },
  status({ channel, thread_ts, text }) {
    told.statuses.set(threadKey(channel, thread_ts), text);
    showTyping();
    room.countReplies(channel, thread_ts);
  },
  fact({ fact }) {
    const story = note(fact);
    if (!story) return;
    if (watched(story) && !(fact.kind === "opened" && view.turn === "follow")) showFact(story, fact);
    if (fact.kind === "opened" || fact.kind === "closed") turnChanged(story, fact);
  },
  said({ channel, ts, thread_ts }) {
    if (!thread_ts) openThread(channel, ts);
  },
  choose({ name, keys }) { choose(name, keys); },
  refused({ text }) { complain(text); },
};

function keep(message) { messagesOf(message.channel).set(message.ts, message); }

function messagesOf(channel) {
  if (!told.messages.has(channel)) told.messages.set(channel, new Map());
  return told.messages.get(channel);
}

function note(fact) {
  if (fact.kind === "opened") told.stories.set(fact.turn, new TurnStory(fact));
  const story = told.stories.get(fact.turn);
  story?.add(fact);
  return story;
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/ws`);
  socket.addEventListener("open", () => complain(""));
  socket.addEventListener("message", (event) => {
    for (const tale of JSON.parse(event.data)) TELLS[tale.type]?.(tale);
  });
  socket.addEventListener("close", () => {
    complain("The playground has stopped. This page goes on when it is back.", true);
    setTimeout(connect, RECONNECT_MS);
  });
}

function send(order) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ user: view.me, ...order }));
}

// -- who and where

function person(id) {
  if (id === told.bot.user_id) return { name: told.bot.name, letter: "✳", tone: "bot", app: true };
  const one = told.people[id];
  const name = one?.name ?? id;
  return { name, letter: name.slice(0, 1).toUpperCase(), tone: one?.virtual ? "virtual" : Object.keys(told.people).indexOf(id) % TONES, app: false };
}

function threadKey(channel, ts) { return `${channel} ${ts}`; }
function rootOf(message) { return message.thread_ts ?? message.ts; }
function isRoot(message) { return rootOf(message) === message.ts; }
function mayRead(message) { return !message.for || message.for === view.me; }
function isDm(channel) { return told.channels.find((one) => one.id === channel)?.kind === "im"; }
function inOrder(messages) { return [...messages].sort((one, two) => (one.ts < two.ts ? -1 : 1)); }
function runningIn(channel, ts) { return [...told.stories.values()].some((story) => !story.outcome && story.channel === channel && story.thread === ts); }

function press(message, action, value) {
  send({ type: "press", channel: message.channel, ts: message.ts, action_id: action, value });
}

function openThread(channel, ts) {
  view.thread = { channel, ts };
  look("thread");
  showThread();
  showInside();
}

function look(name) {
  document.body.dataset.view = name;
  for (const button of document.querySelectorAll(".views button")) button.setAttribute("aria-pressed", String(button.dataset.view === name));
}

// -- messages in a column

class Column {
  constructor(box, { inThread, wants }) {
    this.box = box;
    this.inThread = inThread;
    this.wants = wants;
    this.stick = stickToEnd(box);
    this.views = new Map();
  }

  show(messages, empty) {
    this.views.clear();
    this.box.replaceChildren();
    for (const message of inOrder(messages)) if (this.wants(message)) this.place(message);
    if (this.views.size === 0) this.box.replaceChildren(...empty());
    this.stick.toEnd();
  }

  take(message) {
    if (this.views.has(message.ts)) this.views.get(message.ts).update(message);
    else if (this.wants(message)) this.place(message);
    if (!this.inThread && message.channel === view.place) this.countReplies(message.channel, rootOf(message));
    this.stick.follow();
  }

  place(message) {
    if (this.views.size === 0) this.box.replaceChildren();
    const made = new MessageView(message, world, { inThread: this.inThread });
    const after = [...this.views.values()].filter((one) => one.message.ts < message.ts).pop();
    if (after) after.node.after(made.node); else this.box.prepend(made.node);
    this.views.set(message.ts, made);
    if (!this.inThread) this.countReplies(message.channel, message.ts);
  }

  countReplies(channel, ts) {
    if (this.inThread || channel !== view.place) return;
    const count = [...messagesOf(channel).values()].filter((one) => rootOf(one) === ts && one.ts !== ts && mayRead(one)).length;
    this.views.get(ts)?.replies(count, runningIn(channel, ts));
  }
}

const room = new Column($("roots"), { inThread: false, wants: (message) => message.channel === view.place && isRoot(message) && mayRead(message) });
const thread = new Column($("thread"), { inThread: true,
  wants: (message) => view.thread && message.channel === view.thread.channel && rootOf(message) === view.thread.ts && mayRead(message) });

function showAll() {
  showPeople();
  showRoom();
  showThread();
  showInside();
}

function showRoom() {
  $("places").replaceChildren(...told.channels.filter((channel) => channel.kind !== "im" || channel.members.includes(view.me)).map((channel) =>
    h("button", { type: "button", class: "tab", "aria-pressed": String(channel.id === view.place), data: { channel: channel.id },
      on: { click: () => { view.place = channel.id; showRoom(); } } }, channel.kind === "im" ? "Direct message" : `# ${channel.name}`)));
  $("chips").replaceChildren(...told.suggestions.map(({ label, text }) =>
    h("button", { type: "button", class: "chip", title: text, on: { click: () => say(view.place, null, address(view.place) + text) } }, label)));
  room.show(messagesOf(view.place).values(), welcome);
  composers.root.visit();
}

function welcome() {
  return [h("div", { class: "welcome" },
    h("h2", { text: isDm(view.place) ? "Talk to the bot alone" : "Ask the bot something" }),
    h("p", { text: isDm(view.place) ? "No mention is needed here: every message of yours is a question."
      : "Mention @slack_bot, or take one of the questions below. The answer is written into a thread while the agent is still at work." }),
    h("p", { class: "dim", text: "On the right you see what the agent sent, what the bot decided and why, and what it told Slack. Drop a captured event file anywhere to replay it." }))];
}

function showThread() {
  const open = view.thread;
  $("thread-place").textContent = open ? (isDm(open.channel) ? "direct message" : `# ${told.channels.find((one) => one.id === open.channel)?.name ?? ""}`) : "";
  $("close-thread").hidden = !open;
  $("say-reply").hidden = !open;
  thread.show(open ? messagesOf(open.channel).values() : [], () => [h("div", { class: "welcome small" },
    h("p", { class: "dim", text: "No thread is open. Ask something, or open the replies of a message." }))]);
  composers.reply.visit();
  showTyping();
}

function showTyping() {
  const open = view.thread;
  const status = open ? told.statuses.get(threadKey(open.channel, open.ts)) ?? "" : "";
  const text = status ? `${told.bot.name} ${status}` : "";
  if ($("status").textContent !== text) $("status").textContent = text;
  $("status").classList.toggle("busy", Boolean(text));
  $("stop").hidden = !(open && runningIn(open.channel, open.ts));
}

function showPeople() {
  $("people").replaceChildren(...Object.values(told.people).filter((one) => !one.virtual).map((one) => {
    const { letter, tone } = person(one.id);
    return h("button", { type: "button", class: "who", "aria-pressed": String(one.id === view.me), title: `Be ${one.name}`, on: { click: () => become(one.id) } },
      h("span", { class: `face small face-${tone}`, "aria-hidden": "true", text: letter }), one.name);
  }));
}

function become(id) {
  const dm = told.channels.find((channel) => channel.kind === "im" && channel.members.includes(id));
  if (isDm(view.place) && dm) view.place = dm.id;
  view.me = id;
  if (view.thread && isDm(view.thread.channel) && view.thread.channel !== dm?.id) view.thread = null;
  showAll();
}

// -- the right side

function followed() {
  const stories = [...told.stories.values()];
  const here = view.thread ? stories.filter((story) => story.channel === view.thread.channel && story.thread === view.thread.ts) : stories;
  return here[here.length - 1];
}

function watched(story) {
  return view.turn === "all" || (view.turn === "follow" ? followed() === story : view.turn === story.key);
}

function turnChanged(story, fact) {
  showTyping();
  room.countReplies(story.channel, story.thread);
  if (fact.kind === "opened" && view.turn === "follow" && watched(story)) showInside();
  else showTurns();
  const here = view.thread?.channel === story.channel && view.thread.ts === story.thread;
  if (fact.kind === "closed" && here) $("spoken").textContent = `${told.bot.name}: ${fact.outcome}, after ${seconds(fact.at - story.began)}.`;
}

function showTurns() {
  const short = (story) => `${story.text.replace(/\s+/g, " ").slice(0, 42)}${story.outcome ? ` (${story.outcome})` : ""}`;
  const option = (value, text) => h("option", { value, selected: value === view.turn, text });
  $("turn").replaceChildren(option("follow", "Follow the thread"), option("all", "All turns"),
    ...[...told.stories.values()].reverse().map((story) => option(story.key, short(story))));
}

function showInside() {
  showTurns();
  const shown = [...told.stories.values()].filter(watched);
  lanes.show(shown.flatMap((story) => story.facts.map((fact) => [story, fact])).sort((one, two) => one[1].n - two[1].n)
    .flatMap(([story, fact]) => rows(fact, story.began)));
  showStory(shown[shown.length - 1]);
}

function showFact(story, fact) {
  for (const row of rows(fact, story.began)) lanes.add(row);
  showStory(story);
}

const narration = stickToEnd($("narration"));

function showStory(story) {
  $("figures").hidden = !story;
  $("figures").replaceChildren(...(story ? story.figures() : []).map(([label, value]) =>
    h("div", { data: label === "outcome" ? { outcome: value } : {} }, h("span", { text: label }), h("b", { text: String(value) }))));
  const thoughts = story?.thoughts ?? [];
  while ($("narration").childElementCount > thoughts.length) $("narration").lastElementChild.remove();
  thoughts.forEach((thought, index) => {
    const line = $("narration").children[index] ?? $("narration").appendChild(h("p", {}, h("time"), h("span")));
    const [time, text] = line.children;
    time.textContent = seconds(thought.at - story.began);
    if (text.textContent !== thought.text) text.textContent = thought.text;
  });
  $("thinking").classList.toggle("none", thoughts.length === 0);
  narration.follow();
}

// -- what the visitor does

function address(channel) { return isDm(channel) ? "" : `@${told.bot.name} `; }

function say(channel, ts, text) {
  const plain = text.replaceAll(`@${told.bot.name}`, `<@${told.bot.user_id}>`).trim();
  if (plain && plain !== `<@${told.bot.user_id}>`) send({ type: "say", channel, thread_ts: ts, text: plain });
}

function composer(form, label, where) {
  const field = h("textarea", { rows: "1", "aria-label": label, placeholder: label });
  const fit = () => { field.style.height = "auto"; field.style.height = `${Math.min(field.scrollHeight + 2, 160)}px`; };
  let place = "";
  const clear = () => { field.value = where() ? address(where().channel) : ""; fit(); };
  const visit = () => {
    const here = where();
    const key = here ? `${here.channel} ${here.ts}` : "";
    if (key !== place) clear();
    place = key;
  };
  const submit = () => {
    const here = where();
    if (!here || !field.value.trim()) return;
    say(here.channel, here.ts, field.value);
    clear();
  };
  field.addEventListener("input", fit);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  form.append(field, h("button", { type: "submit", class: "bare", "aria-label": "Send" }, icon("send")));
  return { visit };
}

const composers = {
  root: composer($("say-root"), "Message", () => (view.place ? { channel: view.place, ts: null } : null)),
  reply: composer($("say-reply"), "Reply in the thread", () => view.thread),
};

let dropped = null;

async function replay(file) {
  if (!file) return;
  if (file.size > 32 * 1024 * 1024) { complain(`${file.name} is larger than 32 MB.`); return; }
  dropped = { type: "replay", name: file.name, text: await file.text(), speed: Number($("speed").value) };
  send(dropped);
}

function choose(name, keys) {
  $("choose-note").textContent = `${name} holds several. Each can be replayed by itself.`;
  $("keys").replaceChildren(...keys.map((key) =>
    h("button", { type: "button", class: "chip", on: { click: () => { $("choose").close(); send({ ...dropped, key }); } } }, key)));
  $("choose").showModal();
}

let complaint = 0;

function complain(text, stays = false) {
  clearTimeout(complaint);
  $("notice").textContent = text;
  $("notice").hidden = !text;
  if (text && !stays) complaint = setTimeout(() => complain(""), 9000);
}

function listen() {
  $("close-thread").append(icon("close"));
  $("close-thread").addEventListener("click", () => { view.thread = null; look("room"); showThread(); showInside(); });
  $("stop").prepend(icon("stop"));
  $("stop").addEventListener("click", () => view.thread && send({ type: "stop", channel: view.thread.channel, thread_ts: view.thread.ts }));
  $("turn").addEventListener("change", () => { view.turn = $("turn").value; showInside(); });
  $("pick").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => { replay($("file").files[0]); $("file").value = ""; });
  for (const button of document.querySelectorAll(".views button")) button.addEventListener("click", () => look(button.dataset.view));
  let within = 0;
  const over = (change) => { within = Math.max(0, within + change); $("drop").hidden = within === 0; };
  addEventListener("dragenter", (event) => { event.preventDefault(); over(1); });
  addEventListener("dragleave", () => over(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { event.preventDefault(); over(-within); replay(event.dataTransfer?.files[0]); });
}

listen();
look("room");
connect();
