"""The one door: what is repeated, what is not, and what everything is called."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.clock import system_clock
from slack_bot.observe.facts import SlackCalled
from slack_bot.settings.models import GovernorSettings, SlackSettings
from slack_bot.slack.api import SlackApi, new_web_client
from slack_bot.slack.faults import CallFailed, CallOk, Fault
from slack_bot.slack.methods import Priority
from slack_bot.slack.rate_limiter.local import RateLimiter
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.slack.scene import TURN, Scene, unlimited, waiting_for

POST = {"text": "hi", "unfurl_links": False}


def called(
    method: str = "chat.postMessage", faults: Any = (), **kwargs: Any
) -> tuple[Scene, CallOk | CallFailed, float]:
    """The result of one call in a fresh scene, and the seconds it took."""

    async def go() -> tuple[Scene, CallOk | CallFailed, float]:
        scene = Scene(
            {method: [*faults, None]} if faults else None, retry_timeout=kwargs.pop("retry_timeout", 60.0)
        )
        args = (
            {"channel": "C1", **POST} if method == "chat.postMessage" else {"channel": "C1", "ts": scene.root}
        )
        began = scene.clock.monotonic()
        result = await scene.api.for_turn(TURN).call(method, args, **kwargs)
        return scene, result, scene.clock.monotonic() - began

    return virtual_clock.run(go())


def test_a_call_that_works() -> None:
    scene, result, took = called()
    assert isinstance(result, CallOk)
    assert [message.text for message in scene.workspace.history("C1")] == ["question", "hi"]
    assert result.ts == scene.workspace.history("C1")[1].ts
    assert took == 0
    assert scene.facts == [
        SlackCalled(0.0, TURN, "chat.postMessage", {"channel": "C1", **POST}, True, None, 0.0)
    ]


def test_reads_go_into_the_address() -> None:
    scene, result, _ = called("conversations.replies")
    assert isinstance(result, CallOk)
    assert [message["text"] for message in result.data["messages"]] == ["question"]
    assert result.ts == ""
    assert scene.workspace.calls[0].args["ts"] == scene.root


def test_later_is_waited_for_as_long_as_slack_says() -> None:
    scene, result, took = called(faults=["ratelimited:7", "rate_limited", "rate_limited"])
    assert isinstance(result, CallOk)
    assert took == 7 + 1 + 2
    assert [fact.error for fact in scene.told()] == ["ratelimited", "rate_limited", "rate_limited", None]
    assert len(scene.workspace.history("C1")) == 2


def test_later_is_not_waited_for_for_ever() -> None:
    _, result, took = called(faults=["ratelimited:50"] * 2)
    assert result == CallFailed(Fault.LATER, "ratelimited", 50.0)
    assert took == 50


def test_patience_may_be_less() -> None:
    _, result, took = called(faults=["ratelimited:7"], patience=0)
    assert result == CallFailed(Fault.LATER, "ratelimited", 7.0)
    assert took == 0


@pytest.mark.parametrize(
    ("entry", "failed"),
    [
        ("internal_error!", CallFailed(Fault.UNKNOWN, "internal_error")),
        ("is_archived", CallFailed(Fault.NO_WRITING, "is_archived")),
        ("error:never_heard_of", CallFailed(Fault.WRONG_CALL, "never_heard_of")),
        ("timeout!", CallFailed(Fault.UNKNOWN, "timeout")),
    ],
)
def test_what_may_have_been_applied_or_never_will_be_is_not_repeated(entry: str, failed: CallFailed) -> None:
    scene, result, _ = called(faults=[entry])
    assert result == failed
    assert len(scene.workspace.calls) == 1


def test_a_time_out_is_the_clients() -> None:
    _, _, took = called(faults=["timeout"])
    assert took == 30


class Governed(Scene):
    """A scene whose calls pass a gate; `spend` uses up the budget of a method."""

    def __init__(self, faults: Any = None, **governor: Any) -> None:
        super().__init__(faults)
        self.gate = RateLimiter(
            GovernorSettings(**{"rate_utilization": 1.0, "post_burst": 1.0, **governor}), self.clock
        )
        self.door = SlackApi(self.client, self.clock, self.facts.append, 60, self.gate)

    def spend(self, method: str) -> None:
        while (door := self.door.for_turn("other")).permits.reserve(method):
            door.permits._reserved[method].use()
        door.permits.give_back()

    async def post(self, door: SlackApi, **kwargs: Any) -> CallOk | CallFailed:
        return await door.call("chat.postMessage", {"channel": "C1", **POST}, **kwargs)


@on_virtual_time
async def test_each_turn_whose_calls_wait_counts_when_replicas_share_a_budget() -> None:
    """By what they count Redis divides it."""
    scene = Governed(reads_per_minute=1.0)
    doors = [scene.door.for_turn(f"{n}") for n in range(4)]
    doors.append(scene.door.for_turn("background", priority=Priority.BACKGROUND))
    args = {"channel": "C1", "ts": scene.root}
    reading = [asyncio.create_task(door.call("conversations.replies", args)) for door in doors]
    await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
    bucket = scene.gate._governor.buckets()["conversations.replies", ""]
    assert bucket.answers(scene.clock.monotonic()) == {"1", "2", "3"}
    for task in reading:
        task.cancel()


@on_virtual_time
async def test_calls_wait_for_their_turn_and_are_not_refused() -> None:
    scene = Governed()
    await asyncio.gather(*(scene.post(scene.door.for_turn(f"{n}")) for n in range(4)))
    assert [fact.at for fact in scene.told()] == pytest.approx([0, 1, 2, 3], abs=0.01)


@on_virtual_time
async def test_a_refusal_holds_back_the_others_too() -> None:
    scene = Governed({"chat.update": ["ratelimited:7", None]})
    posted = await scene.post(scene.door)
    assert isinstance(posted, CallOk)
    update = {"channel": "C1", "ts": posted.ts, "text": "new"}
    first = asyncio.create_task(scene.door.call("chat.update", update))
    await asyncio.sleep(1)
    second = asyncio.create_task(scene.door.call("chat.update", update))
    assert {type(result) for result in await asyncio.gather(first, second)} == {CallOk}
    updates = [fact for fact in scene.told() if fact.method == "chat.update"]
    assert [(fact.ok, round(fact.at)) for fact in updates] == [(False, 0), (True, 7), (True, 9)]


@on_virtual_time
async def test_a_block_longer_than_the_patience_costs_no_call() -> None:
    scene = Governed({"chat.postMessage": ["ratelimited:70", None]})
    assert await scene.post(scene.door) == CallFailed(Fault.LATER, "ratelimited", 70)
    assert await scene.post(scene.door) == CallFailed(Fault.LATER, "ratelimited", 70)
    assert await scene.post(scene.door, patience=0) == CallFailed(Fault.LATER, "ratelimited", 70)
    assert len(scene.workspace.calls) == 1
    await asyncio.sleep(11)
    assert isinstance(await scene.post(scene.door), CallOk)
    assert scene.clock.monotonic() == pytest.approx(70, abs=0.01)


@on_virtual_time
async def test_a_stream_that_may_not_start_is_given_up_while_others_wait_too() -> None:
    scene = Governed({"chat.startStream": ["ratelimited:3", "ratelimited:3", None]})
    start = {
        "channel": "C1",
        "thread_ts": scene.root,
        "recipient_user_id": "U1",
        "recipient_team_id": "T1",
        "chunks": [{"type": "markdown_text", "text": "hi"}],
    }
    calls = [scene.door.for_turn(f"{n}").call("chat.startStream", start) for n in range(3)]
    ends = await asyncio.gather(*calls)
    assert [isinstance(end, CallOk) for end in ends] == [True, False, True]
    assert ends[1] == CallFailed(Fault.LATER, "ratelimited", 0.0)
    assert scene.clock.monotonic() == pytest.approx(5, abs=0.01)


@on_virtual_time
async def test_waiting_for_ones_turn_is_no_outage_however_long() -> None:
    scene = Governed(posts_per_second=0.01)
    await scene.post(scene.door)
    assert isinstance(await scene.post(scene.door, patience=0), CallOk)
    assert scene.clock.monotonic() == pytest.approx(100, abs=0.01)


@on_virtual_time
async def test_a_slot_is_reserved_before_there_is_a_call() -> None:
    scene, woken = Governed(), asyncio.Event()
    scene.spend("chat.postMessage")
    mine = scene.door.for_turn(TURN)
    assert not mine.permits.reserve("chat.postMessage", "", Priority.LATER, woken.set)
    assert not mine.permits.reserve("chat.postMessage", "", Priority.FIRST, woken.set)
    await woken.wait()
    assert mine.permits.reserve("chat.postMessage", "", Priority.FIRST)
    began = scene.clock.monotonic()
    assert isinstance(await mine.call("chat.postMessage", {"channel": "C1", **POST}), CallOk)
    assert scene.clock.monotonic() == began > 0.9


@on_virtual_time
async def test_a_call_takes_the_place_in_the_line_that_was_reserved() -> None:
    scene = Governed(posts_per_second=0.1)
    scene.spend("chat.postMessage")
    mine, other = scene.door.for_turn("mine"), scene.door.for_turn("other")
    mine.permits.reserve("chat.postMessage", "C1", Priority.LATER)
    scene.door.for_turn("lost").permits.reserve("chat.update")
    ends = [asyncio.create_task(scene.post(door)) for door in (other, mine)]
    done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    assert done == {ends[1]}, "mine was there first"
    await asyncio.gather(*ends)


@on_virtual_time
async def test_what_is_not_used_is_given_back() -> None:
    scene = Governed()
    mine, other = scene.door.for_turn("mine"), scene.door.for_turn("other")
    assert mine.permits.reserve("chat.postMessage", "C1")
    assert not other.permits.reserve("chat.postMessage", "C1")
    mine.permits.give_back()
    assert other.permits.reserve("chat.postMessage", "C1")
    assert other.permits.reserve("chat.update"), "another method: the first is given back"
    assert mine.permits.reserve("chat.postMessage", "C1")
    assert not waiting_for(scene.gate)


@on_virtual_time
async def test_a_write_has_a_time_out_of_its_own() -> None:
    scene = Scene({"chat.postMessage": ["timeout"], "conversations.replies": ["timeout"]})
    api = SlackApi(scene.client, scene.clock, scene.facts.append, 60, unlimited(scene.clock), 10).for_turn(
        TURN
    )
    assert await api.call("chat.postMessage", {"channel": "C1", **POST}) == CallFailed(
        Fault.UNKNOWN, "timeout"
    )
    assert scene.clock.monotonic() == 10
    await api.call("conversations.replies", {"channel": "C1", "ts": scene.root})
    assert scene.clock.monotonic() == 40


def test_wrong_calls_are_logged_loudly_and_without_their_text(caplog: pytest.LogCaptureFixture) -> None:
    called(faults=["invalid_blocks"])
    called(faults=["internal_error"])
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", "chat.postMessage failed: invalid_blocks (wrong_call)"),
        ("WARNING", "chat.postMessage failed: internal_error (unknown)"),
    ]


def test_what_a_person_deleted_is_no_reason_to_warn(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        called(faults=["message_not_found"])
        called(faults=["channel_not_found"])
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "chat.postMessage failed: message_not_found (gone)"),
        ("WARNING", "chat.postMessage failed: channel_not_found (gone)"),
    ]


class Broken:
    """A session whose requests fail the same way each time."""

    closed = False

    def __init__(self, error: Exception) -> None:
        self.error, self.count = error, 0

    def request(self, *_: Any, **__: Any) -> Any:
        self.count += 1
        raise self.error


CONNECT = aiohttp.ClientConnectorError(SimpleNamespace(host="h", port=1, ssl=False), OSError(111, "refused"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "failed", "attempts"),
    [
        (CONNECT, CallFailed(Fault.LATER, "connect_failed"), 3),  # at 0, 0.5 and 1.5 s
        (aiohttp.ConnectionTimeoutError(), CallFailed(Fault.LATER, "connect_failed"), 3),
        (aiohttp.ServerDisconnectedError(), CallFailed(Fault.UNKNOWN, "connection_lost"), 1),
        (ConnectionResetError(), CallFailed(Fault.UNKNOWN, "connection_lost"), 1),
        (TimeoutError(), CallFailed(Fault.UNKNOWN, "timeout"), 1),
    ],
)
def test_only_what_never_left_is_sent_again(error: Exception, failed: CallFailed, attempts: int) -> None:
    async def go() -> tuple[Any, int]:
        session = Broken(error)
        client = AsyncWebClient(token="xoxb-1", session=session, retry_handlers=[])  # type: ignore[arg-type]
        clock = virtual_clock.new_clock()
        api = SlackApi(client, clock, lambda fact: None, 2.0, unlimited(clock))
        return await api.call("chat.postMessage", {}), session.count

    assert virtual_clock.run(go()) == (failed, attempts)


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (
            lambda: web.Response(status=502, text="<h1>Bad", content_type="text/html"),
            (Fault.UNKNOWN, "http_502"),
        ),
        (lambda: web.Response(status=503, text="busy"), (Fault.UNKNOWN, "http_503")),
        (lambda: web.Response(text="{oh", content_type="application/json"), (Fault.UNKNOWN, "unreadable")),
        (lambda: web.Response(text="<h1>Login", content_type="text/html"), (Fault.UNKNOWN, "unreadable")),
        (lambda: web.json_response({"ok": False}), (Fault.UNKNOWN, "unreadable")),
        (lambda: web.json_response("upstream error"), (Fault.UNKNOWN, "unreadable")),
        (
            lambda: web.Response(body=b"d\xe9faut", content_type="application/json", status=502),
            (Fault.UNKNOWN, "unreadable"),
        ),
        (
            lambda: web.Response(text="[" * 100_000, content_type="application/json"),
            (Fault.UNKNOWN, "unreadable"),
        ),
        (
            lambda: web.json_response({"ok": False}, status=429, headers={"Retry-After": "soon"}),
            (Fault.LATER, "http_429"),
        ),
    ],
)
async def test_answers_that_are_no_answers(
    answer: Callable[[], web.Response], failed: tuple[Fault, str]
) -> None:
    """On a real socket, through the shared session of the bot."""

    async def respond(request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer xoxb-secret"
        return answer()

    app = web.Application()
    app.router.add_post("/api/chat.postMessage", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        async with aiohttp.ClientSession() as session:
            settings = SlackSettings(
                bot_token=SecretStr("xoxb-secret"), api_url=f"http://127.0.0.1:{port}/api/"
            )
            clock, client = system_clock(), new_web_client(settings, session)
            api = SlackApi(client, clock, lambda fact: None, 0.1, unlimited(clock))
            result = await api.call("chat.postMessage", {"text": "x"})
    finally:
        await runner.cleanup()
    assert isinstance(result, CallFailed)
    assert (result.fault, result.error) == failed


def test_the_client_has_no_retries_of_its_own() -> None:
    client = new_web_client(SlackSettings(timeout=7.5))
    assert (client.retry_handlers, client.timeout, client.token) == ([], 7.5, None)


def test_a_cancelled_call_stays_cancelled_and_is_told_of() -> None:
    async def go() -> None:
        scene = Scene({"chat.postMessage": ["timeout"]})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await scene.api.call("chat.postMessage", {"channel": "C1", **POST})
        (told,) = scene.told()
        assert (told.method, told.ok, told.error, told.took) == ("chat.postMessage", False, "given_up", 1.0)

    virtual_clock.run(go())


# -- missing scopes -----------------------------------------------------------------------------------------

REPLIES = "conversations.replies"
IN_DOUBT = {"chat.appendStream": [None, "timeout", None], "chat.stopStream": ["timeout!", None]}
TEXT = "One two three four. " * 8


async def ask_in_doubt(bot: BotHarness) -> str:
    """Ask a question whose answer has a call without an answer, so that the thread is to be read back."""
    for method, entries in IN_DOUBT.items():
        bot.workspace.faults.set(method, entries)
    root = await bot.ask("hi")
    await bot.idle()
    return root


@on_virtual_time
async def test_a_thread_that_may_not_be_read_is_asked_for_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "slack_bot.slack.api")
    faults = {REPLIES: ["missing_scope"]}
    async with run_bot(*(answer(TEXT, seconds=6.0) for _ in range(2)), faults=faults) as bot:
        for _ in range(2):
            root = await ask_in_doubt(bot)
            assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) == 1
    (said,) = [each.getMessage() for each in caplog.records if "scope" in each.getMessage()]
    assert said.startswith("conversations.replies is refused because the Slack app lacks the scope")
    assert "install the app again" in said


@pytest.mark.parametrize("error", ["not_in_channel", "invalid_auth", "error:some_new_refusal"])
@on_virtual_time
async def test_any_refusal_to_show_the_thread_ends_the_looking(error: str) -> None:
    async with run_bot(answer(TEXT, seconds=6.0), faults={REPLIES: [error]}) as bot:
        root = await ask_in_doubt(bot)
        assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) == 1


@pytest.mark.parametrize("start", ["timeout", "timeout!"])
@on_virtual_time
async def test_a_start_without_an_answer_is_known_by_its_event_alone(start: str) -> None:
    faults = {REPLIES: ["missing_scope"], "chat.startStream": [start, None]}
    async with run_bot(answer(TEXT, seconds=6.0), faults=faults) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) <= 1


@on_virtual_time
async def test_what_is_not_refused_for_good_is_asked_again() -> None:
    faults = {REPLIES: ["timeout", "internal_error", None]}
    async with run_bot(answer(TEXT, seconds=6.0), faults=faults) as bot:
        root = await ask_in_doubt(bot)
        assert "".join(bot.read(root)).split() == TEXT.split()
        assert len(bot.calls(REPLIES)) == 3


@on_virtual_time
async def test_a_conversation_is_remembered_by_itself_and_other_methods_altogether() -> None:
    scene = Scene({REPLIES: ["missing_scope"], "reactions.add": ["missing_scope"]})
    for channel in ("C1", "C1", "D1", "D2"):  # all direct messages have one scope
        await scene.api.call(REPLIES, {"channel": channel, "ts": scene.root})
        await scene.api.call("reactions.add", {"channel": channel, "timestamp": scene.root, "name": "eyes"})
    assert scene.methods() == [REPLIES, "reactions.add", REPLIES]


@on_virtual_time
async def test_not_more_is_remembered_than_a_thousand() -> None:
    scene = Scene({REPLIES: ["missing_scope"]})
    for number in (*range(1_001), 1_000, 0):
        await scene.api.call(REPLIES, {"channel": f"C{number}", "ts": scene.root})
    assert scene.workspace.calls[-1].args["channel"] == "C0"
    assert len(scene.methods()) == 1_002
