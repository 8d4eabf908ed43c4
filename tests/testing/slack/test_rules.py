"""Each of Slack's limits, met by the bot's own client: SlackApi, slack_sdk, and a transport in memory.

The numbers stand here a second time, with where they come from (facts: Slack). An app may call what its
manifest has scopes for, and hears of what it subscribes to.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.clock import Clock
from slack_bot.manifest import Wants, manifest_of, wanted
from slack_bot.settings.models import SlackSettings
from slack_bot.slack.api import CallFailed, CallOk, SlackApi, new_web_client
from slack_bot.slack.faults import Fault
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.rules import METHODS, SHIPPED, AppManifest, Buckets, MethodRate
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, SeenFile, Workspace, WorkspaceRules
from tests.slack.scene import unlimited
from tests.syntax_trees import syntax_tree

from .scene import NOW, U1, Scene, task, text

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
POST, UPDATE, DELETE, REPLIES = "chat.postMessage", "chat.update", "chat.delete", "conversations.replies"
STATUS = "assistant.threads.setStatus"


class Client:
    """The bot's client in front of a scene; it never repeats a call, so that a test sees every answer."""

    def __init__(self, scene: Scene, clock: Clock) -> None:
        settings = SlackSettings.model_validate({"bot_token": BOT_TOKEN, "timeout": 10})
        session: Any = SlackSession(scene.workspace, clock, timeout=settings.timeout)
        self.scene, self.clock = scene, clock
        self.web = new_web_client(settings, session)

    def api(self) -> SlackApi:
        """Each call has a limiter of its own, which knows of no refusal."""
        return SlackApi(self.web, self.clock, lambda fact: None, 0.0, unlimited(self.clock))

    async def call(self, method: str, **args: Any) -> CallOk | CallFailed:
        return await self.api().call(method, {"channel": "C1", **args})

    async def ok(self, method: str, **args: Any) -> CallOk:
        done = await self.call(method, **args)
        assert isinstance(done, CallOk), done
        return done

    async def failed(self, method: str, **args: Any) -> CallFailed:
        failed = await self.call(method, **args)
        assert isinstance(failed, CallFailed), failed
        return failed

    async def start(self, *chunks: Mapping[str, Any], **args: Any) -> str:
        given = {"thread_ts": self.scene.root, **U1, **args}
        return (await self.ok(START, **given, **({"chunks": list(chunks)} if chunks else {}))).ts

    async def append(self, ts: str, *chunks: Mapping[str, Any]) -> CallOk | CallFailed:
        return await self.call(APPEND, ts=ts, chunks=list(chunks))

    async def status(self, words: str) -> CallOk | CallFailed:
        args = {"channel_id": "C1", "thread_ts": self.scene.root, "status": words}
        return await self.api().call(STATUS, args)

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


Story = Callable[[Client], Awaitable[None]]


def play(story: Story, rules: WorkspaceRules | None = None, **kwargs: Any) -> Scene:
    """Run a story under all of Slack's limits."""

    async def main() -> Scene:
        clock = virtual_clock.new_clock()
        scene = Scene(rules=rules or WorkspaceRules.real(), **kwargs)
        client = Client(scene, clock)
        await story(client)
        scene.now = clock.wall()
        await client.web.session.close()  # type: ignore[union-attr]
        return scene

    return virtual_clock.run(main())


# ---- how often: facts 1.5 and 7


