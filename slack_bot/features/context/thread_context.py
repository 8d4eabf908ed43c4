"""Gathers the context of a question: where it was asked, and what was said in the thread since the agent last
got messages of it.

This runs while the agent's card is read, and a failure never delays the question. The bot remembers which
messages it received as events. So it reads nothing from Slack for a thread that it has followed from its
first message and in which nothing is new.
"""

import asyncio
import logging
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp

from ...errors import BotError, StoreError
from ...inbound.read import read_view
from ...settings.channels import ChannelSettings
from ...settings.identity import CLAIMS, Identity
from ...slack.thread_messages import TEAMS, thread_message
from ...store.knowledge import overhear, overheard
from ...store.quoted import QUOTED, quoted_messages
from ...threads.ports import CommonParts, QuestionContext, ThreadPorts
from ...turn.json_values import object_of, text_in
from ...turn.people import Organisation, PersonKind, kind_of
from ...turn.quotes import (
    Heard,
    Quotes,
    Surroundings,
    ThreadMessage,
    having_heard,
    new_boundary,
    one_line,
    time_of,
)
from ...turn.record import Question, ThreadKey, is_direct
from ..feature import BotParts, Feature, FeatureWork
from .choosing import Naming, QuoteLimits, newest, quotable, quoted, unheard
from .thread_reader import ThreadReader

_log = logging.getLogger(__name__)

_MOST_THREADS = 10_000  # of which is known when somebody wrote; beyond it the oldest is dropped
_MOST_MESSAGES = 1_000  # of such a thread; of more it is read
_MOST_PEOPLE = 10_000  # of whom is known what they look at
_BOUNDARY_BYTES = 8
_UNKNOWN_TEAM = "?"


@dataclass(frozen=True, slots=True)
class _News:
    """The messages of a thread that the agent has not got.

    - `read_to`: all messages up to this `ts` were looked at.
    - `is_short`: some messages are missing; `is_end_missing`: among them the last ones.
    - `is_away`: nothing could be read.
    - `is_alone`: see `Surroundings`.
    - `focus`: the `ts` of those that the question is about.
    """

    messages: Sequence[ThreadMessage] = ()
    read_to: str | None = None
    is_short: bool = False
    is_end_missing: bool = False
    is_away: bool = False
    is_alone: bool = False
    focus: frozenset[str] = frozenset()


