"""The page's HTTP face: its files, its guard, its one web socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from slack_bot.observe.facts import AgentEvent, TurnStarted
from slack_bot.playground.feed import Feed, Listener, PageUpdate
from slack_bot.playground.page_server import build_site
from slack_bot.testing.slack.workspace import BOT_TOKEN, PersonFile, Workspace


class WatchedFeed(Feed):
    """Says when somebody stops listening."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, now=lambda: 0.0)
        self.left = asyncio.Event()

    def listen(self, listener: Listener) -> Callable[[], None]:
        stop = super().listen(listener)

        def leave() -> None:
            stop()
            self.left.set()

        return leave


class Stage:
    """Notes the orders; says one back."""

    def __init__(self) -> None:
        self.workspace = Workspace()
        self.workspace.add_user("U1", "Maya")
        self.workspace.add_channel("C1", "general")
        self.feed = WatchedFeed(self.workspace)
        self.orders: list[Mapping[str, Any]] = []
        self.visitors = 0

    def welcome(self) -> list[PageUpdate]:
        self.visitors += 1
        return [{"type": "said", "channel": "C1", "ts": f"{self.visitors}.0", "thread_ts": None}]

    async def take(self, order: Mapping[str, Any]) -> PageUpdate | None:
        self.orders.append(order)
        if order["type"] == "say":
            self.workspace.say("U1", "C1", order["text"], now=1.0)
            return None
        return {"type": "refused", "text": "No."} if order["type"] == "nonsense" else {"type": "said"}


class Site:
    def __init__(self, http: aiohttp.ClientSession, base: str, visitor: Stage) -> None:
        self.http, self.base, self.visitor = http, base, visitor

    def ws(self, origin: str | None = "own") -> Any:
        headers = {} if origin is None else {"Origin": self.base if origin == "own" else origin}
        return self.http.ws_connect(f"{self.base}/ws", headers=headers)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    visitor = Stage()
    runner = web.AppRunner(build_site(visitor, ["play.example"]), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with aiohttp.ClientSession() as http:
        yield Site(http, f"http://127.0.0.1:{runner.addresses[0][1]}", visitor)
        await asyncio.wait_for(runner.cleanup(), 60)


async def told(link: aiohttp.ClientWebSocketResponse) -> list[PageUpdate]:
    return list(await link.receive_json(timeout=60))


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("/", "text/html", "<title>slack_bot playground</title>"),
        ("/page/app.js", "text/javascript", "import"),
        ("/page/markdown.js", "text/javascript", "export function"),
        ("/page/style.css", "text/css", "color-scheme: light dark"),
    ],
)
async def test_files_are_served_under_a_strict_policy(site: Site, path: str, kind: str, words: str) -> None:
    async with site.http.get(site.base + path) as answer:
        assert answer.status == 200
        assert answer.content_type == kind
        assert words in await answer.text()
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in answer.headers


async def test_a_file_of_a_message_is_given_as_plain_text(site: Site) -> None:
    content = "# <script>alert(1)</script> ü".encode()
    workspace = site.visitor.workspace

    def call(method: str, **args: Any) -> dict[str, Any]:
        is_json = method != "files.getUploadURLExternal"
        return dict(workspace.call(method, args, now=1.0, token=BOT_TOKEN, is_json=is_json).body)

    name = 'the "answer" ü.html'
    file_id = call("files.getUploadURLExternal", filename=name, length=str(len(content)))["file_id"]
    workspace.receive_file(file_id, content)
    assert call("files.completeUploadExternal", channel_id="C1", files=[{"id": file_id}])["ok"]
    async with site.http.get(f"{site.base}/file/{file_id}") as answer:
        assert answer.status == 200
        assert (answer.content_type, answer.charset) == ("text/plain", "utf-8")
        assert await answer.read() == content
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.content_disposition is not None
        assert (answer.content_disposition.type, answer.content_disposition.filename) == ("inline", name)
    async with site.http.get(f"{site.base}/file/{file_id}", headers={"Host": "evil.example"}) as answer:
        assert answer.status == 403


async def test_half_a_surrogate_pair_does_not_end_the_page(site: Site) -> None:
    async with site.ws() as link:
        await told(link)
        await link.send_json({"type": "say", "text": "half \ud83d"})
        said = await told(link)
        while "half" not in json.dumps(said):
            said = await told(link)
    async with site.ws() as again:
        assert await told(again)