@pytest.mark.parametrize(
    ("method", "calls", "pause"),
    [
        # Tier 2: 20 a minute; Tier 4: 100; Tier 3: 50; a status has 600 (facts: Slack 1.1 to 1.3, 4, 7)
        (START, 20, 3),
        (STOP, 20, 3),
        (APPEND, 100, 1),
        (UPDATE, 50, 2),
        (DELETE, 50, 2),
        (REPLIES, 50, 2),
        (STATUS, 600, 1),
    ],
)
def test_a_method_may_be_called_so_often_a_minute(method: str, calls: int, pause: int) -> None:
    """The call may fail for another reason: Slack counts it all the same."""

    async def story(client: Client) -> None:
        root = client.scene.root
        args: dict[str, Any] = {
            START: {"thread_ts": root, **U1},
            REPLIES: {"ts": root},
            UPDATE: {"ts": root, "text": "x"},
        }.get(method, {"ts": root})

        async def call() -> CallOk | CallFailed:
            return await (client.status("is busy") if method == STATUS else client.call(method, **args))

        for _ in range(calls):
            answer = await call()
            assert isinstance(answer, CallOk) or answer.error != "ratelimited"
        refused = await call()
        assert refused == CallFailed(Fault.LATER, "ratelimited", float(pause))
        await client.wait(pause)
        again = await call()
        assert isinstance(again, CallOk) or again.error not in ("ratelimited", "rate_limited")

    play(story)


def test_who_keeps_to_the_pace_is_never_refused() -> None:
    async def story(client: Client) -> None:
        for _ in range(100):
            await client.ok(START, thread_ts=client.scene.root, **U1)
            await client.wait(60 / 20)

    play(story, WorkspaceRules.real(idle=1.0))


def test_all_streams_of_a_workspace_share_one_budget() -> None:
    async def story(client: Client) -> None:
        one, other = await client.start(text("a")), await client.start(text("b"))
        for _ in range(50):
            for ts in (one, other):
                assert isinstance(await client.append(ts, text("x")), CallOk)
        refused = await client.append(one, text("y"))
        assert refused == CallFailed(Fault.LATER, "ratelimited", 1.0)

    scene = play(story)
    assert [seen.text for seen in scene.seen()] == ["a" + 50 * "x", "b" + 50 * "x"]


def test_a_limit_comes_by_http_and_in_the_body() -> None:
    """Both forms exist, and which comes when is not known (facts: Slack 1.5)."""

    async def story(client: Client) -> None:
        for _ in range(20):
            await client.start()
        forms = [await client.failed(START, thread_ts=client.scene.root, **U1) for _ in range(4)]
        by_http, in_band = (
            CallFailed(Fault.LATER, "ratelimited", 3.0),
            CallFailed(Fault.LATER, "rate_limited", None),
        )
        assert forms == [by_http, in_band, by_http, in_band]

    scene = play(story)
    assert [call.limited for call in scene.workspace.calls] == 20 * [False] + 4 * [True]


def test_until_the_time_is_over_nothing_is_taken() -> None:
    async def story(client: Client) -> None:
        for _ in range(50):
            await client.ok(REPLIES, ts=client.scene.root)
        assert (await client.failed(REPLIES, ts=client.scene.root)).retry_after == 2
        await client.wait(1.5)  # a call has been earned since, and yet
        assert (await client.failed(REPLIES, ts=client.scene.root)).retry_after == 1
        await client.wait(1)
        await client.ok(REPLIES, ts=client.scene.root)

    play(story)


def test_posts_are_counted_by_channel_and_by_workspace() -> None:
    """About one a second a channel with bursts, several hundred a minute a workspace (facts: Slack 7)."""

    async def story(client: Client) -> None:
        for _ in range(5):
            await client.ok(POST, text="x")
        assert await client.failed(POST, text="x") == CallFailed(Fault.LATER, "ratelimited", 1.0)
        await client.ok(POST, text="x", channel=client.scene.direct)
        await client.wait(1)
        await client.ok(POST, text="x")
        for number in range(60):
            place = f"C9{number}"
            client.scene.workspace.add_channel(place)
            last = [await client.call(POST, text="x", channel=place) for _ in range(5)][-1]
        assert isinstance(last, CallFailed)
        assert last.error == "ratelimited"

    play(story)


