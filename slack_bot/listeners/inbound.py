"""PURE. Slack's payloads become questions, stops and button presses.

Slack sends one mention as two events (`app_mention` and `message`), repeats what was not acknowledged, and
sends the bot its own messages and every change to them. So a payload is judged here first, without side
effects. Only a question uses up its dedupe key: if an ignored twin did, the mention would be lost (facts:
Slack 8, openclaw#34833).

Payloads come from outside: no JSON makes these functions raise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..turn.record import Question, ThreadKey
from .mrkdwn import to_text, without_mention

FEEDBACK_ACTION = "feedback"
RETRY_ACTION = "retry"

# `assistant_app_thread` is a reply in a direct message's thread (openclaw#82390); a mention with a file
# sometimes comes as `message` only (bolt-python#925); `bot_message` is another bot speaking.
_SPOKEN = frozenset({"", "file_share", "thread_broadcast", "assistant_app_thread", "bot_message"})
_SLACKBOT = "USLACKBOT"
_TEAM = re.compile(r"T[A-Z0-9]*\Z")
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}\Z")
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The bot's user id (`U...`) and bot id (`B...`) in this workspace."""

    user: str
    bot: str


@dataclass(frozen=True, slots=True)
class ThreadReply:
    """A reply in a thread without a mention: for the bot only if the agent waits for its author."""

    question: Question


@dataclass(frozen=True, slots=True)
class Ignored:
    """Not for the bot. `reason` is for the log.

    `question`: the message read as a question, if a reader could have meant it for the bot.
    """

    reason: str
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Slack's own Stop button. Slack has closed the thread's streams by then."""

    thread: ThreadKey
    user: str


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A button below the answer of `turn`. `value` is "" for the retry button."""

    turn: str
    user: str
    value: str
    channel: str
    thread_ts: str


@dataclass(frozen=True, slots=True)
class StreamStarted:
    """A stream of the bot started in a thread; `ts` is its message."""

    thread: ThreadKey
    ts: str


Inbound: TypeAlias = Question | ThreadReply | StreamStarted | Ignored


def read_message(body: object, me: BotIdentity) -> Inbound:
    """Judge the body of an `app_mention` or `message` event.

    The text of a question is "" if the message holds only the mention.
    """
    event = _map(_map(body).get("event"))
    if (started := _stream_started(_map(body), event, me)) is not None:
        return started
    if (reason := _why_not(event, me)) is not None:
        return Ignored(reason)
    text = _str(event, "text")
    wording = without_mention(text, me.user)
    is_dm = _str(event, "channel_type") == "im" or _str(event, "channel").startswith("D")
    is_bot = _is_bot(event)
    question = _question(_map(body), event, to_text(wording), is_dm=is_dm)
    if _str(event, "type") == "app_mention" or wording != text or (is_dm and not is_bot):
        return question
    if is_bot:
        return Ignored("another bot's message that does not mention the bot", question)
    if question.thread.ts == question.ts:
        return Ignored("a message that does not mention the bot", question)
    return ThreadReply(question)


def asker_ids(body: object) -> frozenset[str]:
    """All ids that Slack gives for the author of a message: of the user, the bot and its app."""
    event = _map(_map(body).get("event"))
    names = ("user", "bot_id", "app_id")
    return frozenset(found for name in names if (found := _str(event, name)))


def read_stop(body: object) -> StopRequest | Ignored:
    """Judge the body of an `agent_session_stopped` event."""
    event = _map(_map(body).get("event"))
    channel, ts = _str(event, "channel"), _str(event, "thread_ts")
    if not (channel and ts):
        return Ignored("a stop without a thread")
    return StopRequest(ThreadKey(_team(_map(body), event), channel, ts), _str(event, "user"))


