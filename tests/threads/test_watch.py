"""Tasks that outlive their stream: the reader is told, the task is watched, and its answer comes, once."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from functools import partial

import httpx
import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, bot_on_network, free_port, run_bot, wait_until
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import SeenMessage, Workspace
from slack_bot.testing.tape.builders import answer, chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.record import ThreadKey
from tests.e2e.test_limits import tool
from tests.live_agent import HELD, live_agent

FIRST, REST = "This is the first line of it.\n", "And this is the rest."
HOUR = 3600.0


def slow(seconds: float = 2 * HOUR, end: str = "completed") -> Tape:
    """An agent that begins its answer, and goes on with it much later. Its stream is cut after FIRST."""
    moments = (
        Moment(0.1, event=task()),
        Moment(0.5, event=chunk(FIRST)),
        Moment(seconds, event=chunk(REST)),
        Moment(seconds + 0.1, event=status(end)),
        Moment(seconds + 0.2, end="closed"),
    )
    return Tape({"wire": "0.3"}, moments)


def bot_messages(bot: BotHarness, root: str) -> list[SeenMessage]:
    return [message for message in bot.thread(root) if message.is_bot and not message.ephemeral_for]


@on_virtual_time
async def test_a_task_that_outlives_its_stream_is_watched_and_its_answer_comes_when_it_is_there() -> None:
    async with run_bot(slow(), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        (shown,) = bot_messages(bot, root)
        assert shown.text == FIRST
        assert "I still check, and write here when it is done." in shown.read
        assert "Try again" in shown.read
        assert "Stop" in shown.read
        assert bot.workspace.open_streams() == []
        await asyncio.sleep(2.5 * HOUR)
        await bot.idle()
        first, line, rest = bot_messages(bot, root)
        assert FIRST.strip() in first.read
        assert "still check" not in first.read
        assert "Stop" not in first.read
        assert line.text == "<@U1> This goes on now, after 2 hours."
        assert rest.text == REST
        assert "Helpful" in rest.read
        assert bot.outcomes == ["watched", "answered"]
        assert len(bot.agent.questions) == 1


@pytest.mark.parametrize("how", ["native", "word"])
@on_virtual_time
async def test_a_stop_while_a_turn_leaves_its_task_ends_the_task(how: str) -> None:
    async with run_bot(slow(), cut_after=2) as bot:
        bot.workspace.faults.set("chat.stopStream", ["slow:5!", None])
        root = await bot.ask("hi")
        await wait_until(lambda: bot.calls("chat.stopStream"), bot.workspace, within=HOUR)
        if how == "native":
            bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        else:
            bot.workspace.say("U1", CHANNEL, "stop", now=bot.now, thread_ts=root)
        await bot.deliver()
        await bot.idle()
        assert bot.outcomes == ["watched", "stopped"]
        assert "tasks/cancel" in [call.method for call in bot.agent.calls]
        (shown,) = bot_messages(bot, root)
        assert shown.text == FIRST
        assert shown.read.endswith("Stopped.")
        assert "still check" not in shown.read
        assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_the_plan_of_a_task_that_is_watched_does_not_read_as_done() -> None:
    begun, *rest = slow().moments
    step = Moment(0.3, event=tool("start", 1, "search"))
    async with run_bot(Tape({"wire": "0.3"}, (begun, step, *rest)), cut_after=3) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        (shown,) = bot_messages(bot, root)
        assert {task.status for task in shown.tasks} == {"complete"}, "Slack has no other state"
        assert shown.plan_title == "Continues below"


class _Breaking(httpx.AsyncBaseTransport):
    """A transport that breaks where the agent is asked for a task, from a moment on."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner, self.is_broken = inner, False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_broken:
            raise ZeroDivisionError
        return await self._inner.handle_async_request(request)


