"""What goes to the agent beside a question: where it was asked, and what was said in the thread since the
agent last heard.

It is read while the agent's card is read, and never stands in a question's way. What every event shows is
remembered for a while, so that nothing is read where nothing can be new: of a thread from whose beginning on
this process has heard each message.
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
from ...store.knowledge import conversation, overhear, overheard
from ...threads.ports import CommonParts, QuestionContext, ThreadPorts
from ...turn.json_values import object_of
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
from .thread_messages import thread_message
from .thread_reader import ThreadReader

_log = logging.getLogger(__name__)

_MOST_THREADS = 10_000  # of which is known when somebody wrote; beyond it the oldest is dropped
_MOST_MESSAGES = 1_000  # of such a thread; of more it is read
_MOST_PEOPLE = 10_000  # of whom is known what they look at
_BOUNDARY_BYTES = 8


@dataclass(frozen=True, slots=True)
class _Said:
    """`read_to`: all up to then is among it. `is_short`: not all; `is_end_missing`: not what was said last;
    `is_away`: nothing could be read. `is_alone`: as in `Surroundings`.
    """

    messages: Sequence[ThreadMessage] = ()
    read_to: str | None = None
    is_short: bool = False
    is_end_missing: bool = False
    is_away: bool = False
    is_alone: bool = False


class ThreadContext(QuestionContext):
    """Looks around for the questions of one agent."""

    def __init__(self, common: CommonParts) -> None:
        settings = common.settings
        self._agent, self._api, self._people = common.agent.name, common.api, common.people
        self._store, self._clock = common.store, common.clock
        self._settings, self._policies = settings.context, common.policies
        self._reader = ThreadReader(common.api, settings.context, settings.governor.reads_per_minute)
        # seconds since 1970: since then what is said is kept
        self._heard_since = common.clock.wall() if self._reader.is_limited else None
        self._seen: dict[ThreadKey, dict[str, None]] = {}  # what others than the bot wrote there, by `ts`
        self._viewed: dict[tuple[str, str], tuple[str, ...]] = {}
        most = settings.context
        self._limits = QuoteLimits(most.messages, most.message_chars, most.chars)

    def viewed(self, person: tuple[str, str], channels: tuple[str, ...]) -> None:
        """Only of the last ten thousand people."""
        self._viewed.pop(person, None)
        if channels:
            self._viewed[person] = channels
        if len(self._viewed) > _MOST_PEOPLE:
            del self._viewed[next(iter(self._viewed))]

    def forget(self) -> None:
        """Events may have been missed."""
        self._seen.clear()
        if self._heard_since is not None:
            self._heard_since = self._clock.wall()

    async def overhear(self, said: Question, event: Mapping[str, Any], *, is_asked: bool) -> None:
        """Somebody wrote `said`. `is_asked`: it is for the bot. Never raises for what the store does."""
        thread = said.thread
        if event.get("type") == "message":  # else there may be no events of messages without a mention
            if is_asked and said.ts == thread.ts:
                self._seen[thread] = {}
                if len(self._seen) > _MOST_THREADS:
                    del self._seen[next(iter(self._seen))]
            if thread in self._seen:
                self._seen[thread][said.ts] = None
                if len(self._seen[thread]) > _MOST_MESSAGES:
                    del self._seen[thread]
        if self._reader.is_limited and self._settings.overheard:
            try:
                await self._keep(thread, event)
            except BotError as error:
                _log.warning("what was said in a thread was not kept: %s", error)

    async def reword(self, thread: ThreadKey, change: Mapping[str, Any], *, is_gone: bool) -> None:
        """Somebody edited or deleted their words: Slack's event. Never raises for what the store does."""
        said = change.get("previous_message" if is_gone else "message")
        if self._reader.is_limited and self._settings.overheard and isinstance(said, Mapping):
            try:
                await self._keep(thread, said, is_change=True, is_gone=is_gone)
            except BotError as error:
                _log.warning("that a message in a thread was changed was not kept: %s", error)

    async def _keep(
        self, thread: ThreadKey, event: Mapping[str, Any], *, is_change: bool = False, is_gone: bool = False
    ) -> None:
        now = self._clock.wall()
        self._heard_since = self._heard_since or now
        own = await self._api.identity()
        said = thread_message(event, own, _ours(own, thread))
        if said is None:
            return
        if is_gone:
            said = replace(said, text="", files=())
        if (await conversation(self._store, self._agent, thread)).heard:
            await overhear(self._store, thread, said, self._settings.overheard, now, is_change=is_change)

    async def look_around(self, question: Question, heard: Heard) -> Surroundings:
        """Never raises for what Slack or the store does."""
        policy = self._policies.of(question.thread.channel)
        try:
            own = await self._api.identity()
        except BotError:  # its own log line says why
            own = {}
        began = self._clock.monotonic()
        said = await self._said(question, heard, own, policy)
        left = self._settings.read_timeout - (self._clock.monotonic() - began)
        chosen = newest(said.messages, self._limits.messages, question.thread.ts) if said.messages else []
        profiles = await self._profiles(question, chosen, policy, left)
        quotes = Quotes(available=not said.is_away)
        if chosen:
            names = {user: _display_name(profile) for user, profile in profiles.items()}
            authors = tuple(dict.fromkeys(each.author for each in chosen))
            naming = Naming(question.user, policy.identity, names, authors)
            quotes = self._quotes(question.thread, said, naming)
        return Surroundings(
            heard=having_heard(heard, _asked(question), said.read_to),
            place=_place(question, own, policy, profiles) | self._view(question, policy),
            quotes=quotes,
            form=self._settings.format,
            boundary=new_boundary(quotes, partial(secrets.token_hex, _BOUNDARY_BYTES)),
            is_alone=said.is_alone,
        )

    def _quotes(self, thread: ThreadKey, said: _Said, naming: Naming) -> Quotes:
        quotes = quoted(said.messages, thread.ts, self._limits, naming)
        is_any = bool(quotes.messages)
        return replace(
            quotes,
            truncated=quotes.truncated or (said.is_short and is_any),
            is_end_missing=said.is_end_missing and is_any,
        )

    def _view(self, question: Question, policy: ChannelSettings) -> dict[str, Any]:
        """What the asker of a direct message looks at: ids, which the agent may read itself or not."""
        if "none" in (policy.context, policy.identity) or not is_direct(question.thread.channel):
            return {}
        known = question.viewing or self._viewed.get((question.thread.team, question.user), ())
        return {"viewing": list(known)} if known else {}

    async def _said(
        self, question: Question, heard: Heard, own: Mapping[str, Any], policy: ChannelSettings
    ) -> _Said:
        """What the agent has not heard, as far as it may."""
        ours = _ours(own, question.thread)
        if not question.user or question.task_id is not None:
            return _Said()  # what answers an agent goes alone: some take each part for a piece of the answer
        if policy.context == "none" or self._settings.format == "none":
            return _Said(read_to=_until(question))
        if _until(question) == question.thread.ts:
            return _Said(read_to=question.thread.ts)
        if not self._may_have_news(question, heard):
            return _Said()
        if self._reader.is_limited:
            said = await self._overheard(question, heard)
        else:
            said = await self._read(question, heard, own, ours, heard[0] if heard else "0")
        scope, with_external = policy.context, policy.external == "allow"
        if not with_external and await self._is_external(question, ours):
            scope = "asker"
        allowed = quotable(said.messages, question.user, scope, with_external=with_external)
        return replace(said, messages=allowed)

    async def _read(
        self, question: Question, heard: Heard, own: Mapping[str, Any], ours: Organisation, oldest: str
    ) -> _Said:
        read = await self._reader.read(question.thread, oldest, _until(question))
        found = [said for each in read.messages if (said := thread_message(each, own, ours)) is not None]
        new = unheard(found, heard, _asked(question))
        if read.is_failed and not new:
            return _Said(is_away=True)
        read_to, is_short = new[-1].ts if read.is_failed else _until(question), read.is_cut or read.is_failed
        is_theirs = all(each.is_own or each.author == question.user for each in found)
        is_alone = is_theirs and not (heard or is_short)
        return _Said(new, read_to, is_short=is_short, is_end_missing=is_short, is_alone=is_alone)

    async def _overheard(self, question: Question, heard: Heard) -> _Said:
        """The same where no thread is read: what was kept of one that the bot is in."""
        if not (heard and self._settings.overheard):
            return _Said(is_away=True)
        try:
            kept = await overheard(self._store, question.thread)
        except StoreError as error:
            _log.warning("what was said in a thread was not read: %s", error)
            return _Said(is_away=True)
        since = self._clock.wall() if self._heard_since is None else self._heard_since
        is_short = len(kept) >= self._settings.overheard or float(heard[0]) < since
        there = [said for said in kept if said.text or said.files]
        return _Said(unheard(there, heard, _asked(question)), _until(question), is_short=is_short)

    def _may_have_news(self, question: Question, heard: Heard) -> bool:
        """Somebody may have written in the thread before `question` what the agent does not know."""
        seen = None if self._store.lease else self._seen.get(question.thread)
        if seen is None:
            return True
        after, until = time_of(heard[0]) if heard else (-1, 0), time_of(_until(question))
        new = [ts for ts in seen if after < time_of(ts) and ts not in heard]
        self._seen[question.thread] = dict.fromkeys(new)
        return any(time_of(ts) < until and ts not in _asked(question) for ts in new)

    async def _is_external(self, question: Question, ours: Organisation) -> bool:
        """Whether the asker is of another organisation, also if nobody says so."""
        if ours.has(question.user_team):
            return False
        profile = await self._people.user(question.user)
        return profile is None or kind_of(profile, ours) is PersonKind.EXTERNAL

    async def _profiles(
        self, question: Question, said: Iterable[ThreadMessage], policy: ChannelSettings, seconds: float
    ) -> dict[str, Mapping[str, Any]]:
        """What Slack says of the channel, and of the people whose names may be told."""
        if policy.identity not in ("name", "email"):
            return {}
        channel = question.thread.channel
        people = [question.user, *(each.author for each in said if each.kind is not PersonKind.BOT)]
        asked = {user: asyncio.create_task(self._people.user(user)) for user in dict.fromkeys(people) if user}
        if not is_direct(channel):
            asked[channel] = asyncio.create_task(self._people.channel(channel))
        if asked:
            await asyncio.wait(asked.values(), timeout=max(0.0, seconds))
        found: dict[str, Mapping[str, Any]] = {}
        for which, task in asked.items():
            if not task.done():
                task.cancel()
            elif (known := task.result()) is not None:
                found[which] = known
        return found