def read_press(body: object) -> ButtonPress | Ignored:
    """Judge the body of a `block_actions` payload of the feedback buttons or the retry button."""
    payload = _map(body)
    actions = payload.get("actions")
    action = _map(actions[0]) if isinstance(actions, list) and actions else _NOTHING
    value, _, turn = _str(action, "value").rpartition("|")
    user = _str(_map(payload.get("user")), "id")
    if not (turn and user):
        return Ignored("a press without a turn")
    if _str(action, "action_id") == FEEDBACK_ACTION and value not in ("positive", "negative"):
        return Ignored("a press of no known value")
    message, container = _map(payload.get("message")), _map(payload.get("container"))
    return ButtonPress(
        turn=turn,
        user=user,
        value=value,
        channel=_str(_map(payload.get("channel")), "id") or _str(container, "channel_id"),
        thread_ts=_str(message, "thread_ts") or _str(container, "thread_ts") or _str(message, "ts"),
    )


def _stream_started(
    body: Mapping[str, Any], event: Mapping[str, Any], me: BotIdentity
) -> StreamStarted | None:
    """The event of a new stream: a plain message without text (facts: Slack 1.8)."""
    ts, root = _str(event, "ts"), _str(event, "thread_ts")
    is_begin = _str(event, "streaming_state") == "in_progress" and not event.get("subtype")
    is_named = _TS.match(ts) and _TS.match(root) and _str(event, "channel")
    if not (is_begin and is_named and _str(event, "type") == "message" and _is_own(event, me)):
        return None
    return StreamStarted(ThreadKey(_team(body, event), _str(event, "channel"), root), ts)


def _is_own(event: Mapping[str, Any], me: BotIdentity) -> bool:
    return _str(event, "user") == me.user or (me.bot != "" and _str(event, "bot_id") == me.bot)


def _why_not(event: Mapping[str, Any], me: BotIdentity) -> str | None:
    subtype = _str(event, "subtype")
    reasons = {
        "not a message": _str(event, "type") not in ("app_mention", "message"),
        f"a message of subtype {subtype}": subtype not in _SPOKEN,
        "a hidden message": bool(event.get("hidden")),
        "an edit of a message that was judged before": bool(event.get("edited")),
        "no channel, ts or author": not (_str(event, "channel") and _str(event, "ts") and _asker(event)),
        "the bot's own message": _is_own(event, me),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _question(body: Mapping[str, Any], event: Mapping[str, Any], text: str, *, is_dm: bool) -> Question:
    ts, team = _str(event, "ts"), _team(body, event)
    return Question(
        thread=ThreadKey(team, _str(event, "channel"), _str(event, "thread_ts") or ts),
        ts=ts,
        user=_asker(event),
        user_team=_user_team(event) or team,
        text=text,
        is_dm=is_dm,
        asker_is_bot=_is_bot(event),
    )


def _team(body: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """The workspace of the installation: the same in both events of a mention."""
    authorizations = body.get("authorizations")
    first = _map(authorizations[0]) if isinstance(authorizations, list) and authorizations else _NOTHING
    return _str(first, "team_id") or _str(body, "team_id") or _str(event, "team")


def _user_team(event: Mapping[str, Any]) -> str:
    """The asker's own team. On Grid `user_team` may be an enterprise (`E...`), which is no recipient."""
    named = (_str(event, name) for name in ("user_team", "source_team", "team"))
    return next((team for team in named if _TEAM.match(team)), "")


def _asker(event: Mapping[str, Any]) -> str:
    return _str(event, "user") or _str(event, "bot_id")


def _is_bot(event: Mapping[str, Any]) -> bool:
    """Apps, workflows and Slackbot. Slack names the bot in each message of an app or a workflow, even if it
    posts as a user."""
    is_named = bool(
        _str(event, "bot_id") or event.get("bot_profile") or _map(event.get("user_profile")).get("is_bot")
    )
    is_bot_id = _asker(event)[:1] == "B" or _asker(event) == _SLACKBOT
    return is_named or is_bot_id or _str(event, "subtype") == "bot_message"


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else _NOTHING


def _str(mapping: Mapping[str, Any], key: str) -> str:
    value = mapping.get(key)
    return value if isinstance(value, str) else ""
