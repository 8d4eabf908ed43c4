"""Reactions of people: one that asks, and those that do what buttons do.

What a reaction asks is stored before it is acknowledged to Slack, as a mention is. A reaction never approves,
never answers a form, and never uses a token of a person; those of bots never count.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from ...errors import BotError
from ...inbound.access import Refusal
from ...inbound.authorizer import identity_of
from ...inbound.read import Asker, BotIdentity, Press, Reaction, read_reacted, read_reaction
from ...settings.reactions import ReactionUse, emoji_of
from ...slack.blocks import turn_of
from ...slack.history import History
from ...slack.thread_messages import thread_message
from ...text.feature_words import REACTED_IS_EXTERNAL, REACTED_NOT_READ, REACTION_ASKS
from ...text.words import ALREADY_OVER, ASKER_IS_UNKNOWN, NOT_YOURS_TO_STOP
from ...turn.buttons import TurnButton
from ...turn.feedback import NEGATIVE, POSITIVE
from ...turn.json_values import Object, text_in
from ...turn.people import Organisation
from ...turn.progress import Stage, TurnRecord
from ...turn.quotes import ThreadMessage
from ...turn.record import Question, QuestionOrigin, ThreadKey
from ..feature import BotParts, Feature, FeatureWork
from .look_back import MissedReactions
from .message_reader import ReactedMessageReader

_log = logging.getLogger(__name__)

_SLACKBOT = "USLACKBOT"
_LAST_RETRY = "3"  # Slack numbers its retries (facts: Slack 3.3)
_MOST_ATTEMPTS = 100
_VALUES = {ReactionUse.GOOD: POSITIVE, ReactionUse.BAD: NEGATIVE}


@dataclass(frozen=True, slots=True)
class ReactedMessage:
    """The message of a reaction.

    - `question`: it, as a question of its `author`.
    - `quote`: it, as it is quoted; None: it says nothing.
    - `turn`: the key of the turn that its metadata names.
    """

    question: Question
    author: Asker
    quote: ThreadMessage | None
    turn: str = ""

    @property
    def is_own(self) -> bool:
        """The bot wrote it."""
        return self.quote is not None and self.quote.is_own


class ReactionListener:
    """Receives all reactions, and handles those that mean something in their channel."""

    def __init__(self, bot: BotParts) -> None:
        self._bot, self._common = bot, bot.common
        self._reader = ReactedMessageReader(bot.common.workspaces)

    def register(self, bolt: AsyncApp) -> None:
        bolt.event("reaction_added", middleware=[self.accept])(_do_nothing)

    async def accept(
        self, request: AsyncBoltRequest, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """The middleware of `reaction_added`. Its 503 makes Slack send the event again."""
        me = identity_of(request.context.authorize_result)
        reaction = read_reaction(request.body, me)
        policy = None if reaction is None else self._common.policies.of(reaction.channel, reaction.team)
        use = None if reaction is None or policy is None else policy.use_of(reaction.emoji)
        if reaction is not None and use is not None:
            try:
                await self._handle(reaction, use, me)
            except BotError as error:
                if _LAST_RETRY not in request.headers.get("x-slack-retry-num", ()):
                    _log.warning("a reaction was not handled, Slack will send it again: %s", error)
                    return BoltResponse(status=503)
                _log.error("a reaction was not handled, and Slack will not send it again: %s", error)
        await next_()
        return None

    async def _handle(self, reaction: Reaction, use: ReactionUse, me: BotIdentity) -> None:
        """Do what `use` says. Raises BotError."""
        profile = await self._common.workspaces.people(reaction.team).user(reaction.user)
        if reaction.user == _SLACKBOT or (profile is not None and profile.get("is_bot")):
            return
        if profile is None:  # it may be a bot: two bots could react to each other for ever
            await self._say(reaction, "", ASKER_IS_UNKNOWN)
            return
        message = await self._message(reaction, me)
        if message is None:
            if use is ReactionUse.ASK:
                await self._say(reaction, "", REACTED_NOT_READ)
            return
        if use is ReactionUse.ASK:
            await self._ask(reaction, message, me, text_in(profile, "team_id"))
        elif (turn := await self._turn_of(message)) is not None:
            await self._press(reaction, use, message, turn, me)

    async def _message(self, reaction: Reaction, me: BotIdentity) -> ReactedMessage | None:
        found = await self._reader.read(reaction.team, reaction.channel, reaction.ts)
        return None if found is None else self._reacted(reaction, found, me)

    def _reacted(self, reaction: Reaction, found: Object, me: BotIdentity) -> ReactedMessage:
        question, author = read_reacted(reaction, found)
        own = {"bot_user_id": me.user, "bot_id": me.bot}
        quote = thread_message(found, own, _ours(me, reaction.team))
        return ReactedMessage(question, author, quote, _named_turn(found, question.thread))

    # -- a question

    async def ask_late(self, reaction: Reaction, found: Object, me: BotIdentity) -> bool:
        """Ask what a reaction to the message `found` asked while the bot was away, unless that was asked.

        Who may not ask reads nothing. Returns whether it is asked. Raises BotError.
        """
        message = self._reacted(reaction, found, me)
        if await self._common.store.turn(_question(reaction, message, reaction.team).key) is not None:
            return False
        profile = await self._common.workspaces.people(reaction.team).user(reaction.user)
        if profile is None or reaction.user == _SLACKBOT or profile.get("is_bot"):
            return False
        return await self._ask(reaction, message, me, text_in(profile, "team_id"), is_late=True)

    async def _ask(
        self,
        reaction: Reaction,
        message: ReactedMessage,
        me: BotIdentity,
        team: str,
        *,
        is_late: bool = False,
    ) -> bool:
        """Returns whether it is asked."""
        quote, ours = message.quote, _ours(me, reaction.team)
        if quote is None or not (quote.text or quote.files):
            return False
        question = _question(reaction, message, team or reaction.team)
        refusal = await self._bot.access.refusal(question, reaction.by, ours)
        is_for_reader = refusal is None or self._bot.access.is_to_be_told(question)
        if refusal is None and not message.is_own:
            may_read = await self._bot.access.may_press(reaction.channel, message.author, ours)
            refusal = None if may_read else Refusal("its message is external", REACTED_IS_EXTERNAL)
        refusal = refusal or await self._bot.hourly.refusal(
            question.user, reaction.channel, reaction.team, question.key
        )
        threads = self._bot.threads
        if refusal is not None:
            _log.info("a reaction is refused: %s", refusal.reason, extra={"thread_ts": question.thread.ts})
            if is_for_reader and not is_late:
                threads.refusals.refuse(question, refusal.words)
            return False
        route = await threads.routing.route(question, is_mention=False)
        if not route.is_asked:
            if not is_late:
                threads.refusals.refuse(question, route.words)
            return False
        is_new = await threads.intake.accept(route.question, route.agent, route.reason, (quote,))
        await threads.follow.reacted(question, quote.author)
        return is_new

    # -- what buttons do

    async def _turn_of(self, message: ReactedMessage) -> TurnRecord | None:
        """The turn whose answer, or whose question, the message is. Raises StoreError."""
        store, question = self._common.store, message.question
        if message.is_own:
            messages = await store.messages_in(question.thread)
            return await store.turn(messages.get(question.ts) or message.turn)
        latest = None
        for attempt in range(_MOST_ATTEMPTS):
            turn = await store.turn(replace(question, attempt=attempt).key)
            if turn is None:
                break
            latest = turn
        return latest

    async def _press(
        self,
        reaction: Reaction,
        use: ReactionUse,
        message: ReactedMessage,
        turn: TurnRecord,
        me: BotIdentity,
    ) -> None:
        words: str | None = None
        thread_ts = turn.question.thread.ts
        if use is ReactionUse.STOP:
            words = await self._stop(reaction, turn, me)
        elif use is ReactionUse.AGAIN and turn.stage in (Stage.WATCHED, Stage.ENDED):
            words = await self._bot.router.carry_out(
                _press_of(reaction, TurnButton.RETRY, turn, turn.key, me)
            )
        elif use in _VALUES and message.is_own:
            value = f"{_VALUES[use]}|{turn.key}"
            await self._bot.router.carry_out(_press_of(reaction, TurnButton.FEEDBACK, turn, value, me))
        if words:
            await self._say(reaction, thread_ts, words)

    async def _stop(self, reaction: Reaction, turn: TurnRecord, me: BotIdentity) -> str | None:
        """End a turn at whatever stage: only its asker may. Returns why not. Raises StoreError."""
        if not await self._bot.access.may_press(reaction.channel, reaction.by, _ours(me, reaction.team)):
            return NOT_YOURS_TO_STOP
        if not turn.question.is_of(reaction.user):
            return NOT_YOURS_TO_STOP
        if turn.stage is Stage.ENDED:
            return ALREADY_OVER
        await self._bot.threads.registry.stop_turn(turn.key, reaction.user)
        return None

    async def _say(self, reaction: Reaction, thread_ts: str, words: str) -> None:
        """To who reacted, and only to them."""
        notices = self._common.notices
        place = ThreadKey(reaction.team, reaction.channel, thread_ts)
        saying = notices.post_ephemeral(place, reaction.user, words)
        self._common.background.spawn(saying)


def _ours(me: BotIdentity, team: str) -> Organisation:
    return me.ours if me.ours.team else Organisation(team)


def _named_turn(message: Object, thread: ThreadKey) -> str:
    """The turn that the metadata of a message of the bot names; "" if it is of another channel."""
    turn = turn_of(message.get("metadata")) or ""
    return turn if turn.startswith(f"{thread.team}:{thread.channel}:") else ""


def _question(reaction: Reaction, message: ReactedMessage, team: str) -> Question:
    """What who reacted asks. The same emoji asks about a message once for each person."""
    about = message.question
    new = Question(
        thread=about.thread,
        ts=about.ts,
        user=reaction.user,
        user_team=team,
        text=REACTION_ASKS,
        is_ext_shared=about.is_ext_shared,
        files=about.files,
        origin=QuestionOrigin.REACTION,
        variant=f"{emoji_of(reaction.emoji)}:{reaction.user}",
    )
    return replace(new, quoted=new.key)


def _press_of(reaction: Reaction, name: str, turn: TurnRecord, value: str, me: BotIdentity) -> Press:
    thread_ts = turn.question.thread.ts
    return Press(
        name=name,
        value=value,
        turn=turn.key,
        user=reaction.user,
        by=reaction.by,
        bot=me,
        team=reaction.team,
        channel=reaction.channel,
        thread_ts=thread_ts,
        message_ts=reaction.ts,
    )


async def _do_nothing() -> None:
    """Needs to do nothing: Bolt acknowledges an event before its listener runs."""


def start(bot: BotParts) -> FeatureWork:
    """Listen to reactions. Slack sends them only where the manifest asks for them."""
    listener, common = ReactionListener(bot), bot.common
    missed = MissedReactions(
        listener.ask_late, common.policies, lambda team: History(common.workspaces.of(team).api)
    )
    return FeatureWork(register=listener.register, look_back=missed.look)


FEATURE = Feature("reactions", start)
