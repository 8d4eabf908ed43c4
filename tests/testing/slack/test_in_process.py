"""The real Web API client against the workspace in memory, on virtual time."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import ClientConnectorError, FormData, ServerDisconnectedError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.clock import Clock
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.in_process import Line, SlackSession
from slack_bot.testing.slack.workspace import BOT_TOKEN, WorkspaceRules

from .scene import U1, Scene, feedback, task, text


def with_client(
    story: Callable[[Scene, AsyncWebClient, Clock], Awaitable[None]],
    *,
    token: str | None = BOT_TOKEN,
    **kwargs: Any,
) -> None:
    """Run a story on virtual time with a client of the real SDK."""

    async def main() -> None:
        clock = virtual_clock.new_clock()
        scene = Scene(**kwargs)
        session = SlackSession(scene.workspace, clock, latency=0.05)
        client = AsyncWebClient(token=token, session=session, retry_handlers=[])  # type: ignore[arg-type]
        await story(scene, client, clock)
        await session.close()
        assert session.closed

    virtual_clock.run(main())


def test_the_sdks_own_stream_works() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        stream = await client.chat_stream(
            channel="C1", thread_ts=scene.root, **U1, task_display_mode="plan", buffer_size=8
        )
        await stream.append(markdown_text="Hello **wor")
        assert scene.last().state == "streaming"
        await stream.append(markdown_text="ld**", chunks=[task(status="complete")])
        await stream.append(markdown_text=" and ")
        await stream.stop(
            markdown_text="bye", blocks=[feedback()], metadata={"event_type": "t", "event_payload": {}}
        )
        seen = scene.last()
        assert (seen.text, seen.state, seen.tasks[0].title) == ("Hello **world** and bye", "sealed", "Search")
        assert [call.method for call in scene.workspace.calls] == [
            "chat.startStream", "chat.appendStream", "chat.stopStream",
        ]  # fmt: skip

    with_client(story)


def test_the_sdks_stream_of_a_short_answer() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        stream = await client.chat_stream(channel="C1", thread_ts=scene.root, **U1)
        await stream.append(markdown_text="42")
        await stream.stop()
        assert (scene.last().text, scene.last().state) == ("42", "sealed")

    with_client(story)


def test_writing_and_reading() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        posted = await client.chat_postMessage(
            channel="C1", thread_ts=scene.root, text="t", blocks=[feedback()], unfurl_links=False
        )
        replies = await client.conversations_replies(
            channel="C1", ts=scene.root, include_all_metadata=True, limit=5
        )
        assert [m["ts"] for m in replies["messages"]] == [scene.root, posted["ts"]]
        assert (await client.users_info(user="U1"))["user"]["name"] == "ada"
        assert (await client.auth_test())["bot_id"] == "B0BOT"
        await client.assistant_threads_setStatus(
            channel_id="C1", thread_ts=scene.root, status="is thinking..."
        )
        await client.reactions_add(channel="C1", timestamp=scene.root, name="eyes")

    with_client(story)


def test_a_form_is_read_as_slack_reads_it() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        where = {"channel": "C1", "thread_ts": scene.root}
        await client.api_call("chat.postMessage", data={**where, "text": "a", "blocks": [feedback()]})
        await client.api_call("chat.postMessage?channel=C1", params={"text": "b", "unfurl_links": True})
        assert scene.last().blocks[0]["type"] == "context_actions"
        assert scene.workspace.history("C1")[-1].text == "b"

    with_client(story)


def test_what_reads_takes_no_json() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        with pytest.raises(SlackApiError) as caught:
            await client.api_call("conversations.replies", json={"channel": "C1", "ts": scene.root})
        assert caught.value.response["error"] == "invalid_arguments"

    with_client(story)


@pytest.mark.parametrize(("token", "error"), [(None, "not_authed"), ("xoxb-wrong", "invalid_auth")])
def test_tokens(token: str | None, error: str) -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        with pytest.raises(SlackApiError) as caught:
            await client.auth_test()
        assert caught.value.response["error"] == error

    with_client(story, token=token)


def test_a_rate_limit_reaches_the_client_whole() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel="C1", text="t")
        response = caught.value.response
        assert (response.status_code, response.headers["Retry-After"]) == (429, "2")
        assert clock.monotonic() == pytest.approx(0.05)

    with_client(story, faults={"chat.postMessage": ["ratelimited:2"]})


def test_silence_lasts_as_long_as_the_clients_patience() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        with pytest.raises(TimeoutError):
            await client.chat_postMessage(channel="C1", thread_ts=scene.root, text="t")
        assert clock.monotonic() == pytest.approx(30.05)
        assert scene.last().text == "t"

    with_client(story, faults={"chat.postMessage": ["timeout!"]})


def test_a_file_goes_up() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        await client.files_upload_v2(
            channel="C1",
            thread_ts=scene.root,
            filename="answer.md",
            file=io.BytesIO(b"# All"),
            title="All of it",
        )
        assert [(file.name, file.content) for file in scene.last().files] == [("answer.md", b"# All")]

    with_client(story)


def test_the_bytes_of_a_file_may_be_late_or_lost() -> None:
    async def story(scene: Scene, client: AsyncWebClient, clock: Clock) -> None:
        async def upload() -> None:
            await client.files_upload_v2(
                channel="C1", thread_ts=scene.root, filename="a.md", content=b"# All"
            )

        with pytest.raises(ServerDisconnectedError):
            await upload()
        with pytest.raises(ClientConnectorError):
            await upload()
        assert scene.seen() == []
        await upload()
        assert scene.last().files[0].content == b"# All"
        assert clock.monotonic() > 7

    with_client(story, faults={"upload": ["cut", "connect", "slow:7"]})


async def test_an_unknown_upload_address() -> None:
    session = SlackSession(Scene().workspace, virtual_clock.new_clock())
    async with session.post("https://files.example/upload/F9", data=b"x") as response:
        assert (response.status, response.content_type) == (404, "text/plain")
        assert (await response.text(), await response.read()) == ('{"ok": false}', b'{"ok": false}')


async def test_multipart_is_said_to_be_missing() -> None:
    session = SlackSession(Scene().workspace, virtual_clock.new_clock())
    with pytest.raises(TypeError, match="multipart"):
        async with session.request("POST", "https://slack.com/api/auth.test", data=FormData()):
            pass


def test_each_stream_is_sealed_in_its_time() -> None:
    async def story() -> None:
        clock, scene = virtual_clock.new_clock(), Scene(rules=WorkspaceRules.real())
        line = Line(scene.workspace, clock)
        line.arm()
        for _ in range(2):
            scene.now = clock.wall()
            scene.start(text("a"))
            line.arm()
            await asyncio.sleep(100)
        for seconds, left in ((99, 2), (2, 1), (98, 1), (2, 0)):
            await asyncio.sleep(seconds)
            assert len(scene.workspace.open_streams()) == left

    virtual_clock.run(story())


def test_after_the_end_it_looks_no_more() -> None:
    async def story() -> None:
        clock, scene = virtual_clock.new_clock(), Scene(rules=WorkspaceRules.real())
        line = Line(scene.workspace, clock)
        scene.start(text("a"))
        line.arm()
        line.cancel()
        await asyncio.sleep(400)
        assert len(scene.workspace.open_streams()) == 1

    virtual_clock.run(story())


def test_it_needs_a_running_loop() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    scene.start(text("a"))
    with pytest.raises(RuntimeError):
        Line(scene.workspace, virtual_clock.new_clock()).arm()
