"""Questions that were asked while the bot was away, and that Slack gave up delivering (facts: Slack 3.3).

They are read back once the bot is connected: direct messages with people who have asked before, and threads
that the store knows. Each message is judged as if it came now, and the store knows what was accepted before,
so whatever Slack delivers as well is asked once.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ..clock import Clock
from ..errors import BotError
from ..settings.models import SlackSettings
from ..store.contracts import TurnStore
from ..turn.record import MESSAGE_TS, Question, ThreadKey, is_direct
from .authorizer import Authorize, identity_of
from .events import SlackListeners
from .read import BotIdentity, read_message

log = logging.getLogger(__name__)

_HOUR = 3600.0
_RECENT = 7 * 24 * _HOUR  # for so long an earlier question makes a direct message known

Message: TypeAlias = Mapping[str, Any]


class MessageReader(Protocol):
    """Reads messages between two times. None: not these. Raises SlackError: nothing more for now."""

    async def read(self, place: ThreadKey, oldest: float, latest: float) -> Sequence[Message] | None:
        """A thread, whose root comes whenever it was; without `ts` what is no reply in a conversation."""


class Backfill:
    """Finds those questions, once."""

    def __init__(
        self,
        listeners: SlackListeners,
        store: TurnStore,
        reader: MessageReader,
        settings: SlackSettings,
        clock: Clock,
    ) -> None:
        self.listeners, self.reader = listeners, reader
        self._store, self._settings, self._clock = store, settings, clock

    async def run(self, authorize: Authorize) -> None:
        """Look at what was written until now. What Slack or the store refuse is logged."""
        if not self._settings.backfill_hours:
            return
        until = self._clock.wall()
        since = until - self._settings.backfill_hours * _HOUR
        todo: dict[ThreadKey, float] = {}
        search, why = None, ""
        try:
            async with asyncio.timeout(self._settings.backfill_timeout):
                me = identity_of(await authorize())
                todo |= places(await self._store.active_threads(until - _RECENT), since)
                search = _Search(self, me, since, until)
                while todo:
                    await search.look(todo)
        except TimeoutError:
            why = ": the time of SLACK_BOT_SLACK__BACKFILL_TIMEOUT was over"
        except BotError as error:
            why = f": {error}"
        if search is None:
            log.warning("questions asked while the bot was away were not looked for%s", why)
        else:
            log.info(
                "questions asked while the bot was away: %d; threads and direct messages read: %d, not looked"
                " at: %d%s",
                *(search.taken, search.read, len(todo) + search.unreadable, why),
            )


def places(known: Iterable[tuple[ThreadKey, str]], since: float) -> dict[ThreadKey, float]:
    """What to read, in this order, and since when it is known: threads with questions `since` then, and
    before those of a direct message the direct message itself, a place without `ts`.
    """
    found: dict[ThreadKey, float] = {}
    for thread, last in known:
        if is_direct(thread.channel):
            direct = ThreadKey(thread.team, thread.channel, "")
            found[direct] = min(found.get(direct, _at(thread.ts)), _at(thread.ts))
        if _at(last) >= since:
            found[thread] = _at(last)
    return found


class _Search:
    """One run: what was written from `since` to `until`."""

    def __init__(self, by: Backfill, me: BotIdentity, since: float, until: float) -> None:
        self._by, self._me, self._since, self._until = by, me, since, until
        self.taken = self.read = self.unreadable = 0

    async def look(self, todo: dict[ThreadKey, float]) -> None:
        """At the first place of `todo`. What a direct message shows of its threads is noted there."""
        place, known_since = next(iter(todo.items()))
        messages = await self._by.reader.read(place, self._since, self._until)
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
        """Of anybody but the bot. Slack names the bot by either of its ids."""
        users = root.get("reply_users")
        is_only_mine = bool(users) and set(users or ()) <= {self._me.user, self._me.bot}
        return bool(root.get("reply_count")) and not is_only_mine

    async def _ask(self, place: ThreadKey, messages: Sequence[Message], known_since: float) -> None:
        """What was judged when it came may read as a question now: an edit, or a reply that the agent has
        come to wait for since. Only behind the last message of the bot is either new.
        """
        mine = [_time(message) for message in messages if self._is_mine(message)]
        first = min([known_since, *mine])
        last = max(mine, default=0.0) if place.ts else 0.0
        for message in messages:
            if _time(message) < first or self._is_mine(message):
                continue
            event = {**message, "type": "message", "channel": place.channel, "edited": None}
            body = {"team_id": place.team, "event": event}
            asked = await self._by.listeners.judge(body, self._me, is_old=True)
            is_as_it_came = isinstance(read_message(body, self._me), Question) and not message.get("edited")
            if asked is None or not (is_as_it_came or _time(message) > last):
                continue
            if await self._by.listeners.take(asked):
                self.taken += 1
                question = asked.question
                extra = {"turn": question.key, "thread_ts": question.thread.ts}
                log.info("a question asked while the bot was away is taken", extra=extra)

    def _is_mine(self, message: Message) -> bool:
        return message.get("user") == self._me.user or message.get("bot_id") == self._me.bot


def _time(message: Message) -> float:
    return _at(message.get("ts"))


def _at(ts: object) -> float:
    """A Slack timestamp in seconds; 0 for what is none."""
    return float(ts) if isinstance(ts, str) and MESSAGE_TS.fullmatch(ts) else 0.0