class ThreadContext(QuestionContext):
    """Gathers the context for the questions to one agent."""

    def __init__(self, common: CommonParts) -> None:
        settings = common.settings
        self._thread_agents = common.thread_agents
        self._workspaces = common.workspaces
        self._store, self._clock = common.store, common.clock
        self._settings, self._policies = settings.context, common.policies
        self._reader = ThreadReader(common.workspaces, settings.context, settings.governor.reads_per_minute)
        # seconds since 1970: since then what is said is kept, in all workspaces, and in single ones
        self._kept_since_start = common.clock.wall() if self._reader.is_always_limited else None
        self._kept_since: dict[str, float] = {}
        self._seen: dict[ThreadKey, dict[str, None]] = {}  # what others than the bot wrote there, by `ts`
        self._viewed: dict[tuple[str, str], tuple[str, ...]] = {}
        most = settings.context
        self._limits = QuoteLimits(most.messages, most.message_chars, most.chars)

    def viewed(self, person: tuple[str, str], channels: tuple[str, ...]) -> None:
        """Remember what a person looks at, for the last ten thousand people."""
        self._viewed.pop(person, None)
        if channels:
            self._viewed[person] = channels
        if len(self._viewed) > _MOST_PEOPLE:
            del self._viewed[next(iter(self._viewed))]

    def forget(self) -> None:
        """Forget which messages came as events, because some may have been missed."""
        self._seen.clear()
        now = self._clock.wall()
        self._kept_since = dict.fromkeys(self._kept_since, now)
        if self._kept_since_start is not None:
            self._kept_since_start = now

    async def overhear(self, question: Question, event: Mapping[str, Any], *, is_asked: bool) -> None:
        """Remember a message of a person or another bot. Errors of the store are logged.

        `is_asked`: the message is a question for the bot.
        """
        thread = question.thread
        if event.get("type") == "message":  # else there may be no events of messages without a mention
            if is_asked and question.ts == thread.ts:
                self._seen[thread] = {}
                if len(self._seen) > _MOST_THREADS:
                    del self._seen[next(iter(self._seen))]
            if thread in self._seen:
                self._seen[thread][question.ts] = None
                if len(self._seen[thread]) > _MOST_MESSAGES:
                    del self._seen[thread]
        if self._reader.is_limited(thread.team) and self._settings.overheard:
            try:
                await self._keep(thread, event)
            except BotError as error:
                _log.warning("what was said in a thread was not kept: %s", error)

    async def reword(self, thread: ThreadKey, change: Mapping[str, Any], *, is_gone: bool) -> None:
        """Apply an edit or a deletion to a kept message.

        `change`: Slack's event. Errors of the store are logged.
        """
        message = change.get("previous_message" if is_gone else "message")
        if self._reader.is_limited(thread.team) and self._settings.overheard and isinstance(message, Mapping):
            try:
                await self._keep(thread, message, is_change=True, is_gone=is_gone)
            except BotError as error:
                _log.warning("that a message in a thread was changed was not kept: %s", error)

    async def _keep(
        self, thread: ThreadKey, event: Mapping[str, Any], *, is_change: bool = False, is_gone: bool = False
    ) -> None:
        now = self._clock.wall()
        self._kept_since.setdefault(thread.team, self._kept_since_start or now)
        own = await self._workspaces.of(thread.team).api.identity()
        message = thread_message(event, own, _ours(own, thread))
        if message is None:
            return
        if is_gone:
            message = replace(message, text="", files=())
        if (await self._thread_agents.context_of(thread, message.author)).heard:
            await overhear(self._store, thread, message, self._settings.overheard, now, is_change=is_change)

    async def look_around(self, question: Question, heard: Heard, most: Identity) -> Surroundings:
        """The context of `question` for an agent that has got `heard`.

        Never raises for errors of Slack or the store.
        """
        policy = _at_most(self._policies.of(question.thread.channel, question.thread.team), most)
        try:
            own = await self._workspaces.of(question.thread.team).api.identity()
        except BotError:  # its own log line says why
            own = {}
        began = self._clock.monotonic()
        news = await self._with_quoted(question, await self._news(question, heard, own, policy))
        seconds_left = self._settings.read_timeout - (self._clock.monotonic() - began)
        selection = newest(news.messages, self._limits.messages, question.thread.ts) if news.messages else []
        profiles = await self._profiles(question, selection, policy, seconds_left)
        quotes = Quotes(available=not news.is_away)
        if selection:
            names = {user: _display_name(profile) for user, profile in profiles.items()}
            authors = tuple(dict.fromkeys(each.author for each in selection))
            naming = Naming(question.user, policy.identity, names, authors)
            quotes = self._quotes(question.thread, news, naming)
        place = _place(question, own, policy, profiles) | self._view(question, policy)
        return Surroundings(
            heard=having_heard(heard, _own_ts(question), news.read_to),
            place=place,
            quotes=quotes,
            form="auto" if news.focus and self._settings.format == "none" else self._settings.format,
            boundary=new_boundary(quotes, partial(secrets.token_hex, _BOUNDARY_BYTES)),
            is_alone=news.is_alone,
        )

    async def _with_quoted(self, question: Question, news: _News) -> _News:
        """`news`, and the messages that the question is about."""
        if not question.quoted:
            return news
        try:
            about = await quoted_messages(self._store, question.quoted)
        except StoreError as error:
            _log.warning("what a question is about was not read: %s", error)
            about = ()
        if not about:
            return replace(news, is_away=news.is_away or not news.messages)
        messages = {each.ts: each for each in (*news.messages, *about)}
        ordered = sorted(messages.values(), key=lambda each: time_of(each.ts))
        return replace(news, messages=ordered, is_away=False, focus=frozenset(each.ts for each in about))

    def _quotes(self, thread: ThreadKey, news: _News, naming: Naming) -> Quotes:
        quotes = quoted(news.messages, thread.ts, self._limits, naming, news.focus)
        is_any = bool(quotes.messages)
        return replace(
            quotes,
            truncated=quotes.truncated or (news.is_short and is_any),
            is_end_missing=news.is_end_missing and is_any,
        )

    def _view(self, question: Question, policy: ChannelSettings) -> dict[str, Any]:
        """What the asker of a direct message looks at, as ids of channels."""
        if "none" in (policy.context, policy.identity) or not is_direct(question.thread.channel):
            return {}
        channels = question.viewing or self._viewed.get((question.thread.team, question.user), ())
        return {"viewing": list(channels)} if channels else {}

    async def _news(
        self, question: Question, heard: Heard, own: Mapping[str, Any], policy: ChannelSettings
    ) -> _News:
        """The messages that the agent has not got, as far as the channel's settings allow."""
        ours = _ours(own, question.thread)
        if not question.user or question.task_id is not None:
            return _News()  # what answers an agent goes alone: some take each part for a piece of the answer
        if policy.context == "none" or self._settings.format == "none":
            return _News(read_to=_until(question))
        if _until(question) == question.thread.ts:
            return _News(read_to=question.thread.ts)
        if not self._may_have_news(question, heard):
            return _News()
        if self._reader.is_limited(question.thread.team):
            news = await self._overheard(question, heard)
        else:
            news = await self._read(question, heard, own, ours, heard[0] if heard else "0")
        scope, with_external = policy.context, policy.external == "allow"
        if not with_external and await self._is_external(question, ours):
            scope = "asker"
        messages = quotable(news.messages, question.user, scope, with_external=with_external)
        return replace(news, messages=messages)

    async def _read(
        self, question: Question, heard: Heard, own: Mapping[str, Any], ours: Organisation, oldest: str
    ) -> _News:
        thread_read = await self._reader.read(question.thread, oldest, _until(question))
        messages = [
            message
            for each in await self._with_teams(thread_read.messages, question, ours)
            if (message := thread_message(each, own, ours)) is not None
        ]
        new = unheard(messages, heard, _own_ts(question))
        if thread_read.is_failed and not new:
            return _News(is_away=True)
        read_to, is_short = (
            new[-1].ts if thread_read.is_failed else _until(question),
            thread_read.is_cut or thread_read.is_failed,
        )
        is_theirs = all(each.is_own or each.author == question.user for each in messages)
        is_alone = is_theirs and not (heard or is_short)
        return _News(new, read_to, is_short=is_short, is_end_missing=is_short, is_alone=is_alone)

    async def _with_teams(
        self, messages: Sequence[Mapping[str, Any]], question: Question, ours: Organisation
    ) -> list[Mapping[str, Any]]:
        """`messages`, each with a team. Slack names none of people who share a file; who is not known is of
        another organisation, if the channel may be shared with one.
        """
        unknown = {
            user
            for each in messages
            if (user := text_in(each, "user")) and not any(text_in(each, name) for name in TEAMS)
        }
        if question.is_ext_shared is False or not unknown:
            return list(messages)
        people = self._workspaces.people(question.thread.team)
        profiles = zip(unknown, await asyncio.gather(*map(people.user, unknown)), strict=True)
        members = {
            user
            for user, profile in profiles
            if profile and kind_of(profile, ours) is not PersonKind.EXTERNAL
        }
        return [
            {"team": ours.team if text_in(each, "user") in members else _UNKNOWN_TEAM, **each}
            for each in messages
        ]

    async def _overheard(self, question: Question, heard: Heard) -> _News:
        """The same as `_read`, from the store, if Slack does not let the app read threads."""
        if not (heard and self._settings.overheard):
            return _News(is_away=True)
        try:
            kept_messages = await overheard(self._store, question.thread)
        except StoreError as error:
            _log.warning("what was said in a thread was not read: %s", error)
            return _News(is_away=True)
        since = self._kept_since.get(question.thread.team, self._kept_since_start)
        since = self._clock.wall() if since is None else since
        is_short = len(kept_messages) >= self._settings.overheard or float(heard[0]) < since
        messages = [message for message in kept_messages if message.text or message.files]
        return _News(unheard(messages, heard, _own_ts(question)), _until(question), is_short=is_short)

    def _may_have_news(self, question: Question, heard: Heard) -> bool:
        """Whether there may be messages before `question` that the agent has not got."""
        seen = None if self._store.lease else self._seen.get(question.thread)
        if seen is None:
            return True
        after, until = time_of(heard[0]) if heard else (-1, 0), time_of(_until(question))
        new = [ts for ts in seen if after < time_of(ts) and ts not in heard]
        self._seen[question.thread] = dict.fromkeys(new)
        return any(time_of(ts) < until and ts not in _own_ts(question) for ts in new)

    async def _is_external(self, question: Question, ours: Organisation) -> bool:
        """Whether the asker is of another organisation, or Slack does not say."""
        if ours.has(question.user_team):
            return False
        profile = await self._workspaces.people(question.thread.team).user(question.user)
        return profile is None or kind_of(profile, ours) is PersonKind.EXTERNAL

    async def _profiles(
        self, question: Question, messages: Iterable[ThreadMessage], policy: ChannelSettings, seconds: float
    ) -> dict[str, Mapping[str, Any]]:
        """Slack's data on the channel and on people, if the channel's settings allow names."""
        if policy.identity not in ("name", "email"):
            return {}
        channel = question.thread.channel
        reader = self._workspaces.people(question.thread.team)
        people = [question.user, *(each.author for each in messages if each.kind is not PersonKind.BOT)]
        tasks = {user: asyncio.create_task(reader.user(user)) for user in dict.fromkeys(people) if user}
        if not is_direct(channel):
            tasks[channel] = asyncio.create_task(reader.channel(channel))
        if tasks:
            await asyncio.wait(tasks.values(), timeout=max(0.0, seconds))
        profiles: dict[str, Mapping[str, Any]] = {}
        for name, task in tasks.items():
            if not task.done():
                task.cancel()
            elif (profile := task.result()) is not None:
                profiles[name] = profile
        return profiles


