"""PURE. Turns Slack's events into questions, changes, stops and presses. No JSON makes a function here raise.

Slack sends a mention as two events (`app_mention` and `message`). It also sends the bot's own messages and
every change to them. Only a question may use up its dedupe key: if its ignored twin did, the mention would be
lost (facts: Slack 8, openclaw#34833).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..text.mrkdwn import to_text
from ..turn.files import slack_files
from ..turn.json_values import Object, first_of, has_halves, object_of, objects_of, text_in
from ..turn.people import Organisation
from ..turn.record import MESSAGE_TS, SPOKEN, Question, ThreadKey, is_direct

_SLACKBOT = "USLACKBOT"
_TEAM = re.compile(r"T[A-Z0-9]*\Z")
_HALF = re.compile(r"[\ud800-\udfff]")
_CHANNEL = re.compile(r"[CDG][A-Z0-9]+\Z")
_MOST_VIEWED = 5

NOT_FROM_PERSON = "another bot's message that does not mention the bot"
_NAMED = re.compile(r"<[@!]")  # a person, a group, or everybody


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The bot's user id (`U...`) and bot id (`B...`) in this workspace, its organisation, and its address."""

    user: str
    bot: str
    ours: Organisation = field(default_factory=Organisation)
    url: str = ""


@dataclass(frozen=True, slots=True)
class Asker:
    """The person or bot behind an event.

    `ids`: ids of the user, the bot and its app. `teams`: the workspaces and organisations that the event
    names with them. `is_shared`: whether the channel is shared with another organisation; None: Slack does
    not say.
    """

    user: str
    ids: frozenset[str]
    teams: frozenset[str]
    is_shared: bool | None = None

    def is_surely_of(self, ours: Organisation) -> bool:
        """Whether the event alone shows that they belong to our organisation."""
        if self.teams:
            return all(ours.has(team) for team in self.teams)
        return self.is_shared is False


@dataclass(frozen=True, slots=True)
class ThreadReply:
    """A reply without a mention of the bot.

    `names_others`: it mentions another person, a group or everybody.
    """

    question: Question
    names_others: bool = False


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A new message outside of threads that does not mention the bot. `names_others`: as of a reply."""

    question: Question
    names_others: bool = False


@dataclass(frozen=True, slots=True)
class MessageChanged:
    """A person has edited or deleted a message (`text` is None if it was deleted).

    `key` is the key that the message has as a question. `names_others`: the new text mentions others and not
    the bot, in a conversation where only messages with a mention are for the bot. `is_mention`: it mentions
    the bot, or is a direct message. `is_of_bot`: another bot wrote it. `has_same_text`: that bot changed only
    what stands beside the text.
    """

    key: str
    thread: ThreadKey
    user: str
    text: str | None
    names_others: bool = False
    is_mention: bool = False
    is_of_bot: bool = False
    has_same_text: bool = False


@dataclass(frozen=True, slots=True)
class Ignored:
    """A message that is not for the bot.

    `question`: the message as a question, if its author could have meant the bot.
    """

    reason: str
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class Press:
    """A control that a person pressed, or a modal that they sent (`is_modal`; it has no channel).

    - `name`: the action_id up to its "-", or the modal's callback_id.
    - `value`: the control's value, that of the chosen option, or the modal's private_metadata.
    - `turn`: the key of the turn that the value names; "" without one, or if it is of another channel.
    - `by`, `user`: the person. `bot`: the bot that posted the control.
    - `state`: Slack's `state.values`, what was filled in.
    - `trigger`: opens a modal within 3 seconds.
    - `private_url`: Slack's `response_url`, to change the message, if only this person sees it.
    """

    name: str
    value: str
    turn: str
    user: str
    by: Asker
    bot: BotIdentity
    team: str = ""
    channel: str = ""
    thread_ts: str = ""
    message_ts: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    trigger: str = ""
    private_url: str = ""
    is_modal: bool = False

    @property
    def workspace(self) -> str:
        """The id of the workspace of the bot; `team` is the person's."""
        return self.bot.ours.team or self.team


@dataclass(frozen=True, slots=True)
class Reaction:
    """A person added `emoji`, as Slack names it, to the message `ts`. `by`, `user`: that person.

    `event_ts`: when. `body`: Slack's JSON.
    """

    team: str
    channel: str
    ts: str
    emoji: str
    user: str
    by: Asker
    event_ts: str
    body: Object


@dataclass(frozen=True, slots=True)
class Visit:
    """A person opens the Home tab (`is_home`), the messages with the bot, or a new thread there."""

    user: str
    is_home: bool
    channel: str = ""
    thread_ts: str = ""


@dataclass(frozen=True, slots=True)
class StreamStarted:
    """A new stream of the bot has begun: the message `ts`."""

    thread: ThreadKey
    ts: str