def test_an_app_sold_outside_the_marketplace_reads_once_a_minute() -> None:
    """One request a minute, 15 objects (facts: Slack 7)."""

    async def story(client: Client) -> None:
        for _ in range(20):
            client.scene.workspace.say(
                "U1", "C1", "more", now=client.clock.wall(), thread_ts=client.scene.root
            )
        page = await client.ok(REPLIES, ts=client.scene.root, limit=200)
        assert (len(page.data["messages"]), page.data["has_more"]) == (15, True)
        assert (await client.failed(REPLIES, ts=client.scene.root)).retry_after == 60

    play(story, WorkspaceRules.real(distributed=True))


def test_a_scripted_limit_costs_nothing_and_is_told_from_a_real_one() -> None:
    async def story(client: Client) -> None:
        assert (await client.failed(REPLIES, ts=client.scene.root)).retry_after == 4
        for _ in range(50):
            await client.ok(REPLIES, ts=client.scene.root)

    scene = play(story, faults={REPLIES: ["ratelimited:4", None]})
    assert not any(call.limited for call in scene.workspace.calls)


# ---- how long: facts 1.6


def test_a_stream_lives_five_minutes_however_lively_it_is() -> None:
    async def story(client: Client) -> None:
        ts = await client.start(text("a"))
        for _ in range(5):
            await client.wait(59.99)
            assert isinstance(await client.append(ts, text("a")), CallOk)
        client.scene.workspace.take()
        await client.wait(0.1)
        assert await client.append(ts, text("b")) == CallFailed(
            Fault.SEALED, "message_not_in_streaming_state"
        )
        stopped = await client.failed(STOP, ts=ts)
        assert stopped == CallFailed(Fault.SEALED, "message_not_in_streaming_state")

    scene = play(story)
    seen = scene.last()
    assert (seen.text, seen.state, seen.expired) == ("aaaaaa", "sealed", True)
    assert scene.workspace.session("C1", scene.root) == "active"
    ends = [e for e in scene.events() if e.get("message", {}).get("streaming_state") == "completed"]
    assert [(e["subtype"], e["hidden"]) for e in ends] == [("message_changed", True)]


def test_a_stream_is_sealed_while_nobody_calls() -> None:
    async def story(client: Client) -> None:
        await client.start(text("a"), task(), task_display_mode="plan")
        changes: list[float] = []
        client.scene.workspace.listen(lambda _: changes.append(client.clock.monotonic()))
        await client.wait(299)
        assert changes == []
        await client.wait(2)
        assert changes[0] == pytest.approx(300, abs=0.01)

    scene = play(story)
    assert scene.last().plan_failed
    assert scene.workspace.open_streams() == []


def test_what_slack_sealed_can_be_rewritten_and_deleted() -> None:
    async def story(client: Client) -> None:
        ts = await client.start(text("a"), task())
        assert (await client.failed(UPDATE, ts=ts, markdown_text="b")).error == "streaming_state_conflict"
        assert (await client.failed(DELETE, ts=ts)).error == "cant_delete_message"
        await client.wait(300)
        await client.ok(UPDATE, ts=ts, markdown_text="b")
        assert (client.scene.last().text, client.scene.last().tasks) == ("b", ())
        await client.ok(DELETE, ts=ts)

    assert play(story).seen() == []


def test_an_idle_stream_may_end_sooner() -> None:
    """Reported as 30 s and as 5 minutes, so it is an option (facts: Slack 1.6)."""

    async def story(client: Client) -> None:
        ts = await client.start(text("a"))
        for _ in range(3):
            await client.wait(29)
            assert isinstance(await client.append(ts, text("a")), CallOk)
        await client.wait(31)
        assert (await client.failed(STOP, ts=ts)).fault is Fault.SEALED

    assert play(story, WorkspaceRules.real(idle=30)).last().text == "aaaa"


def test_without_limits_a_stream_lives_for_ever() -> None:
    async def story(client: Client) -> None:
        ts = await client.start(text("a"))
        await client.wait(86_400)
        assert isinstance(await client.append(ts, text("b" * 11_999)), CallOk)
        assert isinstance(await client.append(ts, text("c" * 12_000)), CallOk)

    assert len(play(story, WorkspaceRules()).last().text) == 24_000