def _asked(question: Question) -> tuple[str, ...]:
    """The messages that the question is made of."""
    return (question.ts, *question.merged)


def _until(question: Question) -> str:
    """Before then the question was not asked."""
    return max(_asked(question), key=time_of)


def _ours(own: Mapping[str, Any], thread: ThreadKey) -> Organisation:
    return Organisation(thread.team, own.get("enterprise_id") or "")


def _display_name(user: Mapping[str, Any]) -> str:
    known = object_of(user.get("profile"))
    named = (known.get("display_name"), known.get("real_name"), user.get("real_name"), user.get("name"))
    return next((one_line(each) for each in named if isinstance(each, str) and each), "")


def _place(
    question: Question,
    own: Mapping[str, Any],
    policy: ChannelSettings,
    profiles: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Where the question was asked, and by whom as far as that may be told."""
    thread, ts = question.thread, question.ts
    link = question.permalink(own.get("url") or "https://slack.com/")
    place: dict[str, Any] = {"team": thread.team, "channel": thread.channel, "thread_ts": thread.ts, "ts": ts}
    place |= {"permalink": link, "is_dm": is_direct(thread.channel)}
    if question.is_ext_shared is not None:
        place["is_ext_shared"] = question.is_ext_shared
    if (channel := profiles.get(thread.channel)) is not None:
        place["channel_name"] = one_line(str(channel.get("name") or ""))
    if policy.identity != "none" and question.user:
        place |= {"user": question.user, "user_team": question.user_team}
        place |= {"answered_by": question.answered_by} if question.answered_by else {}
    return place | _asker(profiles.get(question.user, {}), policy)


def _asker(user: Mapping[str, Any], policy: ChannelSettings) -> dict[str, Any]:
    """What is told of the asker besides the id."""
    if not user:
        return {}
    told = {name: user[name] for name in ("tz", "locale") if isinstance(user.get(name), str)}
    email = object_of(user.get("profile")).get("email")
    if policy.identity == "email" and isinstance(email, str):
        told["email"] = email
    return {"name": _display_name(user), **told}


class ViewListener:
    """Hears what a person looks at."""

    def __init__(self, context: QuestionContext) -> None:
        self._context = context

    def register(self, bolt: AsyncApp) -> None:
        bolt.event("app_context_changed")(self.view)

    async def view(self, body: Mapping[str, Any]) -> None:
        """A person looks at something else."""
        if (viewed := read_view(body)) is not None:
            self._context.viewed(*viewed)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """What was said before a question, and who asks it, goes along with it."""
    return replace(ports, context=ThreadContext(common))


def start(bot: BotParts) -> FeatureWork:
    """Hears what people look at."""
    return FeatureWork(register=ViewListener(bot.threads.context).register)


FEATURE = Feature("context", start, serve_threads)