Inbound: TypeAlias = Question | ThreadReply | ChannelMessage | MessageChanged | StreamStarted | Ignored


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """An `app_mention` or a `message`, read once.

    `reading`: what it is for the bot. `asker`: who is behind it. `body`: Slack's JSON.
    """

    reading: Inbound
    asker: Asker
    body: Object

    @property
    def event(self) -> Object:
        """Slack's event in the body."""
        return object_of(self.body.get("event"))


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A person stops the agent in a thread. `streams`: the `ts` of the streams that Slack closed for it."""

    thread: ThreadKey
    by: Asker
    user: str
    streams: frozenset[str]


def _without_halves(value: Any) -> Any:
    """A copy without halves of surrogate pairs, which a cut emoji leaves in JSON and no store or agent
    accepts.
    """
    if isinstance(value, str):
        return value if value.isascii() else _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _without_halves(each) for name, each in value.items()}
    return [_without_halves(each) for each in value] if isinstance(value, list) else value


class _Event:
    """The event in a body. `event[name]` is the text of a field, "" if it is missing or not a text."""

    def __init__(self, payload: Object) -> None:
        self._payload, self.raw = payload, object_of(payload.get("event"))
        self.is_ext_shared = payload.get("is_ext_shared_channel")
        self.asker = self["user"] or self["bot_id"]
        # the workspace of the installation: the same in both events of a mention
        installed = text_in(first_of(payload.get("authorizations")), "team_id")
        self.team = installed or text_in(payload, "team_id") or self["team"]

    def message(self, name: str) -> "_Event":
        """The message inside this event, for example `previous_message`, as an event in the same channel."""
        event = {**object_of(self.raw.get(name)), "channel": self.raw.get("channel")}
        return _Event({**self._payload, "event": event})

    def __getitem__(self, name: str) -> str:
        return text_in(self.raw, name)

    def is_of(self, bot: BotIdentity) -> bool:
        return self["user"] == bot.user or (bot.bot != "" and self["bot_id"] == bot.bot)

    def is_from_bot(self) -> bool:
        """Whether a bot, a workflow or Slackbot wrote it.

        An app's message names the bot even if it posts as a user.
        """
        names_bot = self["bot_id"] or self.raw.get("bot_profile")
        names_bot = names_bot or object_of(self.raw.get("user_profile")).get("is_bot")
        is_bot_id = self.asker[:1] == "B" or self.asker == _SLACKBOT
        return bool(names_bot) or is_bot_id or self["subtype"] == "bot_message"

    def sender(self) -> Asker:
        """The person or bot behind it, with all ids and teams that it names."""
        ids = {self["user"], self["bot_id"], self["app_id"]}
        teams = {self["user_team"], self["source_team"], self["team"]}
        teams |= {text_in(object_of(self.raw.get("bot_profile")), "team_id")}
        teams |= {text_in(object_of(self.raw.get("user_profile")), "team")}
        return _asker(self.asker, ids, teams, self.is_ext_shared)

    def question(self, text: str) -> Question:
        # on Grid `user_team` may be an enterprise (`E...`), which is no recipient
        teams = (self["user_team"], self["source_team"], self["team"])
        return Question(
            thread=ThreadKey(self.team, self["channel"], self["thread_ts"] or self["ts"]),
            ts=self["ts"],
            user=self.asker,
            user_team=next((team for team in teams if _TEAM.match(team)), self.team),
            text=text,
            asker_is_bot=self.is_from_bot(),
            is_ext_shared=_flag(self.is_ext_shared),
            files=slack_files(self.raw.get("files")),
            viewing=_channels_in(self.raw.get("app_context")) if is_direct(self["channel"]) else (),
        )


def _event_in(body: object) -> _Event:
    return _Event(object_of(_without_halves(body) if has_halves(body) else body))


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _asker(user: str, ids: set[str], teams: set[str], is_shared: object) -> Asker:
    return Asker(user, frozenset(ids - {""}), frozenset(teams - {""}), _flag(is_shared))


def teams_of(body: object) -> Iterator[str]:
    """The workspaces whose installation of the app may be the one that a body is for, the likeliest first.

    An event names it (`authorizations`). A press names the workspace of the person, who may be of another one
    (Slack Connect): so the author of the message, the turn of the control and the owner of a view come first.
    """
    payload = object_of(body)
    view, action = object_of(payload.get("view")), first_of(payload.get("actions"))
    if "event" in payload:
        yield text_in(first_of(payload.get("authorizations")), "team_id")
        yield text_in(payload, "team_id")
    if not view:
        chosen = text_in(object_of(action.get("selected_option")), "value")
        turn = (text_in(action, "value") or chosen).rpartition("|")[2].split(":")
        yield text_in(object_of(payload.get("message")), "team")
        yield turn[0] if len(turn) > 1 else ""
    yield text_in(view, "app_installed_team_id")
    yield text_in(object_of(payload.get("team")), "id")
    yield text_in(view, "team_id")
    yield text_in(object_of(payload.get("user")), "team_id")
    yield text_in(payload, "team_id")


def read_message(body: object, me: BotIdentity) -> MessageEvent:
    """Read an `app_mention` or a `message`. The text of a question that holds only the mention is ""."""
    event = _event_in(body)
    return MessageEvent(_reading(event, me), event.sender(), object_of(body))


def _reading(event: _Event, me: BotIdentity) -> Inbound:
    if (news := _stream_started(event, me) or _changed(event, me)) is not None:
        return news
    if (reason := _why_not(event, me)) is not None:
        return Ignored(reason)
    wording = without_mention(event["text"], me.user)
    is_mention = event["type"] == "app_mention" or wording != event["text"]
    is_dm = event["channel_type"] == "im" or is_direct(event["channel"])
    question = event.question(to_text(wording))
    if is_mention or (is_dm and not question.asker_is_bot):
        return question
    names_others = _NAMED.search(event["text"]) is not None
    if question.thread.ts == question.ts and not is_dm:
        return ChannelMessage(question, names_others)
    if question.asker_is_bot:
        return Ignored(NOT_FROM_PERSON, question)
    return ThreadReply(question, names_others)


def as_first_written(body: object, me: BotIdentity) -> MessageEvent | None:
    """Rebuild the event of an edited question as if it had been written like this at first.

    Returns None if the message is not a question, or was none before the edit. Slack keeps no order: an edit
    may come before its message, which then is ignored as a repetition.
    """
    before, now = (read_message(_of_change(body, name), me) for name in ("previous_message", "message"))
    kinds = {type(before.reading), type(now.reading)}
    return now if kinds in ({Question}, {ThreadReply}, {ChannelMessage}) else None


def read_gone(body: object, me: BotIdentity) -> MessageEvent:
    """Read the message that a person has deleted or emptied, as it was before."""
    return read_message(_of_change(body, "previous_message"), me)


def _of_change(body: object, name: str) -> dict[str, Any]:
    payload, event = object_of(body), object_of(object_of(body).get("event"))
    place = {"type": "message", "channel": event.get("channel"), "channel_type": event.get("channel_type")}
    return {**payload, "event": {**object_of(event.get(name)), **place, "edited": None}}


def read_stop(body: object) -> StopRequest | None:
    """Read an `agent_session_stopped`. Returns None without a thread."""
    event = _event_in(body)
    channel, thread_ts = event["channel"], event["thread_ts"]
    stream_ts = event.raw.get("streaming_message_ts")
    streams = stream_ts if isinstance(stream_ts, list) else []
    if not (channel and thread_ts):
        return None
    return StopRequest(
        ThreadKey(event.team, channel, thread_ts),
        event.sender(),
        event["user"],
        frozenset(ts for ts in streams if isinstance(ts, str)),
    )


def read_press(body: object, me: BotIdentity) -> Press | None:
    """Read a `block_actions` or a `view_submission`. Returns None if it names no user."""
    payload = object_of(body)
    person = object_of(payload.get("user"))
    user, team = text_in(person, "id"), text_in(person, "team_id")
    if not user:
        return None
    is_modal = text_in(payload, "type") == "view_submission"
    action, view = first_of(payload.get("actions")), object_of(payload.get("view"))
    name = text_in(view, "callback_id") if is_modal else text_in(action, "action_id").partition("-")[0]
    message, container = object_of(payload.get("message")), object_of(payload.get("container"))
    ts = text_in(container, "message_ts") or text_in(message, "ts")
    channel = text_in(object_of(payload.get("channel")), "id") or text_in(container, "channel_id")
    chosen = text_in(object_of(action.get("selected_option")), "value")
    value = text_in(view, "private_metadata") if is_modal else text_in(action, "value") or chosen
    turn = value.rpartition("|")[2]
    is_here = not channel or turn.split(":")[1:2] in ([], [channel])
    return Press(
        name=name,
        value=value,
        turn=turn if is_here else "",
        user=user,
        by=_asker(user, {user}, {team}, payload.get("is_ext_shared_channel")),
        bot=me,
        team=team,
        channel=channel,
        thread_ts=text_in(message, "thread_ts") or text_in(container, "thread_ts") or ts,
        message_ts=ts,
        state=object_of(object_of((view if is_modal else payload).get("state")).get("values")),
        trigger=text_in(payload, "trigger_id"),
        private_url=text_in(payload, "response_url") if container.get("is_ephemeral") is True else "",
        is_modal=is_modal,
    )


def read_reaction(body: object, me: BotIdentity) -> Reaction | None:
    """Read a `reaction_added`. Returns None for a reaction of the bot, and for one to no message."""
    event, item = _event_in(body), object_of(object_of(object_of(body).get("event")).get("item"))
    channel, ts = text_in(item, "channel"), text_in(item, "ts")
    is_of_message = text_in(item, "type") == "message" and channel and MESSAGE_TS.fullmatch(ts)
    if not (is_of_message and event["user"] and event["reaction"]) or event.is_of(me):
        return None
    by, payload = event.sender(), object_of(body)
    return Reaction(event.team, channel, ts, event["reaction"], event["user"], by, event["event_ts"], payload)


def read_reacted(reaction: Reaction, message: Object) -> tuple[Question, Asker]:
    """The message of a reaction, as a question of its author, and that author. `message`: Slack's."""
    event = _event_in({**reaction.body, "event": {**message, "channel": reaction.channel}})
    return event.question(to_text(event["text"])), event.sender()