# ---- how much: facts 1.7 and 1.4


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ([text("x" * 11_000)], text("y")),
        ([text("\u5b57" * 3_666)], text("\u5b57")),  # three bytes each
        ([text("x" * 10_000), task(title="t" * 200, details="d" * 200, output="o" * 200)], text("y")),
        ([text("x" * 10_900), {"type": "plan_update", "title": "p" * 100}], task(title="t")),
        ([text("x" * 10_600), task(title="t" * 100)], task(title="t" * 100, details="d" * 151)),
    ],
)
def test_a_stream_holds_eleven_thousand_weighted_bytes(first: list[Any], then: Any) -> None:
    """Text and titles once, details and output twice [obs] (facts: Slack 1.7)."""

    async def story(client: Client) -> None:
        ts = await client.start()
        assert isinstance(await client.append(ts, *first), CallOk)
        before = client.scene.last()
        full = await client.append(ts, then)
        assert full == CallFailed(Fault.FULL, "msg_too_long")
        assert client.scene.last() == before
        await client.ok(STOP, ts=ts)

    assert play(story).last().state == "sealed"


def test_a_full_stream_stays_full() -> None:
    """The error was permanent where it was seen (facts: Slack 1.7)."""

    async def story(client: Client) -> None:
        ts = await client.start(text("x" * 10_000), task(title="Look"))
        assert (await client.append(ts, text("y" * 2_000))) == CallFailed(Fault.FULL, "msg_too_long")
        assert (await client.append(ts, text("y"))) == CallFailed(Fault.FULL, "msg_too_long")
        assert (await client.failed(STOP, ts=ts, chunks=[text("y")])).fault is Fault.FULL
        assert isinstance(await client.append(ts, task(title="Look", status="complete")), CallOk)
        await client.ok(STOP, ts=ts)

    seen = play(story).last()
    assert (seen.text, seen.tasks[0].status) == ("x" * 10_000, "complete")


def test_a_stream_cannot_begin_with_more_than_it_holds() -> None:
    async def story(client: Client) -> None:
        chunks = [text("x" * 11_001)]
        failed = await client.failed(START, thread_ts=client.scene.root, **U1, chunks=chunks)
        assert failed.fault is Fault.FULL

    assert play(story).seen() == []


@pytest.mark.parametrize(
    ("method", "args", "most"),
    [
        (START, {"thread_ts": "<root>", **U1}, 12_000),  # facts: Slack 1.1
        (POST, {}, 12_000),  # facts: Slack 1.7
        (UPDATE, {"ts": "<mine>"}, 12_000),
    ],
)
def test_characters_a_call(method: str, args: dict[str, Any], most: int) -> None:
    async def story(client: Client) -> None:
        places = {"<root>": client.scene.root, "<mine>": (await client.ok(POST, text="mine")).ts}
        given = {name: places.get(value, value) for name, value in args.items()}
        await client.ok(method, **given, markdown_text="x" * most)
        assert (await client.failed(method, **given, markdown_text="x" * (most + 1))).fault is Fault.FULL

    play(story, WorkspaceRules())


# ---- calls that go wrong on the way