@on_virtual_time
async def test_a_watch_that_breaks_says_so(caplog: pytest.LogCaptureFixture) -> None:
    transports: list[_Breaking] = []

    def through(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        transports.append(_Breaking(inner))
        return transports[0]

    async with run_bot(slow(), cut_after=2, through=through) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        transports[0].is_broken = True
        await asyncio.sleep(HOUR)
        broken = [vars(each) for each in caplog.records if each.getMessage() == "a background task broke"]
        assert [each["turn"] for each in broken] == [f"T1:{CHANNEL}:{root}"]


@on_virtual_time
async def test_the_thread_is_free_meanwhile() -> None:
    async with run_bot(slow(), answer("Quick.", ids="2"), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.ask("and?", user="U2", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["watched", "answered"]
        await asyncio.sleep(2.5 * HOUR)
        await bot.idle()
        assert bot.outcomes == ["watched", "answered", "answered"]
        assert [text for text in bot.read(root) if "goes on now" not in text] == [FIRST, "Quick.", REST]


@on_virtual_time
async def test_the_turn_s_time_may_be_up_while_the_agent_still_writes() -> None:
    words = " ".join(f"word{number}" for number in range(120))
    async with run_bot(answer(words, seconds=1200), turn_timeout=600, turn_deadline=900) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        assert "The agent is still working. I write here when it is done." in bot_messages(bot, root)[-1].read
        await asyncio.sleep(HOUR)
        await bot.idle()
        assert bot.outcomes == ["watched", "answered"]
        text = " ".join(text for text in bot.read(root) if "goes on now" not in text)
        assert text.split() == words.split()


@on_virtual_time
async def test_a_watch_survives_its_process() -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(slow(), cut_after=2, store=store) as first:
        root = await first.ask("hi")
        await first.idle()
        await asyncio.sleep(HOUR / 2)
        first.life.end_now()
        await asyncio.sleep(2 * HOUR)
        async with run_bot(after=first) as bot:
            await asyncio.sleep(60)
            await bot.idle()
            assert bot.outcomes == ["answered"]
            assert [text for text in bot.read(root) if "goes on now" not in text] == [FIRST, REST]
            assert len(bot_messages(bot, root)) == 3


class CardChanges(httpx.AsyncBaseTransport):
    """While `is_changed`, the card says that the agent wants an API key."""

    def __init__(self, inner: httpx.AsyncBaseTransport, *, is_changed: bool = False) -> None:
        self._inner, self.is_changed = inner, is_changed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if request.method != "GET" or not self.is_changed:
            return response
        card = json.loads(await response.aread())
        key = {"type": "apiKey", "in": "header", "name": "X-Key"}
        return httpx.Response(200, json={**card, "securitySchemes": {"k": key}, "security": [{"k": []}]})


def refusals(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [each for each in caplog.records if each.name.endswith("card_trust")]
    return [each.getMessage() for each in found if each.levelno == logging.ERROR]


@pytest.mark.parametrize("is_watched", [True, False], ids=["a watched turn", "a turn that runs"])
def test_a_turn_of_another_process_waits_for_a_refused_card_and_goes_on_when_it_is_accepted(
    is_watched: bool, caplog: pytest.LogCaptureFixture
) -> None:
    changed = partial(CardChanges, is_changed=True)

    @on_virtual_time
    async def story() -> None:
        store = MemoryStore(is_durable=True)
        async with run_bot(slow(), cut_after=2 if is_watched else None, store=store) as first:
            root = await first.ask("hi")
            await asyncio.sleep(60)
            first.life.end_now()
            async with run_bot(after=first, through=changed) as second:
                await asyncio.sleep(3 * HOUR)
                assert [each for each in second.outcomes if each != "watched"] == []
                (said,) = refusals(caplog)  # once, however often the task was asked for
                accepted = said.partition("SLACK_BOT_AGENT__ACCEPT_CARD=")[2].partition(",")[0]
                second.life.end_now()
                async with run_bot(after=second, through=changed, accept_card=accepted) as third:
                    await asyncio.sleep(HOUR)
                    await third.idle()
                    assert third.outcomes == ["answered"]
                    assert third.read(root)[0] == FIRST and third.read(root)[-1] == REST

    story()


@on_virtual_time
async def test_a_watched_turn_goes_on_when_the_card_is_again_as_it_was(
    caplog: pytest.LogCaptureFixture,
) -> None:
    doors: list[CardChanges] = []

    def door(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        doors.append(CardChanges(inner))
        return doors[0]

    async with run_bot(slow(), cut_after=2, through=door, card_ttl=1.0) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        doors[0].is_changed = True
        await asyncio.sleep(3 * HOUR)
        assert bot.outcomes == ["watched"]
        assert len(refusals(caplog)) == 1
        doors[0].is_changed = False
        await asyncio.sleep(HOUR)
        await bot.idle()
        assert bot.outcomes == ["watched", "answered"]
        assert bot.read(root)[-1] == REST


@pytest.mark.parametrize("how", ["button", "word", "native"])
@on_virtual_time
async def test_stop_ends_a_watch_and_cancels_its_task(how: str) -> None:
    async with run_bot(slow(), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        if how == "button":
            (shown,) = bot_messages(bot, root)
            bot.workspace.press("U1", CHANNEL, shown.ts, "stop", now=bot.now)
            await bot.deliver()
        elif how == "word":
            await bot.ask("stop", thread_ts=root)
        else:
            assert await bot.app.threads.registry.stop(ThreadKey("T1", CHANNEL, root), "U1")
        await bot.idle()
        assert bot.outcomes == ["watched", "stopped"]
        assert [call.method for call in bot.agent.calls].count("tasks/cancel") == 1
        (shown,) = bot_messages(bot, root)
        assert "Stopped." in shown.read
        assert "Try again" not in shown.read
        await asyncio.sleep(3 * HOUR)
        await bot.idle()
        assert len(bot_messages(bot, root)) == 1
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_stop_counts_also_while_a_watched_task_with_news_waits_behind_a_question() -> None:
    begins, says = task(ids="2"), status("completed", "Yes.", ids="2")
    moments = (Moment(0.1, event=begins), Moment(1500.0, event=says), Moment(1500.1, end="closed"))
    late = Tape({"wire": "0.3"}, moments)
    async with run_bot(slow(), late, cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (shown,) = bot_messages(bot, root)
        await asyncio.sleep(2 * HOUR - 60)
        await bot.ask("and?", user="U2", thread_ts=root)
        await asyncio.sleep(1300)
        bot.workspace.press("U1", CHANNEL, shown.ts, "stop", now=bot.now)
        await bot.deliver()
        assert "over already" not in str(bot.ephemeral(root))
        await bot.idle()
        assert bot.outcomes == ["watched", "answered", "stopped"]
        assert REST not in str(bot.read(root))


@on_virtual_time
async def test_only_the_asker_stops_a_watch() -> None:
    async with run_bot(slow(), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (shown,) = bot_messages(bot, root)
        bot.workspace.press("U2", CHANNEL, shown.ts, "stop", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert bot.ephemeral(root) == [("U2", "Only the person who asked can stop this.")]
        assert bot.outcomes == ["watched"]


@on_virtual_time
async def test_a_retry_cancels_the_watched_task_first() -> None:
    async with run_bot(slow(), answer("Better.", ids="2"), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (shown,) = bot_messages(bot, root)
        bot.workspace.press("U1", CHANNEL, shown.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        methods = [call.method for call in bot.agent.calls]
        assert methods.index("tasks/cancel") < len(methods) - 1 - methods[::-1].index("message/stream")
        assert bot.outcomes == ["watched", "stopped", "answered"]
        assert bot.read(root)[-1] == "Better."


@on_virtual_time
async def test_a_task_that_never_ends_is_given_up_with_a_notice() -> None:
    async with run_bot(slow(100 * HOUR), cut_after=2, watch_for=3 * HOUR) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await asyncio.sleep(4 * HOUR)
        await bot.idle()
        assert bot.outcomes == ["watched", "lost"]
        assert "no longer look for its answer" in bot_messages(bot, root)[-1].read


@on_virtual_time
async def test_a_watched_task_that_fails_is_told() -> None:
    async with run_bot(slow(HOUR, end="failed"), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await asyncio.sleep(2 * HOUR)
        await bot.idle()
        assert bot.outcomes == ["watched", "failed"]
        assert "Try again" in bot_messages(bot, root)[-1].read


class Restarted(httpx.AsyncBaseTransport):
    """The agent is away for two hours from its first answer on, and then knows no task any more."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner, self._began = inner, 0.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(await request.aread() or b"{}")
        if body.get("method") != "tasks/get":
            return await self._inner.handle_async_request(request)
        now = asyncio.get_running_loop().time()
        self._began = self._began or now
        if now < self._began + 2 * HOUR:
            raise httpx.ConnectError("it is away")
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32001}})


@on_virtual_time
async def test_a_task_that_the_agent_lost_in_a_restart_is_given_up_soon_after_that() -> None:
    async with run_bot(slow(100 * HOUR), cut_after=2, through=Restarted) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await asyncio.sleep(2.3 * HOUR)  # it is asked each quarter of an hour by now
        await bot.idle()
        assert bot.outcomes == ["watched", "lost"]
        assert "no longer knows this question" in bot_messages(bot, root)[-1].read


@on_virtual_time
async def test_an_asker_whose_thread_is_gone_is_told_directly_and_once() -> None:
    async with run_bot(slow(HOUR), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        bot.workspace.delete_root(CHANNEL, root, now=bot.now, with_replies=True)
        await asyncio.sleep(2 * HOUR)
        await bot.idle()
        assert bot.outcomes == ["watched", "gone"]
        direct = bot.workspace.direct("U1")
        (told,) = [message.text for message in bot.workspace.history(direct) if message.is_bot]
        assert f"The thread in <#{CHANNEL}> where you asked is gone" in told


@on_virtual_time
async def test_few_questions_are_asked_about_a_long_task() -> None:
    async with run_bot(slow(20 * HOUR), cut_after=2) as bot:
        await bot.ask("hi")
        await bot.idle()
        before = len(bot.agent.calls)
        await asyncio.sleep(20.5 * HOUR)
        await bot.idle()
        assert bot.outcomes == ["watched", "answered"]
        assert 70 <= len(bot.agent.calls) - before <= 110


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_an_agent_that_posts_news_is_asked_at_once(wire: str) -> None:
    """A server on a2a-sdk with push: the next question for its task would come in half a minute only."""
    port = free_port()
    async with live_agent((wire,), push="yes") as live:
        live.hold = 2
        settings = {
            "agent.url": live.url,
            "turn_timeout": 1.5,
            "connect_timeout": 0.5,
            "accept_timeout": 0.3,
            "idle_timeout": 0.6,
            "poll_timeout": 0.3,
            "push.public_url": f"http://127.0.0.1:{port}",
            "push.host": "127.0.0.1",
            "push.port": port,
            "hint_delay": 0.05,
        }
        async with bot_on_network(**settings) as (workspace, _, app):
            text = f"<@{workspace.bot.user_id}> held"
            root = workspace.say("U1", CHANNEL, text, now=time.time())
            registry = app.threads.registry
            thread = ThreadKey("T1", CHANNEL, root)

            def texts() -> list[str]:
                return [message.text for message in workspace.thread(CHANNEL, root) if message.is_bot]

            await wait_until(lambda: "I write here when it is done" in str(shown(workspace, root)), workspace)
            while not any(turn.push_id for turn in registry.conversations.of(thread).line.watched.values()):  # noqa: ASYNC110  no event says so
                await asyncio.sleep(0.01)
            live.release.set()
            await wait_until(lambda: "".join(texts()).endswith("The last."), workspace, within=15)
            await app.threads.idle()
            first, line, rest = texts()
            assert "goes on now" in line
            assert (first + rest).split() == "".join(HELD).split()


def shown(workspace: Workspace, root: str) -> list[str]:
    return [message.read for message in workspace.thread(CHANNEL, root) if message.is_bot]