def read_visit(body: object) -> Visit:
    """Read an `app_home_opened` or `assistant_thread_started`. If `channel` is "" there is nothing to do."""
    event = _event_in(body)
    thread = object_of(event.raw.get("assistant_thread"))
    if thread:
        return Visit(
            text_in(thread, "user_id"), False, text_in(thread, "channel_id"), text_in(thread, "thread_ts")
        )
    tab = event["tab"]
    return Visit(event["user"], tab == "home", event["channel"] if tab == "messages" else "")


def read_view(body: object) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """Read an `app_context_changed`: (workspace, person) and the channels they look at, or None."""
    event = _event_in(body)
    if not event["user"]:
        return None
    return (event.team, event["user"]), _channels_in(event.raw.get("context"))


def _channels_in(app_context: object) -> tuple[str, ...]:
    """The channels among the entities of a context; canvases have other ids (facts: Slack 14)."""
    values = [text_in(each, "value") for each in objects_of(object_of(app_context).get("entities"))]
    return tuple(each for each in values if _CHANNEL.match(each))[:_MOST_VIEWED]


def _stream_started(event: _Event, me: BotIdentity) -> StreamStarted | None:
    """Read the start of one of the bot's streams: a plain message without text (facts: Slack 1.8)."""
    is_begin = event["streaming_state"] == "in_progress" and not event.raw.get("subtype")
    is_named = (
        MESSAGE_TS.fullmatch(event["ts"]) and MESSAGE_TS.fullmatch(event["thread_ts"]) and event["channel"]
    )
    if not (is_begin and is_named and event["type"] == "message" and event.is_of(me)):
        return None
    return StreamStarted(ThreadKey(event.team, event["channel"], event["thread_ts"]), event["ts"])