@pytest.mark.parametrize(
    ("fault", "expected", "applied"),
    [
        ("internal_error!", CallFailed(Fault.UNKNOWN, "internal_error"), True),
        ("timeout", CallFailed(Fault.UNKNOWN, "timeout"), False),
        ("timeout!", CallFailed(Fault.UNKNOWN, "timeout"), True),
        ("connect", CallFailed(Fault.LATER, "connect_failed"), False),
        ("cut", CallFailed(Fault.UNKNOWN, "connection_lost"), False),
        ("cut!", CallFailed(Fault.UNKNOWN, "connection_lost"), True),
        ("slow:11", CallFailed(Fault.UNKNOWN, "timeout"), False),
        ("slow:11!", CallFailed(Fault.UNKNOWN, "timeout"), True),
        ("http:503", CallFailed(Fault.UNKNOWN, "http_503"), False),
        ("http:502!", CallFailed(Fault.UNKNOWN, "http_502"), True),
    ],
)
def test_an_append_goes_wrong(fault: str, expected: CallFailed, applied: bool) -> None:
    async def story(client: Client) -> None:
        ts = await client.start(text("a"))
        assert await client.append(ts, text("b")) == expected
        assert client.scene.last().text == ("ab" if applied else "a")
        assert client.scene.workspace.calls[-1].applied is applied or fault == "slow:11"

    play(story, faults={APPEND: [fault]})


@pytest.mark.parametrize(("fault", "seen_before"), [("slow:5", "a"), ("slow:5!", "ab")])
def test_a_slow_call_arrives_late_or_is_answered_late(fault: str, seen_before: str) -> None:
    async def story(client: Client) -> None:
        ts = await client.start(text("a"))
        appending = asyncio.create_task(client.append(ts, text("b")))
        await client.wait(4.9)
        assert client.scene.last().text == seen_before
        assert isinstance(await appending, CallOk)
        assert (client.clock.monotonic(), client.scene.last().text) == (pytest.approx(5.0), "ab")

    play(story, faults={APPEND: [fault]})


@pytest.mark.parametrize(
    ("fault", "fields"),
    [
        ("message_not_in_streaming_state", {"state": "sealed", "expired": True}),
        ("stopped_by_user", {"state": "sealed", "stopped_by": "U1"}),
        ("msg_too_long", {"state": "streaming"}),
    ],
)
def test_a_fault_about_the_stream_is_true_from_then_on(fault: str, fields: dict[str, Any]) -> None:
    async def story(client: Client) -> None:
        ts = await client.start(text("a"))
        for _ in range(2):
            failed = await client.append(ts, text("b"))
            assert isinstance(failed, CallFailed)
            assert failed.error == fault

    seen = play(story, faults={APPEND: [fault, None]}).last()
    assert {name: getattr(seen, name) for name in fields} == fields
    assert seen.text == "a"


# ---- who sees what, and what is told


def test_a_stream_in_a_channel_is_live_for_its_recipient_alone() -> None:
    """Others see the first chunk until the stop [obs] (delivery contract, section 5)."""

    async def story(client: Client) -> None:
        scene = client.scene

        def seen_by(viewer: str | None) -> list[str]:
            thread = scene.workspace.thread("C1", scene.root, now=client.clock.wall(), viewer=viewer)
            return [seen.text for seen in thread[1:]]

        ts = await client.start()
        assert seen_by("U2") == [""]
        await client.append(ts, text("One. "))
        await client.append(ts, text("Two."), task())
        assert (seen_by(None), seen_by("U1"), seen_by("U2")) == (["One. Two."], ["One. Two."], ["One. "])
        await client.ok(STOP, ts=ts)
        assert seen_by("U2") == ["One. Two."]

    play(story)


def test_in_a_direct_message_there_is_nobody_else() -> None:
    async def story(client: Client) -> None:
        scene = client.scene
        ts = await client.start(text("One. "), channel=scene.direct, thread_ts=scene.direct_root)
        await client.ok(APPEND, channel=scene.direct, ts=ts, chunks=[text("Two.")])
        thread = scene.workspace.thread(scene.direct, scene.direct_root, viewer="U2")
        assert thread[-1].text == "One. Two."

    play(story)


def test_what_is_for_one_person_is_seen_by_one_person() -> None:
    async def story(client: Client) -> None:
        await client.ok("chat.postEphemeral", user="U1", thread_ts=client.scene.root, text="psst")

    scene = play(story)
    thread = scene.workspace.thread
    assert [len(thread("C1", scene.root, viewer=viewer)) for viewer in (None, "U1", "U2")] == [2, 2, 1]


