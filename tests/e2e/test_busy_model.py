"""Whatever people do in a thread, in any order and with any policy: each message is answered once, is a part
of a question, or is refused so that its author sees it. Nothing is written into an answer after its Stop.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import VirtualLoop
from slack_bot.text.feature_words import REACTION_ASKS
from slack_bot.text.words import STOP_TOO_LATE
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.record import Outcome
from tests.examples import examples, unheard
from tests.features.outbound.test_sender import running
from tests.features.reactions.test_feature import HEARS
from tests.store import subjects

PEOPLE = st.sampled_from(["U1", "U1", "U2"])
TAPE = answer("one two three four five six seven eight nine ten", seconds=8)
LOST = "cannot find out what became of this question"


@dataclass
class Said:
    """A message: its texts, one after the other. `is_excused`: it need not be asked any more."""

    user: str
    ts: str
    texts: list[str]
    is_question: bool
    is_in_thread: bool = True
    events: list[Envelope] = field(default_factory=list)
    is_excused: bool = False
    replaced: list[str] = field(default_factory=list)


class ThreadOfPeople(RuleBasedStateMachine):
    """U1 begins a thread; U1 and U2 write in it."""

    busy, respond = "queue", "auto"
    judged: ClassVar = Counter[str]()  # by policy

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=lambda: VirtualLoop(0.0))
        self.stack = AsyncExitStack()
        self.said: list[Said] = []
        self.stopped: list[tuple[str, str]] = []  # messages and their texts at a Stop
        self.programs: list[str] = []  # what programs have asked
        self.reacted: dict[tuple[str, str], None] = {}  # messages and who reacted to them
        self.has_others = self.has_stopped_listening = False

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    @property
    def asked(self) -> list[str]:
        return [line for call in self.bot.agent.questions for line in call.text.split("\n")]

    # -- what people do

    @initialize()
    def begin(self) -> None:
        self.policy: dict[str, Any] = {"busy": self.busy, "max_waiting": 3, "respond": self.respond}
        self.policy |= {"manifest": HEARS, "reactions": (("robot_face", "ask"),)}
        self.do(self.enter())
        self.root = ""
        self.do(self.write("U1", "<@U0BOT> m0", is_question=True))
        self.root = self.said[0].ts

    async def enter(self) -> None:
        bot = run_bot(TAPE, store=MemoryStore(is_durable=True), **self.policy)
        self.bot: BotHarness = await self.stack.enter_async_context(bot)

    async def write(self, user: str, text: str, *, is_question: bool) -> None:
        thread_ts = self.root or None
        ts = self.bot.workspace.say(user, CHANNEL, text, now=self.bot.now, thread_ts=thread_ts)
        events = self.bot.workspace.take()
        texts = [text.removeprefix("<@U0BOT> ")]
        self.said.append(Said(user, ts, texts, is_question, events=events))
        self.has_others |= user != "U1"
        await self.bot.deliver(events)

    @rule(user=PEOPLE, is_for_others=st.booleans())
    def write_into_the_channel(self, user: str, is_for_others: bool) -> None:
        """A new message outside of the thread: a question only where the channel is read."""

        async def work() -> None:
            text = f"m{len(self.said)}"
            written = f"<@U3> {text}" if is_for_others else text
            ts = self.bot.workspace.say(user, CHANNEL, written, now=self.bot.now)
            events = self.bot.workspace.take()
            is_question = self.respond == "channel" and not is_for_others
            self.said.append(Said(user, ts, [text], is_question, is_in_thread=False, events=events))
            await self.bot.deliver(events)

        self.do(work())

    @rule(user=PEOPLE, at=st.integers(0, 30), is_taken_back=st.booleans())
    def react(self, user: str, at: int, is_taken_back: bool) -> None:
        """It asks about the message once, whatever the message is."""
        said = self.said[at % len(self.said)]
        is_gone = said.is_excused or (said.replaced and not said.is_question)  # or it may be
        if is_gone or (said.ts, user) in self.reacted:
            return

        async def work() -> None:
            workspace, place = self.bot.workspace, (user, CHANNEL, said.ts, "robot_face")
            workspace.react(*place, now=self.bot.now)
            events = workspace.take()
            if is_taken_back:
                workspace.unreact(*place, now=self.bot.now)
            await self.bot.deliver(events)
            await self.bot.deliver(events, retry=1)
            self.reacted[said.ts, user] = None
            self.has_others |= user != "U1" and said.is_in_thread

        self.do(work())

    @rule(is_killed=st.booleans())
    def a_program_asks(self, is_killed: bool) -> None:
        """As a schedule, a webhook or the HTTP API does: into the channel, outside of the thread."""

        async def work() -> None:
            text = f"p{len(self.programs)}"
            self.programs.append(text)
            message = OutboundMessage(text, channel=CHANNEL, headline="News", is_question=True)
            await subjects.accept_outbound(self.bot.store, OutboundRecord(text, message, self.bot.now))
            if is_killed:
                async with running(self.bot):
                    await asyncio.sleep(0.2)
                await self.kill()
            async with running(self.bot):
                while await subjects.unfinished_outbound(self.bot.store):  # noqa: ASYNC110  a store tells nobody
                    await asyncio.sleep(0.5)

        self.do(work())

    @rule(user=PEOPLE)
    def mention(self, user: str) -> None:
        if user == "U1":
            self.has_stopped_listening = False
        self.do(self.write(user, f"<@U0BOT> m{len(self.said)}", is_question=True))
        self.has_stopped_listening = False

    @rule(user=PEOPLE, is_gone=st.booleans())
    def mention_and_change_before_it_comes(self, user: str, is_gone: bool) -> None:
        """The event of the edit, or of the deletion, overtakes that of the message."""

        async def work() -> None:
            workspace, text = self.bot.workspace, f"m{len(self.said)}"
            ts = workspace.say(user, CHANNEL, f"<@U0BOT> {text}", now=self.bot.now, thread_ts=self.root)
            events = workspace.take()
            if is_gone:
                workspace.delete(CHANNEL, ts, now=self.bot.now)
            else:
                workspace.edit(CHANNEL, ts, f"<@U0BOT> {text}e", now=self.bot.now)
            self.said.append(Said(user, ts, [f"{text}e"], not is_gone, events=events, replaced=[text]))
            self.has_others |= user != "U1"
            await self.bot.deliver()
            await self.bot.deliver(events)

        self.has_stopped_listening = False
        self.do(work())

    @rule(user=PEOPLE)
    def write_without_a_mention(self, user: str) -> None:
        is_followed = user == "U1" and not self.has_others and not self.has_stopped_listening
        self.do(self.write(user, f"m{len(self.said)}", is_question=is_followed))

    @rule(user=PEOPLE)
    def mention_somebody_else(self, user: str) -> None:
        self.do(self.write(user, f"<@U3> m{len(self.said)}", is_question=False))

    @rule()
    def stop_listening(self) -> None:
        self.do(self.write("U1", "<@U0BOT> stop listening", is_question=False))
        self.has_stopped_listening = True

    @rule(at=st.integers(0, 30), how=st.sampled_from(["edited", "deleted", "for somebody else"]))
    def change(self, at: int, how: str) -> None:
        """An edit or a deletion of a message that is not asked yet, or is."""
        said = self.said[1:][at % (len(self.said) - 1)] if len(self.said) > 1 else None
        if said is None or said.is_excused or not said.is_question:
            return

        async def work() -> None:
            await asyncio.sleep(0.05)  # what begins at this very moment has begun
            is_asked, old = said.texts[-1] in self.asked, said.texts[-1]
            said.is_excused = how != "edited"
            if how == "deleted":
                self.bot.workspace.delete(CHANNEL, said.ts, now=self.bot.now)
            elif how == "for somebody else":
                said.replaced.append(f"<@U3> {old}")
                self.bot.workspace.edit(CHANNEL, said.ts, f"<@U3> {old}", now=self.bot.now)
            else:
                said.texts.append(f"{old}e")
                self.bot.workspace.edit(CHANNEL, said.ts, f"<@U0BOT> {old}e", now=self.bot.now)
            if not is_asked:
                said.replaced.append(old)
            await self.bot.deliver()

        self.do(work())

    @rule(user=PEOPLE, is_native=st.booleans())
    def stop(self, user: str, is_native: bool) -> None:
        """Who only waits takes their questions back with the word."""

        async def work() -> None:
            await asyncio.sleep(0.05)
            if is_native:
                running = [ts for ts in self.bot.workspace.open_streams()]
                self.bot.workspace.stop("U1", CHANNEL, self.root, now=self.bot.now)
                self.stopped += [(ts, self.text_of(ts)) for ts in running]
                await self.bot.deliver()
                return
            for said in self.said:
                if said.user == user and not set(said.texts) & set(self.asked):
                    said.is_excused = True
            unfinished = [turn.question.user for turn in await self.bot.store.unfinished()]
            was_told = self.bot.ephemeral(self.root).count((user, STOP_TOO_LATE))
            await self.bot.ask("stop", user=user, thread_ts=self.root)
            await asyncio.sleep(0.05)
            was_late = self.bot.ephemeral(self.root).count((user, STOP_TOO_LATE)) > was_told
            # else it is a question, with a mention
            self.has_stopped_listening &= user in unfinished or was_late
            self.has_others |= user != "U1"

        self.do(work())

    @rule(user=PEOPLE)
    def drop(self, user: str) -> None:
        """The button, if it was offered."""
        offers = [
            seen
            for seen in self.bot.thread(self.root)
            if seen.ephemeral_for == user and "waiting" in str(seen.blocks)
        ]

        async def work() -> None:
            for said in self.said:
                if said.user == user and not set(said.texts) & set(self.asked):
                    said.is_excused = True
            self.bot.workspace.press(user, CHANNEL, offers[-1].ts, "drop", now=self.bot.now)
            await self.bot.deliver()

        if offers:
            self.do(work())

    # -- what else happens

    @rule(seconds=st.sampled_from([0.3, 1.0, 1.6, 4.0, 9.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        self.do(asyncio.sleep(seconds))
        self.do(self.bot.deliver())

    @precondition(lambda self: len(self.said) > 1)
    @rule(at=st.integers(0, 30))
    def slack_brings_it_again(self, at: int) -> None:
        self.do(self.bot.deliver(self.said[at % len(self.said)].events, retry=1))

    @rule()
    def the_process_is_killed(self) -> None:
        self.do(self.kill())

    async def kill(self) -> None:
        self.bot.life.end_now()
        after = run_bot(TAPE, after=self.bot, **self.policy)
        self.bot = await self.stack.enter_async_context(after)

    # -- what must hold

    def text_of(self, ts: str) -> str:
        return next((seen.text for seen in self.bot.thread(self.root) if seen.ts == ts), "")

    def teardown(self) -> None:
        try:
            if self.said:
                self.do(self.bot.idle())
                self.judge()
            self.do(self.stack.aclose())
        finally:
            self.runner.close()

    def judge(self) -> None:
        self.judged[self.busy] += 1
        counts, unasked = Counter(self.asked), list[Said]()
        for said in self.said:
            times = sum(counts[text] for text in said.texts)
            assert times <= 1, f"{said.texts} was asked {times} times"
            assert not times or said.is_question, f"{said.texts} was not for the bot"
            assert not any(counts[old] for old in said.replaced), f"{said.texts} was asked as it was before"
            if not times and said.is_question and not said.is_excused:
                unasked.append(said)
        told = [text for _, text in self.bot.ephemeral(self.root) if text.startswith("Too many questions")]
        roots = [self.root, *(said.ts for said in self.said if not said.is_in_thread)]
        lost = sum(str(self.bot.thread(root)).count(LOST) for root in roots)
        assert len(unasked) <= len(told) + lost, [said.texts for said in unasked]
        if self.busy == "queue":
            here = {text for said in self.said if said.is_in_thread for text in said.texts}
            order = [text.rstrip("e") for text in self.asked if text in here]
            assert order == sorted(order, key=lambda text: int(text[1:]))
        for ts, text in self.stopped:
            assert self.text_of(ts) == text, "something was written after the Stop"
        assert self.do(self.bot.store.unfinished()) == []
        assert self.bot.workspace.open_streams() == []
        seen_reactions = [seen.reactions or {} for root in roots for seen in self.bot.thread(root)]
        assert not any(self.bot.workspace.bot.user_id in str(each) for each in seen_reactions)
        self.judge_reactions(counts[REACTION_ASKS])
        self.judge_programs(counts)

    def judge_programs(self, counts: Counter[str]) -> None:
        """Each one is asked once, or reads in its own thread what became of it."""
        for text in self.programs:
            record = self.do(subjects.outbound(self.bot.store, text))
            assert record is not None and record.posted, f"{text} was not posted"
            is_lost = LOST in str(self.bot.thread(record.posted[0]))
            assert counts[text] == 1 or (is_lost and not counts[text]), f"{text}: {counts[text]} times"

    def judge_reactions(self, asked: int) -> None:
        """Each one is asked at most once, and has an end."""
        keys = [f"T1:{CHANNEL}:{ts}:robot_face:{user}" for ts, user in self.reacted]
        turns = [self.do(self.bot.store.turn(key)) for key in keys]
        outcomes = [None if turn is None else turn.outcome for turn in turns]
        assert None not in outcomes, outcomes
        assert outcomes.count(Outcome.ANSWERED) <= asked <= len(keys)


class Reading(ThreadOfPeople):
    """Each new message of the channel is a question too."""

    busy, respond = "queue", "channel"


class Collecting(ThreadOfPeople):
    """What waits of one person becomes one question."""

    busy = "collect"


class Interrupting(ThreadOfPeople):
    """The asker's next question ends the answer."""

    busy = "interrupt"


@pytest.mark.parametrize("machine", [ThreadOfPeople, Collecting, Interrupting, Reading])
def test_each_message_is_answered_once_or_refused_visibly(machine: type[ThreadOfPeople]) -> None:
    with unheard():
        run_state_machine_as_test(machine, settings=settings(examples(200), stateful_step_count=20))
    assert machine.judged[machine.busy] > 0
