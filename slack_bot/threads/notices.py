"""What the reader is told where no runner can end a turn: it broke, was never begun, or its process ends."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..clock import Clock
from ..errors import BotError
from ..observe.facts import Observer, TurnEnded, referred
from ..settings.channels import ChannelPolicies
from ..settings.models import StreamSettings
from ..slack.api import SlackApi
from ..slack.blocks import ASKED, NOTICE, Args, actions, markdown
from ..slack.faults import CallOk, StreamingRefusalCache
from ..slack.forms import notice_view
from ..slack.look import Look, TurnFace
from ..slack.methods import Priority
from ..slack.model import Ending
from ..slack.reconcile import SKEW
from ..slack.status import QueuedReaction
from ..slack.stream_starts import StreamStartTracker
from ..slack.surfaces import PostSurface
from ..slack.turn_calls import TurnCalls
from ..slack.workspaces import Workspaces
from ..slack.writer import WhoListens, Writer
from ..store.contracts import Store
from ..text.words import (
    ASKS_NEXT,
    NOT_BEGUN,
    NOT_TAKEN,
    RESTARTING,
)
from ..turn.buttons import TurnButton
from ..turn.progress import MessageRecord, TurnRecord
from ..turn.record import Outcome, Question, ThreadKey, is_direct
from .journal import Journal

log = logging.getLogger(__name__)

_WITHOUT_RETRY = (RESTARTING, NOT_BEGUN)


class Notices:
    """Writes into threads beside the runners. `stream_starts` are all turns'."""

    def __init__(
        self,
        workspaces: Workspaces,
        settings: StreamSettings,
        policies: ChannelPolicies,
        clock: Clock,
        observer: Observer,
        journal: Journal,
        stream_starts: StreamStartTracker,
        store: Store,
    ) -> None:
        self._workspaces, self._settings = workspaces, settings
        self._policies, self._clock = policies, clock
        self._observer, self._journal, self._stream_starts = observer, journal, stream_starts
        self._store = store
        self._streaming_refusals = StreamingRefusalCache(settings.streaming_refusal_ttl)

    def turn_writer(
        self,
        question: Question,
        shown: Sequence[MessageRecord],
        secrets: tuple[str, ...],
        who_listens: WhoListens,
        look: Look | None = None,
        *,
        is_personal: bool = False,
    ) -> Writer:
        """Writes the answer of a turn whose thread this process has, as long as its lease is sure. `shown`:
        what another process wrote of it. `secrets` must never be shown. `who_listens`: who can go on in the
        thread without a mention. `look`: the agent's, if it has one of its own. `is_personal`: the agent
        acts with the asker's rights.
        """
        calls = self._calls(question, look=look, is_personal=is_personal)
        api = self._api_of(question).for_turn(
            question.key, question.thread.ts, is_sure=lambda: self._store.is_sure, look=look
        )
        return Writer(calls, api, self._clock, shown, secrets, who_listens)

    def writer(self, question: Question, turn: str = "", priority: Priority | None = None) -> Writer:
        """Writes about a question whose thread may be another process's; for the turn with the key `turn`, if
        that is not the question's.
        """
        api = self._api_of(question).for_turn(turn or question.key, question.thread.ts, priority)
        return Writer(self._calls(question, turn), api, self._clock)

    def _calls(
        self, question: Question, turn: str = "", look: Look | None = None, *, is_personal: bool = False
    ) -> TurnCalls:
        channel = question.thread.channel
        # a stream grows for its asker only (facts: Slack 1)
        policy = self._policies.of(channel, question.thread.team)
        can_stream = is_direct(channel) or policy.audience != "everyone"
        return TurnCalls(
            question,
            self._settings,
            self._streaming_refusals,
            self._stream_starts,
            turn=turn,
            face=TurnFace(
                look,
                self._api_of(question).transport.refused_parts,
                policy.approvers,
                can_stream,
                can_share=policy.share and not is_direct(channel) and not is_personal,
                suggestions=policy.suggestions,
            ),
        )

    def reaction(self, question: Question, *, is_shown: bool = False) -> QueuedReaction:
        """The mark of a question that waits. `is_shown`: another process may have set it."""
        api = self._api_of(question).for_turn(question.key, question.thread.ts)
        return QueuedReaction(api, question.thread.channel, question.ts, is_shown=is_shown)

    async def notify(
        self, question: Question, note: str, writer: Writer | None = None, *, offer_retry: bool = False
    ) -> None:
        """End the answer of `writer`, or a new one, with `note`."""
        writer = writer or self.writer(question)
        try:
            end = Ending(Outcome.FAILED, note=note, offer_retry=offer_retry)
            await writer.carry_out(writer.answer.ending.finish(end))
        except BotError as error:
            log.error("the reader got no notice: %s", error, extra={"turn": question.key})

    async def break_off(
        self, turn: TurnRecord, outcome: Outcome, reason: str, note: str, writer: Writer | None = None
    ) -> None:
        """End a turn whose runner could not: by its `writer`, or else below what other processes wrote."""
        now, key, writer = self._clock.monotonic(), turn.key, writer or await self._writer_after(turn)
        is_whole = None if outcome is Outcome.STOPPED else False
        ended = TurnEnded(
            now, key, outcome, reason, None, None, None, {}, late=0, is_whole=is_whole, agent=turn.agent
        )
        self._observer(ended)
        can_retry = note not in _WITHOUT_RETRY and outcome is not Outcome.REFUSED
        note = referred(note, key) if can_retry else note
        await self.notify(turn.question, note, writer, offer_retry=can_retry)
        await self._journal.end(replace(turn, messages=writer.answer.state.records), outcome, reason)

    async def _writer_after(self, turn: TurnRecord) -> Writer:
        """Writes where processes that are gone left off; of what they began no stream stays open."""
        question = turn.question
        if turn.sent_at is None:
            return self.writer(question)
        api = self._api_of(question).for_turn(question.key, question.thread.ts)
        writer = Writer(self._calls(question), api, self._clock, turn.messages)
        others = {*await self._journal.store.messages_in(question.thread), *(each.ts for each in turn.extras)}
        has_note = turn.watched_at is not None
        try:
            step = writer.answer.delivery.take_over(turn.sent_at, others, has_note=has_note)
            await writer.carry_out(step)
        except BotError as error:
            log.warning("what was written of an answer was not read: %s", error, extra={"turn": turn.key})
        return writer

    async def post(self, question: Question, text: str) -> None:
        """Say `text` in the thread of `question`, which it is about. Once, where a call has no answer."""
        # so that no other post of the turn has its number, whichever process makes it
        writer = self.writer(question)
        posts = PostSurface(writer.calls, -int(self._clock.wall()))
        await writer.carry_out(posts.post("", (), (), NOTICE, says=text))

    async def show_question(self, turn: TurnRecord, *, is_again: bool) -> None:
        """Post the question of a turn that was not written in Slack, once over all processes. A failure is
        logged. `is_again`: another process may have posted it.
        """
        question = turn.question
        writer = self.writer(question)
        posts = PostSurface(writer.calls, since=turn.accepted_at - SKEW)
        text = ASKS_NEXT.format(question.user, question.text)
        try:
            await writer.carry_out(posts.post(text, (), (), ASKED, is_again=is_again))
        except BotError as error:
            log.error("a suggested question is not in its thread: %s", error, extra={"turn": turn.key})

    async def offer(
        self,
        question: Question,
        user: str,
        text: str,
        labels: Mapping[TurnButton, str],
        *,
        is_bare: bool = False,
    ) -> None:
        """Tell `user` alone, with buttons of the turn, and their labels. `is_bare`: the thread has no replies
        yet. There Slack shows nothing private, so it goes into the channel.
        """
        thread = question.thread
        args: Args = {"channel": thread.channel, "user": user, "text": text}
        args |= {} if is_bare else {"thread_ts": thread.ts}
        args["blocks"] = [markdown(text), actions(labels, question.key)]
        await self._api_of(question).for_turn(question.key, thread.ts).call("chat.postEphemeral", args)

    def notice_view(self, words: str) -> Args:
        """The modal that says why another one was not sent."""
        return notice_view(words)

    async def open_view(self, team: str, turn: str, trigger: str, view: Args) -> bool:
        """Open a modal for a person who pressed something of the bot in the workspace `team`. The trigger
        lives for 3 s, so this is tried once. False: Slack did not.
        """
        args = {"trigger_id": trigger, "view": view}
        api = self._workspaces.of(team).api.for_turn(turn)
        return isinstance(await api.call("views.open", args, patience=0.0), CallOk)

    async def refuse(self, question: Question, words: str) -> None:
        """Say that `question` is not taken: `words` to its asker only; without any, to all."""
        thread = question.thread
        if not words:
            await self.notify(question, NOT_TAKEN)
            return
        # Slack shows nothing private in a thread without replies
        place = replace(thread, ts="") if thread.ts == question.ts else thread
        await self.post_ephemeral(place, question.user, words)

    async def reply(self, place: ThreadKey, user: str, text: str | None, *, private_url: str = "") -> None:
        """To `user`, who pressed a button in `place`. At `private_url` the message with the button becomes
        `text`, and goes away without any: what was done once is offered no longer.
        """
        if private_url:
            body: Args = {"replace_original": True, "text": text} if text else {"delete_original": True}
            transport = self._workspaces.of(place.team).api.for_turn("", place.ts).transport
            if isinstance(await transport.respond(private_url, body), CallOk):
                return
        if text is not None:
            await self.post_ephemeral(place, user, text)

    async def post_ephemeral(self, place: ThreadKey, user: str, text: str) -> None:
        """To `user` alone, in a thread; without its `ts` in the channel."""
        args = {"channel": place.channel, "user": user, "text": text}
        args |= {"thread_ts": place.ts} if place.ts else {}
        api = self._workspaces.of(place.team).api
        await api.for_turn("", place.ts).call("chat.postEphemeral", args)

    def _api_of(self, question: Question) -> SlackApi:
        return self._workspaces.of(question.thread.team).api