def test_the_app_hears_of_its_own_stream_as_slack_tells_it() -> None:
    """A plain message at the start, nothing for an append, message_changed at the end, and the root each time
    its count of replies or its session changes (facts: Slack 1.8)."""

    async def story(client: Client) -> None:
        scene = client.scene
        heard: list[tuple[Any, ...]] = []

        def listen(method: str) -> None:
            for event in scene.events():
                shown = event.get("message", event)
                session = shown.get("agent_session", {}).get("status")
                heard.append((method, event.get("subtype"), shown.get("streaming_state"), session))

        for _ in range(2):
            ts = await client.start(text("a"))
            listen("start")
            await client.append(ts, text("b"))
            listen("append")
            await client.ok(STOP, ts=ts, session_status="processing")
            listen("stop")
        assert heard == [
            ("start", None, "in_progress", None),
            ("start", "message_changed", None, "processing"),
            ("stop", "message_changed", "completed", None),
            ("start", None, "in_progress", None),
            ("start", "message_changed", None, "processing"),
            ("stop", "message_changed", "completed", None),
        ]

    play(story)


def test_a_file_keeps_its_bytes() -> None:
    """Announce, upload, complete (facts: Slack 10)."""
    content = "# Ganz\n\u5b57 \U0001f642\r\n\x00".encode()

    async def story(client: Client) -> None:
        await client.web.files_upload_v2(
            channel="C1", thread_ts=client.scene.root, filename="a.md", title="All", content=content
        )

    assert play(story).last().files == (SeenFile("a.md", "All", content),)


def test_rules_without_a_word_are_those_of_a_single_call() -> None:
    assert (WorkspaceRules().stream_life, WorkspaceRules().stream_bytes, WorkspaceRules().rates) == (
        None,
        None,
        None,
    )
    real = WorkspaceRules.real()
    assert (real.stream_life, real.stream_idle, real.stream_bytes, real.page) == (300.0, None, 11_000, None)


POSTS = {"post": (MethodRate(1, 1.0, burst=2, per_channel=True), MethodRate(6))}


def taken(buckets: Buckets, method: str, times: int, *, now: float = NOW, channel: str = "C1") -> int:
    return sum(buckets.take(method, channel, now) == 0 for _ in range(times))


@pytest.mark.parametrize("rates", [None, {}, {"other": (MethodRate(1),)}])
def test_what_has_no_rate_has_no_limit(rates: dict[str, tuple[MethodRate, ...]] | None) -> None:
    assert taken(Buckets(rates), "call", 1_000) == 1_000


def test_a_bucket_fills_evenly_up_to_its_burst() -> None:
    buckets = Buckets({"call": (MethodRate(20),)})
    assert taken(buckets, "call", 20) == 20
    assert taken(buckets, "call", 1, now=NOW + 3) == 1
    assert taken(buckets, "call", 3, now=NOW + 9) == 2
    assert taken(buckets, "call", 100, now=NOW + 10_000) == 20


def test_a_refusal_closes_the_method_until_it_is_over() -> None:
    buckets = Buckets({"call": (MethodRate(20),)})
    taken(buckets, "call", 20)
    assert buckets.take("call", "", NOW + 0.5) == 3
    assert buckets.take("call", "", NOW + 3.4) == 1
    assert buckets.take("call", "", NOW + 4.5) == 0


def test_of_two_rates_the_harder_one_decides() -> None:
    buckets = Buckets(POSTS)
    assert taken(buckets, "post", 3) == 2
    assert taken(buckets, "post", 3, channel="C2") == 2
    assert taken(buckets, "post", 3, channel="C3") == 2
    assert buckets.take("post", "C4", NOW) == 10
    assert buckets.take("post", "C1", NOW + 9.5) == 1
    assert buckets.take("post", "C4", NOW + 10.5) == 0