def _at_most(policy: ChannelSettings, most: Identity) -> ChannelSettings:
    """The channel's settings with no more of people than this agent may learn."""
    if most not in CLAIMS or CLAIMS.index(policy.identity) <= CLAIMS.index(most):
        return policy
    return policy.model_copy(update={"identity": most})


def _own_ts(question: Question) -> tuple[str, ...]:
    """The `ts` of all messages that make up the question."""
    return (question.ts, *question.merged)


def _until(question: Question) -> str:
    """The `ts` of the question's last message."""
    return max(_own_ts(question), key=time_of)


def _ours(own: Mapping[str, Any], thread: ThreadKey) -> Organisation:
    return Organisation(thread.team, own.get("enterprise_id") or "")


def _display_name(user: Mapping[str, Any]) -> str:
    profile = object_of(user.get("profile"))
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next((one_line(each) for each in names if isinstance(each, str) and each), "")


def _place(
    question: Question,
    own: Mapping[str, Any],
    policy: ChannelSettings,
    profiles: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Where the question was asked, and by whom if the channel's settings allow that."""
    thread, ts = question.thread, question.ts
    link = question.permalink(own.get("url") or "https://slack.com/")
    place: dict[str, Any] = {"team": thread.team, "channel": thread.channel, "thread_ts": thread.ts, "ts": ts}
    place |= {"permalink": link, "is_dm": is_direct(thread.channel)}
    if question.is_ext_shared is not None:
        place["is_ext_shared"] = question.is_ext_shared
    if not question.is_addressed:
        place["addressed"] = False
    if policy.acts:
        place["actions"] = list(policy.acts)
    if policy.post_places:
        place["post_to"] = list(policy.post_places)
    if policy.instructions:
        place["instructions"] = policy.instructions
    if (channel := profiles.get(thread.channel)) is not None:
        place["channel_name"] = one_line(str(channel.get("name") or ""))
    if policy.identity != "none" and question.user:
        place |= {"user": question.user, "user_team": question.user_team}
        place |= {"answered_by": question.answered_by} if question.answered_by else {}
    return place | _asker(profiles.get(question.user, {}), policy)


def _asker(user: Mapping[str, Any], policy: ChannelSettings) -> dict[str, Any]:
    """What the agent gets to know of the asker besides the id."""
    if not user:
        return {}
    facts = {name: user[name] for name in ("tz", "locale") if isinstance(user.get(name), str)}
    email = object_of(user.get("profile")).get("email")
    if policy.identity == "email" and isinstance(email, str):
        facts["email"] = email
    return {"name": _display_name(user), **facts}


class ViewListener:
    """Receives which channels a person looks at."""

    def __init__(self, context: QuestionContext) -> None:
        self._context = context

    def register(self, bolt: AsyncApp) -> None:
        bolt.event("app_context_changed")(self.view)

    async def view(self, body: Mapping[str, Any]) -> None:
        """Bolt's listener for `app_context_changed`."""
        if (person_and_channels := read_view(body)) is not None:
            self._context.viewed(*person_and_channels)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Add the context of questions to the ports of threads."""
    return replace(ports, context=ThreadContext(common))


def start(bot: BotParts) -> FeatureWork:
    """Listen to what people look at."""
    return FeatureWork(register=ViewListener(bot.threads.context).register)


FEATURE = Feature("context", start, serve_threads, collections=(QUOTED,))
