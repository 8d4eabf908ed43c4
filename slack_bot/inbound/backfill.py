"""Finds questions that were asked while the bot was away and that Slack no longer delivers (facts: Slack
3.3).

Once the bot is connected, it reads direct messages with people who have asked before, and the threads that
the store knows. Each message is judged like a new one. The store knows which questions were accepted before,
so a question that Slack delivers as well is asked once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ..clock import Clock
from ..errors import BotError
from ..settings.models import SlackSettings
from ..store.contracts import TurnStore
from ..turn.record import MESSAGE_TS, Question, ThreadKey, is_direct
from .authorizer import Identities, identity_of
from .events import SlackListeners
from .read import BotIdentity, read_message

log = logging.getLogger(__name__)

_HOUR = 3600.0
_RECENT = 7 * 24 * _HOUR  # for so long an earlier question makes a direct message known

Message: TypeAlias = Mapping[str, Any]
LookBack: TypeAlias = Callable[[BotIdentity, float, float], Awaitable[None]]
"""Looks for something else between two times, in seconds since 1970. Raises BotError."""


class MessageReader(Protocol):
    """Reads messages between two times."""

    async def read(self, place: ThreadKey, oldest: float, latest: float) -> Sequence[Message] | None:
        """The messages of a thread, always with its root; without `ts`, those of a conversation that are no
        replies.

        Times are seconds since 1970. Returns None if these messages cannot be read. Raises SlackError if
        Slack lets the bot read nothing more for now.
        """


class Backfill:
    """Reads back the questions that were asked while the bot was away, when `run` is called."""

    def __init__(
        self,
        listeners: SlackListeners,
        store: TurnStore,
        identities: Identities,
        reader_of: Callable[[str], MessageReader],
        settings: SlackSettings,
        clock: Clock,
        others: Sequence[LookBack] = (),
    ) -> None:
        self.listeners, self.reader_of = listeners, reader_of
        self._identities, self._others = identities, others
        self._store, self._settings, self._clock = store, settings, clock

    async def run(self, team: str = "") -> None:
        """Look at everything written in the last `backfill_hours`, in each workspace, or in `team` only.

        Errors of Slack and of the store are logged.
        """
        if not self._settings.backfill_hours:
            return
        try:
            found = [each for each in await self._identities.all() if team in ("", each.team_id)]
        except BotError as error:
            _not_looked(f": {error}")
            return
        for each in found:
            await self._look(identity_of(each), is_only=len(found) == 1 and not team)

    async def _look(self, me: BotIdentity, *, is_only: bool) -> None:
        """`is_only`: all of the store is of this workspace."""
        until = self._clock.wall()
        since = until - self._settings.backfill_hours * _HOUR
        todo: dict[ThreadKey, float] = {}
        search, why = None, ""
        try:
            async with asyncio.timeout(self._settings.backfill_timeout):
                active = await self._store.active_threads(until - _RECENT)
                ours = [each for each in active if is_only or each[0].team == me.ours.team]
                todo |= places(ours, since)
                search = _Search(self, me, since, until)
                while todo:
                    await search.look(todo)
                for look in self._others:
                    await look(me, since, until)
        except TimeoutError:
            why = ": the time of SLACK_BOT_SLACK__BACKFILL_TIMEOUT was over"
        except BotError as error:
            why = f": {error}"
        if search is None:
            _not_looked(why)
        else:
            log.info(
                "questions asked while the bot was away: %d; threads and direct messages read: %d, not looked"
                " at: %d%s",
                *(search.taken, search.read, len(todo) + search.unreadable, why),
            )


def _not_looked(why: str) -> None:
    log.warning("questions asked while the bot was away were not looked for%s", why)


def places(active: Iterable[tuple[ThreadKey, str]], since: float) -> dict[ThreadKey, float]:
    """What to read, in this order, each with the time of its last or first known question.

    `active`: threads with the `ts` of their last question. Threads with a question since `since` are read,
    and before the first thread of a direct message that direct message itself, as a place without `ts`.
    """
    todo: dict[ThreadKey, float] = {}
    for thread, last in active:
        if is_direct(thread.channel):
            direct = ThreadKey(thread.team, thread.channel, "")
            todo[direct] = min(todo.get(direct, _at(thread.ts)), _at(thread.ts))
        if _at(last) >= since:
            todo[thread] = _at(last)
    return todo


class _Search:
    """One search through the messages from `since` to `until`, in seconds since 1970."""

    def __init__(self, by: Backfill, me: BotIdentity, since: float, until: float) -> None:
        self._by, self._me, self._since, self._until = by, me, since, until
        self._reader = by.reader_of(me.ours.team)
        self.taken = self.read = self.unreadable = 0

    async def look(self, todo: dict[ThreadKey, float]) -> None:
        """Read the first place of `todo` and remove it.

        Adds the threads of a direct message that have replies.
        """
        place, known_since = next(iter(todo.items()))
        messages = await self._reader.read(place, self._since, self._until)
        if messages is None:
            self.unreadable += 1
        else:
            self.read += 1
            await self._ask(place, sorted(messages, key=_time), known_since)
        del todo[place]
        for root in messages or () if not place.ts else ():
            thread = ThreadKey(place.team, place.channel, str(root.get("ts")))
            if self._has_replies(root):
                todo.setdefault(thread, known_since)
            else:
                todo.pop(thread, None)

    def _has_replies(self, root: Message) -> bool:
        """Whether the root has replies of others. Slack names the bot by either of its ids."""
        users = root.get("reply_users")
        is_only_mine = bool(users) and set(users or ()) <= {self._me.user, self._me.bot}
        return bool(root.get("reply_count")) and not is_only_mine

    async def _ask(self, place: ThreadKey, messages: Sequence[Message], known_since: float) -> None:
        """Accept the questions among `messages`, the oldest first.

        An edited message, or a reply for which the agent waits only since then, may read as a question now
        though it was judged otherwise when it came. It counts only after the bot's last message.
        """
        mine = [_time(message) for message in messages if self._is_mine(message)]
        first = min([known_since, *mine])
        last = max(mine, default=0.0) if place.ts else 0.0
        for message in messages:
            if _time(message) < first or self._is_mine(message):
                continue
            event = {**message, "type": "message", "channel": place.channel, "edited": None}
            read = read_message({"team_id": place.team, "event": event}, self._me)
            inbound = await self._by.listeners.judge(read, self._me, is_old=True)
            was_question = isinstance(read.reading, Question) and not message.get("edited")
            if inbound is None or not (was_question or _time(message) > last):
                continue
            if await self._by.listeners.take(inbound):
                self.taken += 1
                question = inbound.question
                extra = {"turn": question.key, "thread_ts": question.thread.ts}
                log.info("a question asked while the bot was away is taken", extra=extra)

    def _is_mine(self, message: Message) -> bool:
        return message.get("user") == self._me.user or message.get("bot_id") == self._me.bot


def _time(message: Message) -> float:
    return _at(message.get("ts"))


def _at(ts: object) -> float:
    """A Slack timestamp in seconds; 0 if it is not one."""
    return float(ts) if isinstance(ts, str) and MESSAGE_TS.fullmatch(ts) else 0.0