@given(st.lists(st.floats(0, 30), max_size=60))
def test_no_minute_holds_more_than_a_burst_and_a_minutes_calls(pauses: list[float]) -> None:
    buckets, now, times = Buckets({"call": (MethodRate(4, burst=2),)}), NOW, []
    for pause in pauses:
        now += pause
        if buckets.take("call", "", now) == 0:
            times.append(now)
    for first in times:
        assert sum(first <= at < first + 60 for at in times) <= 2 + 4


@given(st.lists(st.floats(0, 30), max_size=60))
def test_who_waits_as_told_is_taken(pauses: list[float]) -> None:
    buckets, now = Buckets(POSTS), NOW
    for pause in pauses:
        now += pause
        pause = buckets.take("post", "C1", now)
        if pause:
            now += pause
            assert buckets.take("post", "C1", now) == 0


ROOT = Path(__file__).parents[3]
ON_PAPER = ROOT / "docs" / "slack-app-manifest.json"
IN_FRONT = ("slack", "inbound", "threads", "features")
RATES = "rate_limiter"  # its tables have methods that are never called
METHOD = re.compile(
    r"(agents|apps|assistant|auth|chat|conversations|files|reactions|users|views)\.[a-zA-Z.]+"
)


def without(*gone: str) -> AppManifest:
    """The shipped manifest without these scopes or events."""
    return AppManifest(SHIPPED.scopes - set(gone), SHIPPED.events - set(gone))


def called_methods() -> Iterator[str]:
    """Every method of Slack's that the bot names, read off its source."""
    package = ROOT / "slack_bot"
    rooms = [
        path for room in IN_FRONT for path in (package / room).rglob("*.py") if path.parent.name != RATES
    ]
    for path in (*rooms, package / "app.py"):
        for node in ast.walk(syntax_tree(path)):
            if isinstance(node, ast.Constant) and METHOD.fullmatch(str(node.value)):
                yield str(node.value)


def test_the_manifest_that_people_install_is_the_one_that_is_enforced() -> None:
    assert json.loads(ON_PAPER.read_text("utf-8")) == manifest_of(wanted())
    assert Workspace().state.manifest is SHIPPED


def test_the_manifest_covers_every_method_that_the_bot_calls() -> None:
    called = set(called_methods())
    assert {"chat.startStream", "chat.update", "files.completeUploadExternal", "auth.test"} <= called
    assert called <= METHODS.keys()
    with_bot_token = called - {"apps.connections.open"}  # that one takes the app-level token
    refused = {
        each for each in with_bot_token if METHODS[each].scopes and not METHODS[each].scopes & SHIPPED.scopes
    }
    # its scope is in the manifest of an app whose agents know who asks
    assert refused == {"users.lookupByEmail"}
    asked = {each.scope for each in wanted(Wants(gives_emails=True))}
    assert METHODS["users.lookupByEmail"].scopes & asked
    for kind in ("channel", "group", "im", "mpim"):
        assert set(METHODS["conversations.replies"].accepts(kind)) <= SHIPPED.scopes


@pytest.mark.parametrize(
    ("method", "gone", "needed"),
    [
        ("files.getUploadURLExternal", "files:write", "files:write"),
        ("chat.postMessage", "chat:write", "chat:write"),
        ("reactions.add", "reactions:write", "reactions:write"),
        ("conversations.open", "im:write", "im:write"),
        ("users.info", "users:read", "users:read"),
        ("usergroups.users.list", "usergroups:read", "usergroups:read"),
        ("assistant.threads.setStatus", "chat:write assistant:write", "assistant:write,chat:write"),
    ],
)
def test_a_call_without_its_scope_is_refused_as_slack_refuses_it(method: str, gone: str, needed: str) -> None:
    manifest = without(*gone.split())
    answer = Workspace(manifest=manifest).call(method, {}, now=NOW, token=BOT_TOKEN)
    provided = ",".join(sorted(manifest.scopes))
    assert answer.status == 200
    assert answer.body == {"ok": False, "error": "missing_scope", "needed": needed, "provided": provided}
    assert answer.headers["x-oauth-scopes"] == provided


