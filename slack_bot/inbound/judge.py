"""Whether a message is a question for the bot, and if not, why."""

import logging
from dataclasses import dataclass

from ..threads.threads import Threads
from ..turn.json_values import Object, text_in
from ..turn.quotes import ThreadMessage
from ..turn.record import Question
from .access import BotAccess
from .read import NOT_FROM_PERSON, ChannelMessage, MessageEvent, ThreadReply

log = logging.getLogger(__name__)

_NOT_EXPECTED = "a reply that does not mention the bot, in a thread where it needs to"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a message is.

    - `question`: None if its author cannot have meant the bot.
    - `reason`: why it is no question; "" if that was said before; None: it is one.
    - `is_mention`: it mentions the bot, or is a direct message. `is_awaited`: the agent waits for an answer
      of this person.
    - `agent`: the agent that it names by a user group.
    - `quoted`: the messages that it is about.
    """

    question: Question | None
    reason: str | None = None
    is_mention: bool = False
    is_awaited: bool = False
    agent: str | None = None
    quoted: tuple[ThreadMessage, ...] = ()


class Judge:
    """Judges by what is known of the thread, and by the settings of the channel. Methods raise StoreError."""

    def __init__(self, threads: Threads, bots: BotAccess) -> None:
        self._threads, self._bots = threads, bots

    def mention(self, question: Question, event: MessageEvent, agent: str | None = None) -> Judgement:
        """Judge what mentions the bot, or `agent`."""
        reason = self._bots.refusal(question, event.asker.ids)
        if reason:
            log.info("ignored: %s", reason, extra={"thread_ts": question.thread.ts})
        return Judgement(question, reason, is_mention=True, agent=agent)

    async def reply(self, reading: ThreadReply, event: MessageEvent) -> Judgement:
        """Judge a reply without a mention."""
        question = reading.question
        if (named := self.mention_of_agent(question, event.event)) is not None:
            return self.mention(named[0], event, named[1])
        self._bots.person_wrote(question.thread)
        is_awaited = await self._threads.registry.is_waiting_for(question.thread, question.user)
        is_expected = is_awaited or await self._is_expected(question, reading.names_others)
        return Judgement(question, None if is_expected else _NOT_EXPECTED, is_awaited=is_awaited)

    async def channel_message(
        self, reading: ChannelMessage, event: MessageEvent, *, is_old: bool
    ) -> Judgement:
        """Judge a new message of a channel. `is_old`: it was written while the bot was away."""
        question, ids = reading.question, event.asker.ids
        if not is_old and (named := self.mention_of_agent(question, event.event)) is not None:
            return self.mention(named[0], event, named[1])
        if question.asker_is_bot and not self._bots.is_allowed(question.thread.channel, ids):
            return Judgement(question, NOT_FROM_PERSON)
        verdict = await self._threads.channels.judge(
            question, event.event, names_others=reading.names_others, is_old=is_old
        )
        if verdict.question is None:
            return Judgement(question, verdict.reason)
        return Judgement(verdict.question, self._bots.refusal(verdict.question, ids), quoted=verdict.quoted)

    def mention_of_agent(self, question: Question, event: Object) -> tuple[Question, str] | None:
        """The question and its agent, if the message mentions a user group of an agent. `event`: Slack's."""
        return self._threads.channels.mention_of_agent(question, text_in(event, "text"))

    async def _is_expected(self, reply: Question, names_others: bool) -> bool:
        """Whether a reply without a mention is for the bot though no agent waits for it."""
        if await self._threads.registry.is_stop_somewhere(reply):
            return True
        return not names_others and await self._threads.follow.is_question(reply)
