// What the page knows: people, conversations, messages, turns. Updates of the playground change it; nothing here
// draws.

import { TurnStory } from "./facts.js";

/** This window of the page, as no other is called. A modal opens in the window in which something was pressed. */
export const WINDOW = crypto.getRandomValues(new Uint32Array(2)).join("-");

const TONES = 4;
const A_DAY = 86_400; // seconds
const STORIES_KEPT = 30; // as many as the playground keeps

export class Model {
  constructor() {
    this.bot = { user_id: "", name: "slack_bot" };
    this.names = {};
    this.modals = {}; // by person and window
    this.read = new Map(); // by person and conversation: the ts up to which it was seen
    this.begin({ people: [], channels: [], messages: [], statuses: [], facts: [], suggestions: [], homes: {}, prompts: [], modals: {}, agent: null, now: 0, bot: this.bot });
  }

  /** Begin anew with a snapshot. */
  begin(all) {
    const { channels, bot, suggestions, agent, now, homes } = all;
    Object.assign(this, { channels, bot, suggestions, agent, now, homes, receivedAt: performance.now() });
    this.isElsewhere = Boolean(all.bot_elsewhere);
    this.modals = Object.fromEntries(Object.entries(all.modals).map(([user, open]) => [user, open[""] && open[""].id !== this.modals[user]?.[""]?.id ? { ...open, "": null } : open]));
    this.people = Object.fromEntries(all.people.map((one) => [one.id, one]));
    this.names = { ...Object.fromEntries(all.people.map((one) => [one.id, one.name])), [bot.user_id]: bot.name };
    this.messages = new Map();
    this.statuses = new Map(all.statuses.map((one) => [threadKey(one.channel, one.thread_ts), one]));
    this.prompts = new Map(all.prompts.map((one) => [threadKey(one.channel, one.thread_ts), one.prompts]));
    this.stories = new Map();
    for (const message of all.messages) this.keep(message);
    for (const fact of all.facts) this.note(fact);
  }

  /** Whether it was not known before. */
  keep(message) {
    const known = this.messagesOf(message.channel);
    const isNew = !known.has(message.ts);
    known.set(message.ts, message);
    return isNew;
  }

  messagesOf(channel) {
    if (!this.messages.has(channel)) this.messages.set(channel, new Map());
    return this.messages.get(channel);
  }

  note(fact) {
    if (fact.kind === "opened" || fact.kind === "ignored") this.stories.set(fact.turn, new TurnStory(fact));
    if (this.stories.size > STORIES_KEPT) this.stories.delete(this.stories.keys().next().value);
    const story = this.stories.get(fact.turn);
    story?.add(fact);
    return story;
  }

  /** What a person has open here. One that no page has asked for ("") is open in all windows that were there when it opened. */
  modalOf(user) { return this.modals[user]?.[WINDOW] ?? this.modals[user]?.[""] ?? null; }

  get channelNames() { return Object.fromEntries(this.channels.map((one) => [one.id, one.name])); }

  get here() { return Object.values(this.people).filter((one) => !one.virtual); }

  person(id) {
    if (id === this.bot.user_id) return { name: this.bot.name, letter: "", tone: "bot", app: true };
    const one = this.people[id];
    const name = one?.name ?? id;
    return { name, letter: name.slice(0, 1).toUpperCase(), tone: one?.virtual ? "virtual" : Math.max(0, Object.keys(this.people).indexOf(id)) % TONES, app: false };
  }

  /** Who a message is by: its author, with the name and the picture that the app gave, where it gave any. */
  authorOf(message) {
    const { username, icon_emoji: emoji, icon_url: url } = message.look ?? {};
    const author = this.person(message.author);
    if (!username && !emoji && !url) return author;
    const name = username || author.name;
    return { ...author, name, letter: name.slice(0, 1).toUpperCase(), emoji: emoji?.replaceAll(":", "") ?? "", looked: Boolean(url) };
  }

  channel(id) { return this.channels.find((one) => one.id === id); }
  isDm(id) { return this.channel(id)?.kind === "im"; }
  placesOf(me) { return this.channels.filter((one) => one.kind !== "im" || one.members.includes(me)); }
  directOf(me) { return this.channels.find((one) => one.kind === "im" && one.members.includes(me)); }