def _changed(event: _Event, me: BotIdentity) -> MessageChanged | None:
    """Read an edit or a deletion. A deleted root of a thread becomes a tombstone.

    Slack also sends a change when a link is unfurled, or when a thread's agent session goes on: these are
    None.
    """
    kind = event["subtype"]
    if event["type"] != "message" or kind not in ("message_changed", "message_deleted"):
        return None
    before, now = event.message("previous_message"), event.message("message")
    if not MESSAGE_TS.fullmatch(before["ts"]) or not event["channel"] or before.is_of(me):
        return None
    is_gone = kind == "message_deleted" or now["subtype"] == "tombstone"
    has_same_text, is_of_bot = now["text"] == before["text"], now.is_from_bot() or before.is_from_bot()
    if not is_gone and has_same_text and not (is_of_bot and now.raw.get("edited")):
        return None
    question = before.question("")
    if is_gone:
        return MessageChanged(question.key, question.thread, question.user, None, is_of_bot=is_of_bot)
    wording = without_mention(now["text"], me.user)
    is_mention = wording != now["text"] or is_direct(event["channel"])
    return MessageChanged(
        question.key,
        question.thread,
        question.user,
        to_text(wording),
        names_others=not is_mention and _NAMED.search(wording) is not None,
        is_mention=is_mention,
        is_of_bot=is_of_bot,
        has_same_text=has_same_text,
    )


def _why_not(event: _Event, me: BotIdentity) -> str | None:
    reasons = {
        "not a message": event["type"] not in ("app_mention", "message"),
        f"a message of subtype {event['subtype']}": event["subtype"] not in SPOKEN,
        "a hidden message": event.raw.get("hidden"),
        "an edit of a message that was judged before": event.raw.get("edited"),
        "no channel, ts or author": not (event["channel"] and event["ts"] and event.asker),
        "the bot's own message": event.is_of(me),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def without_mention(text: str, user: str) -> str:
    """`text` without the mentions of `user`; unchanged if there are none."""
    mention = rf"<@{re.escape(user)}(?:\|[^>]*)?>"
    if not user or re.search(mention, text) is None:
        return text
    without_lead = re.sub(rf"\A\s*(?:{mention}[\s,:;]*)+", "", text)
    return re.sub(rf"[ \t]*{mention}", "", without_lead).strip()