async def test_a_picture_of_a_message_is_given_as_one(site: Site) -> None:
    workspace = site.visitor.workspace
    content = b"\x89PNG\r\n\x1a\n<script>"
    workspace.say("U1", "C1", "", now=1.0, files=[PersonFile("a.html", content)])
    (file,) = workspace.history("C1")[0].files
    workspace.state.changed("C1", workspace.history("C1")[0].ts)
    async with site.http.get(f"{site.base}/file/{file.id}") as answer:
        assert (answer.content_type, await answer.read()) == ("image/png", content)


@pytest.mark.parametrize(
    "path", ["/page/../feed.py", "/page/feed.py", "/feed.py", "/page/", "/file/F9", "/file/..%2Ffeed.py"]
)
async def test_nothing_else_is_served(site: Site, path: str) -> None:
    async with site.http.get(site.base + path) as answer:
        assert answer.status == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8765", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:8765", 200),
        ("192.168.1.7:8765", 200),
        ("play.example:8765", 200),
        ("PLAY.example", 200),
        ("evil.example:8765", 403),
        ("localhost.evil.example", 403),
        ("[evil]:8765", 403),
        ("localhost:8765@evil.example", 403),
        ("localhost@evil.example", 403),
        ("localhost:a", 403),
        ("[::1]evil.example", 403),
    ],
)
async def test_a_foreign_host_name_is_refused(site: Site, host: str, status: int) -> None:
    async with site.http.get(site.base, headers={"Host": host}) as answer:
        assert answer.status == status


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "https://127.0.0.1"])
async def test_only_our_own_page_may_connect(site: Site, origin: str | None) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await site.ws(origin)
    assert refused.value.status == 403


async def test_a_page_gets_a_snapshot_and_then_what_changes(site: Site) -> None:
    async with site.ws() as link:
        snapshot, welcome = await told(link)
        assert snapshot["type"] == "snapshot"
        assert welcome == {"type": "said", "channel": "C1", "ts": "1.0", "thread_ts": None}
        await link.send_json({"type": "say", "text": "hi"})
        (change,) = await told(link)
        assert change["message"]["text"] == "hi"
        await link.send_json({"type": "other"})
        assert await told(link) == [{"type": "said"}]


async def test_an_order_with_a_number_is_confirmed_after_what_came_of_it(site: Site) -> None:
    async with site.ws() as link:
        await told(link)
        await link.send_json({"type": "other", "n": 7})
        assert await told(link) == [{"type": "said"}, {"type": "taken", "n": 7}]
        await link.send_json({"type": "nonsense", "n": 8})
        assert await told(link) == [{"type": "refused", "text": "No.", "n": 8}]


async def test_every_page_is_told(site: Site) -> None:
    async with site.ws() as one, site.ws() as other:
        await told(one)
        await told(other)
        await one.send_json({"type": "say", "text": "hi"})
        assert (await told(one))[0]["message"]["text"] == (await told(other))[0]["message"]["text"] == "hi"


DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize("sent", ["not json", "[]", "3", DEEP, f'{{"type": {DEEP}}}'])
async def test_what_is_no_order_is_answered_in_words(site: Site, sent: str) -> None:
    async with site.ws() as link:
        await told(link)
        await link.send_str(sent)
        (answer,) = await told(link)
        assert answer["type"] == "refused"
    assert site.visitor.orders == []


async def test_a_page_that_falls_behind_is_sent_away_to_start_afresh(site: Site) -> None:
    async with site.ws() as link:
        await told(link)
        site.visitor.feed(TurnStarted(0.0, "t", "U1", "C1", "1.0", "q"))
        for _ in range(25_000):  # in one go, so nothing can be sent in between
            site.visitor.feed(AgentEvent(0.0, "t", "x", {}))
        received = [message async for message in link]
        assert sum(len(json.loads(message.data)) for message in received) <= 20_000
        assert link.closed


async def test_a_page_that_leaves_is_not_told_any_more(site: Site) -> None:
    async with site.ws() as link:
        await told(link)
        assert not site.visitor.feed.left.is_set()
    await asyncio.wait_for(site.visitor.feed.left.wait(), 60)