  /** Who is there: people, and apps beside them. */
  crowd(id) {
    const members = this.channel(id)?.members ?? [];
    const people = members.filter((one) => this.people[one]?.virtual === false).length;
    return [[people, "people", "person"], [members.length - people, "apps", "app"]].filter(([count]) => count).map(([count, several, one]) => `${count} ${count === 1 ? one : several}`).join(", ");
  }

  /** Nobody but this person and apps has written in a thread: there the bot needs no mention. */
  isAlone(me, channel, root) {
    const people = [...this.messagesOf(channel).values()].filter((one) => rootOf(one) === root && !one.gone && !this.authorOf(one).app);
    return people.every((one) => one.author === me);
  }

  /** Somebody has told the bot to listen no longer in this thread, and nobody has mentioned it since. */
  isQuiet(channel, root) {
    const all = [...this.messagesOf(channel).values()].filter((one) => rootOf(one) === root).sort((one, other) => (one.ts < other.ts ? -1 : 1));
    const end = all.findLastIndex((one) => one.ends_listening);
    return end >= 0 && !all.slice(end).some((one) => one.text.includes(`<@${this.bot.user_id}>`) && !this.authorOf(one).app);
  }

  title(id) { return this.isDm(id) ? this.bot.name : this.channel(id)?.name ?? ""; }

  repliesTo(channel, ts) {
    return [...this.messagesOf(channel).values()].filter((one) => rootOf(one) === ts && one.ts !== ts && !one.for);
  }

  /** The thread of a channel that began last; undefined where nobody has replied. */
  lastThreadOf(channel) {
    return [...this.messagesOf(channel).values()].filter((one) => isRoot(one) && this.repliesTo(channel, one.ts).length).map((one) => one.ts).sort().at(-1);
  }

  /** The bot answered in this thread a day ago, before the playground began: it knows nothing of that any more. */
  isPast(channel, ts) {
    if (this.isElsewhere) return false;
    const answers = this.repliesTo(channel, ts).filter((one) => one.author === this.bot.user_id);
    return answers.length > 0 && answers.every((one) => Number(one.ts) <= Date.now() / 1000 - A_DAY);
  }

  runningIn(channel, ts) {
    if (this.isElsewhere) return this.looksBusy(channel, ts);
    return [...this.stories.values()].some((story) => !story.outcome && story.channel === channel && story.thread === ts);
  }

  /** No facts come of a bot that is another process: what Slack shows tells that it works. */
  looksBusy(channel, ts) {
    return Boolean(this.statuses.get(threadKey(channel, ts))?.text)
      || [...this.messagesOf(channel).values()].some((one) => rootOf(one) === ts && one.state === "streaming");
  }

  /** The turn that wrote a message of the bot, or that a person's message led to. */
  turnOf(message) {
    const here = [...this.stories.values()].filter((story) => story.channel === message.channel && story.thread === rootOf(message));
    return here.find((story) => story.ts === message.ts) ?? here.findLast((story) => message.author === this.bot.user_id && story.ts < message.ts);
  }

  // -- what was read

  seen(me, channel) {
    const last = [...this.messagesOf(channel).keys()].reduce((one, other) => (one > other ? one : other), "");
    this.read.set(`${me} ${channel}`, last);
  }

  seenAll() { for (const one of this.here) for (const place of this.placesOf(one.id)) this.seen(one.id, place.id); }

  /** Up to where a person has read, where something is unread; else null. */
  unreadSince(me, channel) { return this.unread(me, channel) ? this.read.get(`${me} ${channel}`) ?? "" : null; }

  /** How many messages of a conversation a person has not seen: in a channel those that begin threads. */
  unread(me, channel) {
    const since = this.read.get(`${me} ${channel}`) ?? "";
    const counts = (one) => one.ts > since && one.author !== me && mayRead(one, me) && (this.isDm(channel) || isRoot(one));
    return [...this.messagesOf(channel).values()].filter(counts).length;
  }
}

export function threadKey(channel, ts) { return `${channel} ${ts}`; }
export function rootOf(message) { return message.thread_ts ?? message.ts; }
export function isRoot(message) { return rootOf(message) === message.ts; }
export function mayRead(message, me) { return !message.for || message.for === me; }
