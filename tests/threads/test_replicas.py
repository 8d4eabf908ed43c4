"""Several processes with one Redis: whatever arrives at one of them takes effect where the turn runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import httpx
import pytest

from slack_bot.app import App
from slack_bot.clock import system_clock
from slack_bot.errors import StoreError
from slack_bot.observe.health import HealthCheck
from slack_bot.slack.status import WAITING_REACTION
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Signal, Store
from slack_bot.store.redis import open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import CHANNEL, bot_settings, build_in_memory, deliver, run_bot, wait_until
from slack_bot.testing.kill import Life, MortalSession, MortalStore, MortalTransport
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import Envelope, Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import QUESTION_REWORDED
from slack_bot.threads.commands import Edit
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.redis_proxy import RedisProxy, redis_proxy
from tests.redis_server import RedisServer

LEASE = 1.0
FIRM = 3.0  # seconds: this machine does not stand still for so long
LINES = "".join(f"Line {number} of the answer has some words.\n" for number in range(1, 9)).rstrip()


class Town:
    """A workspace, its agent, and the processes of one bot."""

    def __init__(self, seconds: float) -> None:
        self.workspace = Workspace()
        self.workspace.add_channel(CHANNEL)
        tapes = [answer(LINES, seconds=seconds, ids=str(number)) for number in range(4)]
        self.agent = ScriptedAgent(*tapes)
        self.apps: list[App] = []
        self.lives: list[Life] = []
        self.gates: list[asyncio.Event] = []  # where one is not set, its process waits for the agent's answer
        self.proxies: list[RedisProxy] = []  # before Redis

    async def ask(self, at: int, text: str, *, user: str = "U1", thread_ts: str | None = None) -> str:
        """A mention, of which each event goes to the process `at`."""
        mention = f"<@{self.workspace.bot.user_id}> {text}"
        ts = self.workspace.say(user, CHANNEL, mention, now=time.time(), thread_ts=thread_ts)
        await self.deliver(at)
        return ts

    async def deliver(self, at: int, events: list[Envelope] | None = None) -> None:
        """As Slack does: again where it was not taken, as by a machine that stood still."""
        async with asyncio.timeout(60):
            for each in self.workspace.take() if events is None else events:
                while (await deliver(self.apps[at], each.payload)).status != 200:  # noqa: ASYNC110  no event reports it
                    await asyncio.sleep(0.1)

    async def ask_in_vain(self, at: int) -> tuple[list[Envelope], str]:
        """A mention that the process `at` does not acknowledge: its events, and its ts."""
        mention = f"<@{self.workspace.bot.user_id}> in vain"
        await self.deliver(at)
        ts, events = self.workspace.say("U1", CHANNEL, mention, now=time.time()), self.workspace.take()
        for each in events:
            assert (await deliver(self.apps[at], each.payload)).status != 200
        return events, ts

    def answers(self, root: str) -> list[str]:
        thread = self.workspace.thread(CHANNEL, root)
        written = [message for message in thread if message.is_bot and not message.ephemeral_for]
        return [message.text for message in written if message.text.strip()]

    async def until(self, condition: Callable[[], object], within: float = 60.0) -> None:
        await wait_until(condition, self.workspace, within)

    def is_whole(self, root: str, count: int = 1) -> bool:
        words = " ".join(self.answers(root)).split()
        return words == count * LINES.split() and not self.workspace.open_streams()


class _Gated(httpx.AsyncBaseTransport):
    def __init__(self, gate: asyncio.Event, inner: httpx.AsyncBaseTransport) -> None:
        self._gate, self._inner = gate, inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await self._gate.wait()
        return await self._inner.handle_async_request(request)


@asynccontextmanager
async def town(
    redis_server: RedisServer,
    count: int,
    seconds: float = 2.0,
    lease: float = LEASE,
    around: Callable[[Store], Any] = lambda store: store,
    **options: object,
) -> AsyncIterator[Town]:
    there = Town(seconds)
    async with AsyncExitStack() as stack:
        for _ in range(count):
            life, gate = Life(), asyncio.Event()
            settings = bot_settings({"shutdown_grace": 0.0, **options})
            gate.set()
            proxy = await stack.enter_async_context(redis_proxy(redis_server.port))
            store = await open_redis(proxy.url, Ages(), lease)
            app = await build_in_memory(
                there.workspace,
                settings,
                system_clock(),
                _Gated(gate, MortalTransport(life, ScriptedTransport(there.agent))),
                store=MortalStore(life, around(store)),  # type: ignore[arg-type]
                slack_session=MortalSession(life, there.workspace, system_clock(), timeout=5.0),
            )
            stack.push_async_callback(store.close)
            await stack.enter_async_context(app)
            await app.threads.replicas.start()
            there.apps.append(app)
            there.lives.append(life)
            there.gates.append(gate)
            there.proxies.append(proxy)
        yield there
        for life in there.lives:
            life.over.clear()


async def test_the_two_events_of_a_mention_may_come_to_two_processes(redis_server: RedisServer) -> None:
    async with town(redis_server, 2) as there:
        text = f"<@{there.workspace.bot.user_id}> hi"
        root = there.workspace.say("U1", CHANNEL, text, now=time.time())
        one, other = there.workspace.take()
        await asyncio.gather(there.deliver(0, [one]), there.deliver(1, [other]))
        await there.until(lambda: there.is_whole(root))
        assert len(there.agent.questions) == 1


async def test_a_deletion_that_overtakes_its_message_at_another_process_counts(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 2) as there:
        bot = there.workspace.bot.user_id
        gone = there.workspace.say("U1", CHANNEL, f"<@{bot}> gone", now=time.time())
        late = there.workspace.take()
        there.workspace.delete(CHANNEL, gone, now=time.time())
        await there.deliver(1)
        for _ in range(2):
            await there.deliver(0, late)
        root = await there.ask(0, "hi")
        await there.until(lambda: there.is_whole(root))
        assert [call.text for call in there.agent.questions] == ["hi"]
        assert await there.apps[0].store.left() == [] == await there.apps[1].store.left()


async def test_collect_lines_that_come_to_several_processes_at_once_are_one_question(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 3, busy="collect", collect_delay=3600.0) as there:
        channel = there.workspace.direct("U1")
        for number in range(3):
            there.workspace.say("U1", channel, f"line {number}", now=time.time())
        lines = there.workspace.take()
        assert len(lines) == len(there.apps)
        await asyncio.gather(*(there.deliver(at, [line]) for at, line in enumerate(lines)))
        waiting = [turn.question for turn in await there.apps[0].store.unfinished()]
        assert sorted(question.text for question in waiting) == ["line 0", "line 1", "line 2"]
        assert len({question.thread for question in waiting}) == 1


async def test_a_second_question_at_another_process_waits_for_the_first(redis_server: RedisServer) -> None:
    async with town(redis_server, 3) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        second = await there.ask(1, "two", user="U2", thread_ts=root)
        await there.until(lambda: _reaction(there, root, second))
        assert len(there.agent.questions) == 1
        await there.until(lambda: there.is_whole(root, 2))
        assert [call.text for call in there.agent.questions] == ["one", "two"]
        await there.until(lambda: not _reaction(there, root, second))


async def test_a_stop_at_another_process_ends_the_turn(redis_server: RedisServer) -> None:
    async with town(redis_server, 2, seconds=600.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        there.workspace.stop("U1", CHANNEL, root, now=time.time())
        await there.deliver(1)
        await there.until(lambda: "Stopped." in str(_read(there, root)))
        assert [call.method for call in there.agent.calls].count("tasks/cancel") == 1


async def test_a_stop_of_a_turn_that_looks_around_at_another_process_ends_it(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 2) as there:
        root = there.workspace.say("U2", CHANNEL, "what people wrote before", now=time.time())
        there.workspace.faults.set("conversations.replies", ["slow:600"])
        key = f"T1:{CHANNEL}:{await there.ask(0, 'one', thread_ts=root)}"
        await there.until(lambda: any(each.line.running for each in there.apps[0].threads.conversations))
        turn = await there.apps[1].store.turn(key)
        assert turn is not None and turn.stage is Stage.ACCEPTED
        await there.apps[1].threads.registry.stop_turn(key, "U1")
        await there.until(lambda: "Stopped" in str(_read(there, root)))


async def test_what_another_version_says_does_not_make_a_process_deaf(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with town(redis_server, 2, seconds=600.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        odd = Signal(ThreadKey("T1", CHANNEL, root), "stop", {"since": "another version"})
        assert await there.apps[1].store.signal(odd)
        there.workspace.stop("U1", CHANNEL, root, now=time.time())
        await there.deliver(1)
        await there.until(lambda: "Stopped." in str(_read(there, root)))
        assert "a background task broke" in caplog.text


async def test_the_turn_of_a_killed_process_is_finished_by_another(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 3, seconds=3.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        await there.ask(1, "two", user="U2", thread_ts=root)
        there.lives[0].end_now()
        await there.until(lambda: there.is_whole(root, 2))
        assert [call.text for call in there.agent.questions] == ["one", "two"]


async def test_the_turns_of_a_killed_process_are_spread_over_the_others(redis_server: RedisServer) -> None:
    async with town(redis_server, 3, seconds=6.0) as there:
        roots = [await there.ask(0, f"question {number}", user=f"U{number}") for number in range(4)]
        await there.until(lambda: all(there.answers(root) for root in roots))
        there.lives[0].end_now()
        loads = [app.threads.conversations.load for app in there.apps[1:]]
        await there.until(lambda: sum(load()["running"] for load in loads) == len(roots))
        assert [load()["running"] for load in loads] == [2, 2]
        await there.until(lambda: all(there.is_whole(root) for root in roots))
        assert len(there.agent.questions) == len(roots)


async def test_a_process_that_starts_does_not_look_back_while_others_are_connected(
    redis_server: RedisServer,
) -> None:
    """They got all that was asked: its reads would only take those of the readers."""
    async with town(redis_server, 3) as there:
        looks: list[int] = []
        stuck = asyncio.Event()

        async def look(at: int) -> None:
            looks.append(at)
            if at == 0:
                await stuck.wait()

        for app in there.apps:
            app.health.passed(HealthCheck.SLACK)
        starts = [app.threads.replicas.look_back(partial(look, at)) for at, app in enumerate(there.apps)]
        first = asyncio.create_task(starts[0])
        await until(lambda: looks == [0])
        others = [asyncio.create_task(each) for each in starts[1:]]
        await asyncio.sleep(3 * LEASE)  # nothing is to happen
        assert looks == [0]
        first.cancel()  # its process ends before it has looked
        await until(lambda: len(looks) > 1)
        await asyncio.sleep(3 * LEASE)
        assert len(looks) == 2, "one of the others does"
        for task in others:
            task.cancel()
        await asyncio.gather(first, *others, return_exceptions=True)


@pytest.mark.parametrize("lease", [LEASE, 3600.0])
async def test_a_process_that_ends_in_order_leaves_its_turns_to_the_others_and_tells_them(
    redis_server: RedisServer, lease: float
) -> None:
    async with town(redis_server, 2, seconds=3.0, lease=lease) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        await there.apps[0].close(0.0)
        await there.until(lambda: there.is_whole(root))
        assert len(there.agent.questions) == 1


async def test_a_process_that_lost_its_thread_writes_no_more(redis_server: RedisServer) -> None:
    """It hung for longer than its lease: another one has taken the turn over."""
    async with town(redis_server, 2, seconds=6.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        there.lives[0].over.set()
        await asyncio.sleep(3 * LEASE)
        there.lives[0].over.clear()
        await there.until(lambda: there.is_whole(root))
        assert len(there.agent.questions) == 1


class _Leased(MemoryStore):
    lease = 1.0

    def __init__(self) -> None:
        super().__init__(is_durable=True)
        self.renewals = self.looks = 0

    async def renew(self) -> frozenset[ThreadKey]:
        self.renewals += 1
        return await super().renew()

    async def left(self) -> list[TurnRecord]:
        self.looks += 1
        return []

    async def signals(self, kinds: AbstractSet[str]) -> list[Signal]:
        await asyncio.sleep(1)
        return []


class _Broken(_Leased):
    async def renew(self) -> frozenset[ThreadKey]:
        held = await super().renew()
        if self.renewals == 1:
            raise ZeroDivisionError
        return held


@on_virtual_time
async def test_a_process_goes_on_holding_its_threads_when_that_broke_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = _Broken()
    async with run_bot(store=store) as bot:
        await bot.app.threads.replicas.start()
        await asyncio.sleep(2)
    assert [record.getMessage() for record in caplog.records] == ["a background task broke"]
    assert store.renewals > 3


@on_virtual_time
async def test_a_process_that_ends_keeps_its_threads_and_takes_nothing_over() -> None:
    store = _Leased()
    async with run_bot(store=store) as bot:
        replicas = bot.app.threads.replicas
        await replicas.start()
        await asyncio.sleep(5)
        renewals, looks = store.renewals, store.looks
        assert renewals > 3 and looks > 3
        replicas.keep_only()
        await asyncio.sleep(5)
        assert store.renewals > renewals + 3 and store.looks == looks


@on_virtual_time
async def test_who_has_seen_nothing_goes_first_when_turns_are_taken_over() -> None:
    """Slack allows so few reads of threads that all but the first one wait."""
    text = " ".join(f"word{number}" for number in range(40))
    tapes = [answer(text, seconds=200, ids=str(number)) for number in range(3)]
    async with run_bot(*tapes) as bot:
        begun = [await bot.ask(f"question {number}", user=f"U{number}") for number in range(2)]
        await wait_until(lambda: len(bot.workspace.open_streams()) == len(begun), bot.workspace)
        waiting = await bot.ask("the last one", user="U3")
        while len(bot.agent.questions) < len(tapes):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)
        bot.life.end_now()
        before = len(bot.workspace.calls)
        async with run_bot(after=bot, reads_per_minute=1.0) as next_bot:
            await next_bot.idle()
            calls = bot.workspace.calls[before:]
            reads = [call.args["ts"] for call in calls if call.method == "conversations.replies"]
            assert reads[:3] == [begun[0], waiting, begun[1]]


async def test_what_a_process_left_in_a_thread_goes_before_what_is_asked_there_now(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 2, seconds=3.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        await there.apps[0].close(0.0)
        await there.ask(1, "two", user="U2", thread_ts=root)
        await there.until(lambda: there.is_whole(root, 2))
        assert [call.text for call in there.agent.questions] == ["one", "two"]


async def test_a_process_that_lost_its_thread_does_not_ask(redis_server: RedisServer) -> None:
    async with town(redis_server, 2, lease=3600.0) as there:  # none is renewed before the agent is asked
        there.gates[0].clear()
        await there.ask(0, "one")
        async with connect(redis_server.url) as redis:
            leases = await redis.keys("*lease*")
            assert len(leases) == 1
            await redis.delete(*leases)
        (turn,) = await there.apps[1].store.unfinished()
        assert await there.apps[1].store.claim(turn) is not None
        there.gates[0].set()
        await there.apps[0].threads.idle()
        assert there.agent.questions == []
        assert not any(call.method == "chat.postMessage" for call in there.workspace.calls)


async def test_a_question_that_a_process_learns_of_in_two_ways_at_once_is_asked_once(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 2) as there:
        root = there.workspace.say("U1", CHANNEL, "hi", now=time.time())
        question = Question(ThreadKey("T1", CHANNEL, root), root, "U1", "T1", "hi")
        await there.apps[1].store.accept(TurnRecord(question, time.time()))
        told = Signal(question.thread, "question", {"turn": question.key})
        hears = there.apps[0].threads.registry.obey
        await asyncio.gather(hears(told), hears(told))
        await there.until(lambda: there.is_whole(root), within=60)
        await there.apps[0].threads.idle()
        assert there.is_whole(root)
        assert len(there.agent.questions) == 1


class _HeldStore:
    """A store whose answer to an acceptance or to a claim comes late, while that is in `holds`."""

    def __init__(self, inner: Store) -> None:
        self._inner, self._flows = inner, asyncio.Event()
        self.holds = ""
        self.accepted: list[str] = []
        self.claimed: list[str] = []
        self.heard: list[str] = []  # kinds of signals
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def flow(self) -> None:
        self._flows.set()

    async def accept(self, turn: TurnRecord) -> bool:
        is_new = await self._inner.accept(turn)
        self.accepted.append(turn.question.text)
        if self.holds == "accept":
            await self._flows.wait()
        return is_new

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        claimed = await self._inner.claim(turn)
        self.claimed.append(turn.question.text)
        if self.holds == "claim":
            await self._flows.wait()
        return claimed

    async def signals(self, kinds: AbstractSet[str]) -> list[Signal]:
        signals = await self._inner.signals(kinds)
        self.heard += [each.kind for each in signals]
        return signals

    async def left(self) -> list[TurnRecord]:
        self.looks += 1
        return await self._inner.left()


async def test_a_thread_is_not_let_go_while_its_next_question_is_claimed(redis_server: RedisServer) -> None:
    """The answer before it ends in that moment."""
    async with held_town(redis_server) as (there, here, other):
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        here.holds = "claim"
        asking = asyncio.create_task(there.ask(0, "two", thread_ts=root))
        await until(lambda: "two" in here.claimed)
        await until(
            lambda: there.is_whole(root) and not there.apps[0].threads.conversations.load()["running"]
        )
        looks = here.looks, other.looks
        await until(lambda: here.looks > looks[0] + 3 and other.looks > looks[1] + 3)
        assert (here.claimed, other.claimed) == (["one", "two"], []), "nothing was left for others"
        here.flow()
        await asking
        await there.until(lambda: there.is_whole(root, 2))
        assert [call.text for call in there.agent.questions] == ["one", "two"]
        await until_no_thread_is_held(redis_server)
        assert other.claimed == []


async def test_a_stop_counts_that_comes_while_a_turn_is_taken_over(redis_server: RedisServer) -> None:
    """The store has given the thread to this process, which does not know it yet."""
    async with held_town(redis_server) as (there, _, other):
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        other.holds = "claim"
        there.lives[0].end_now()
        await until(lambda: "one" in other.claimed)
        registry, thread = there.apps[1].threads.registry, ThreadKey("T1", CHANNEL, root)
        stopping = asyncio.create_task(registry.stop(thread, "U1"))
        other.flow()
        assert await stopping
        await until_no_thread_is_held(redis_server)
        assert not there.is_whole(root)
        assert any("ancel" in call.method for call in there.agent.calls)


async def test_who_edits_a_question_while_it_is_taken_over_is_told_what_is_answered(
    redis_server: RedisServer,
) -> None:
    async with held_town(redis_server) as (there, here, other):
        here.holds, other.holds = "accept", "claim"
        asking = asyncio.create_task(there.ask(0, "one"))
        await until(lambda: here.accepted)
        there.lives[0].end_now()
        await until(lambda: "one" in other.claimed)
        (root,) = [message.ts for message in there.workspace.history(CHANNEL)]
        registry, thread = there.apps[1].threads.registry, ThreadKey("T1", CHANNEL, root)
        editing = asyncio.create_task(registry.edit(Edit(f"T1:{CHANNEL}:{root}", "two"), thread))
        other.flow()
        await editing
        await there.until(lambda: there.agent.questions)
        assert [call.text for call in there.agent.questions] == ["one"]
        # in the channel or the thread: it depends on whether the thread has an answer already
        seen = [partial(there.workspace.thread, CHANNEL, root), partial(there.workspace.history, CHANNEL)]
        await there.until(
            lambda: any(QUESTION_REWORDED in each.text for messages in seen for each in messages())
        )
        asking.cancel()


@asynccontextmanager
async def held_town(redis_server: RedisServer) -> AsyncIterator[tuple[Town, _HeldStore, _HeldStore]]:
    """Two processes, and their stores."""
    stores: list[_HeldStore] = []

    def held(store: Store) -> _HeldStore:
        stores.append(_HeldStore(store))
        return stores[-1]

    async with town(redis_server, 2, around=held, lease=FIRM) as there:
        yield there, *stores
        for store in stores:
            store.flow()


@pytest.mark.parametrize("text", ["", "two"], ids=["deleted", "edited"])
@pytest.mark.parametrize("holds", ["accept", "claim"])
async def test_what_becomes_of_a_message_while_another_process_stores_it_counts(
    redis_server: RedisServer, holds: str, text: str
) -> None:
    async with held_town(redis_server) as (there, here, _):
        here.holds = holds
        asking = asyncio.create_task(there.ask(0, "one"))
        await until(lambda: here.accepted if holds == "accept" else here.claimed)
        (root,) = [message.ts for message in there.workspace.history(CHANNEL)]
        if text:
            mention = f"<@{there.workspace.bot.user_id}> {text}"
            there.workspace.edit(CHANNEL, root, mention, now=time.time())
        else:
            there.workspace.delete(CHANNEL, root, now=time.time())
        await there.deliver(1)
        if holds == "claim":
            await until(lambda: "change" in here.heard)
        here.flow()
        await asking
        await until_all_ended(there)
        assert [call.text for call in there.agent.questions] == ([text] if text else [])
        await until_no_thread_is_held(redis_server)


async def test_a_stop_of_what_waits_is_over_for_all_processes(redis_server: RedisServer) -> None:
    """Nothing runs in the thread any more while it is stored: no other process may ask what was stopped."""
    async with town(redis_server, 2, busy="collect", collect_delay=3600.0) as there:
        root = await there.ask(0, "one")
        await there.ask(0, "stop", thread_ts=root)
        await until_all_ended(there)
        await until_no_thread_is_held(redis_server)
        assert there.agent.questions == []


async def test_a_line_of_its_own_in_a_direct_message_stops_what_another_process_answers(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 2, seconds=600.0) as there:
        direct = there.workspace.direct("U1")
        root = there.workspace.say("U1", direct, "one", now=time.time())
        await there.deliver(0)
        await there.until(lambda: there.workspace.open_streams())
        there.workspace.say("U1", direct, "stop", now=time.time())
        await there.deliver(1)
        await there.until(lambda: there.workspace.thread(direct, root)[-1].extras == ("Stopped.",))
        await until_all_ended(there)
        assert len(there.agent.questions) == 1


async def test_a_message_that_is_changed_and_at_once_deleted_is_asked_by_no_process(
    redis_server: RedisServer,
) -> None:
    async with town(redis_server, 2, busy="collect", collect_delay=3600.0) as there:
        root = await there.ask(0, "one")
        there.workspace.edit(CHANNEL, root, f"<@{there.workspace.bot.user_id}> two", now=time.time())
        there.workspace.delete(CHANNEL, root, now=time.time())
        events = there.workspace.take()
        await asyncio.gather(*(there.deliver(0, [each]) for each in events))
        await until_all_ended(there)
        await until_no_thread_is_held(redis_server)
        assert there.agent.questions == []


async def test_answers_go_on_while_redis_is_away(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with town(redis_server, 2, seconds=4.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        redis_server.kill()
        await there.until(lambda: there.is_whole(root))
        redis_server.start()
        assert len(there.agent.questions) == 1
    said = [line for line in caplog.messages if "Redis does not answer" in line]
    assert 1 <= len(said) <= 2  # once a process


@pytest.mark.parametrize("how", ["refused", "hanging"])
async def test_a_process_that_alone_has_lost_redis_writes_no_more_where_another_has_taken_over(
    redis_server: RedisServer, how: str
) -> None:
    async with town(redis_server, 2, seconds=8.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        async with cut(there.proxies[:1], how):
            await there.until(lambda: there.is_whole(root), within=60)
        await until_all_ended(there)
        assert there.is_whole(root), there.answers(root)
        assert len(there.agent.questions) == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", ["refused", "hanging"])
async def test_answers_go_on_and_end_though_redis_is_away_for_longer_than_a_lease(
    redis_server: RedisServer, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with town(redis_server, 2, seconds=4.0) as there:
        root = await there.ask(0, "one")
        await there.until(lambda: there.answers(root))
        async with cut(there.proxies, how):
            await there.until(lambda: there.is_whole(root), within=60)
            events, asked = await there.ask_in_vain(1)
            assert there.apps[1].health.body()["checks"]["store"] != "ok"
        await until_all_ended(there)
        assert there.is_whole(root), there.answers(root)
        await there.deliver(1, events)
        await there.until(lambda: there.is_whole(asked), within=60)
        assert [call.text for call in there.agent.questions] == ["one", "in vain"]
        assert there.apps[1].health.body()["checks"]["store"] == "ok"
    said = [record.message for record in caplog.records if record.levelno > logging.INFO]
    assert sum("Redis does not answer" in line for line in said) == 2, "once a process"


@pytest.mark.slow
async def test_with_a_slow_redis_everything_is_answered_once(redis_server: RedisServer) -> None:
    async with town(redis_server, 3, seconds=3.0, lease=10.0) as there:
        for proxy in there.proxies:
            proxy.slowness = 0.2, 1.5
        root = await there.ask(0, "one")
        await there.ask(1, "two", user="U2", thread_ts=root)
        other = await there.ask(2, "three")
        await there.until(lambda: there.is_whole(root, 2) and there.is_whole(other), within=60)
        await until_all_ended(there)
        assert there.is_whole(root, 2)
        assert sorted(call.text for call in there.agent.questions) == ["one", "three", "two"]


@asynccontextmanager
async def cut(proxies: Sequence[RedisProxy], how: str) -> AsyncIterator[None]:
    """Redis cannot be reached through `proxies` meanwhile."""
    for proxy in proxies:
        if how == "hanging":
            proxy.hang()
        else:
            await proxy.refuse()
    yield
    for proxy in proxies:
        if how == "hanging":
            proxy.flow()
        else:
            await proxy.listen()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)


async def until_no_thread_is_held(redis_server: RedisServer) -> None:
    async with connect(redis_server.url) as redis, asyncio.timeout(60):
        while await redis.keys("*lease*"):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)


async def until_all_ended(there: Town) -> None:
    """In the store and in all processes, which hear of each other."""
    async with asyncio.timeout(60):
        for app in there.apps:
            while await _has_work(app):  # noqa: ASYNC110  no event reports it
                await asyncio.sleep(0.05)
            await app.threads.idle()


async def _has_work(app: App) -> bool:
    try:
        return bool(await app.store.unfinished())
    except StoreError:
        return True


def _reaction(there: Town, root: str, ts: str) -> list[str]:
    (message,) = [each for each in there.workspace.thread(CHANNEL, root) if each.ts == ts]
    return list((message.reactions or {}).get(WAITING_REACTION) or [])


def _read(there: Town, root: str) -> list[str]:
    return [message.read for message in there.workspace.thread(CHANNEL, root) if message.is_bot]