@pytest.mark.parametrize("kind", ["channel", "group", "im", "mpim"])
def test_a_thread_is_read_with_the_scope_of_its_kind_of_conversation(kind: Any) -> None:
    family = "channels" if kind == "channel" else "groups" if kind == "group" else kind
    scope = f"{family}:history"
    for manifest, error in ((SHIPPED, None), (without(scope), "missing_scope")):
        workspace = Workspace(manifest=manifest)
        workspace.add_channel("X1", kind=kind)
        root = workspace.say("U1", "X1", "hi", now=NOW)
        args = {"channel": "X1", "ts": root}
        answer = workspace.call("conversations.replies", args, now=NOW, token=BOT_TOKEN)
        assert answer.body.get("error") == error
        assert answer.headers["x-accepted-oauth-scopes"] == answer.body.get("needed", scope) == scope


def test_every_answer_names_the_scopes_of_its_token() -> None:
    workspace = Workspace(faults={"chat.postMessage": ["fatal_error", "http:503"]})

    def scopes(method: str, token: str | None) -> str | None:
        return workspace.call(method, {}, now=NOW, token=token).headers.get("x-oauth-scopes")

    mine = ",".join(sorted(SHIPPED.scopes))
    assert scopes("auth.test", BOT_TOKEN) == scopes("chat.postMessage", BOT_TOKEN) == mine
    assert scopes("apps.connections.open", APP_TOKEN) == "connections:write"
    assert scopes("auth.test", "xoxb-other") is scopes("auth.test", None) is None
    assert scopes("chat.postMessage", BOT_TOKEN) is None  # a page from something in front of Slack


@pytest.mark.parametrize(
    ("gone", "heard"),
    [
        ("", ["app_mention", "message", "message"]),
        ("app_mention", ["message", "message"]),
        ("app_mentions:read", ["message", "message"]),
        ("message.channels", ["app_mention"]),
        ("channels:history", ["app_mention"]),
        ("message.groups", ["app_mention", "message", "message"]),
    ],
)
def test_what_the_app_does_not_subscribe_to_it_is_not_told(gone: str, heard: list[str]) -> None:
    scene = Scene(manifest=without(gone))
    scene.workspace.say("U1", "C1", "<@U0BOT> why?", now=NOW)
    scene.call("chat.startStream", channel="C1", thread_ts=scene.root, chunks=[text("a")], **U1)
    told = [event for event in scene.events() if event.get("subtype") != "message_changed"]
    assert [event["type"] for event in told] == heard


def test_a_press_of_stop_and_a_visit_are_events_of_their_own() -> None:
    stop, visit = "agent_session_stopped", "app_home_opened"
    for gone, heard in (("", [stop, visit]), (stop, [visit]), (visit, [stop])):
        scene = Scene(manifest=without(gone))
        scene.workspace.stop("U1", "C1", scene.root, now=NOW)
        scene.workspace.open_home("U1", now=NOW)
        assert [event["type"] for event in scene.events()] == heard


@pytest.mark.parametrize(("public_url", "expected"), [(None, True), ("https://bot.example.com", False)])
def test_a_manifest_says_whether_the_app_may_open_connections(public_url: str | None, expected: bool) -> None:
    manifest = manifest_of(wanted(), public_url=public_url)
    assert AppManifest.from_json(manifest).socket_mode is expected
    del manifest["settings"]["socket_mode_enabled"]
    assert AppManifest.from_json(manifest).socket_mode is False, "Slack's default"


def test_a_manifest_without_events_is_no_manifest_of_a_bot() -> None:
    with pytest.raises(KeyError):
        AppManifest.from_json({"oauth_config": {"scopes": {"bot": []}}, "settings": {}})
