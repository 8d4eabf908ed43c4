from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from slack_bot.agents.agent import Agent
from slack_bot.agents.wire.auth import (
    Credentials,
    Origin,
    admits,
    bare,
    keep,
    login_remedy,
    missing,
    origin_of,
)
from slack_bot.agents.wire.calls import Interface, MessageRequest
from slack_bot.agents.wire.card import AgentCard
from slack_bot.agents.wire.tokens import FileTokens
from slack_bot.agents.wire.transport import new_http
from slack_bot.app import App
from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError
from slack_bot.settings.models import AgentSettings
from slack_bot.testing.agent.scripted import ScriptedAgent, scripted_app
from slack_bot.testing.harness import CHANNEL, bot_on_network, wait_until
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer, on_wire
from slack_bot.testing.tape.tape import Tape

URL = "https://agent.example/"


def credentials(url: str = URL, allowed: tuple[str, ...] = (), **settings: Any) -> Credentials:
    return Credentials(AgentSettings(url=url, allowed_hosts=allowed, **settings))


def sent(auth: Credentials, url: str = URL) -> httpx.Headers:
    return requested(auth, url).headers


def requested(auth: Credentials, url: str = URL) -> httpx.Request:
    """The request as it would be sent."""
    return asyncio.run(first(auth.async_auth_flow(httpx.Request("POST", url))))


async def first(flow: AsyncGenerator[httpx.Request, httpx.Response]) -> httpx.Request:
    request = await anext(flow)
    await flow.aclose()
    return request


def card(*auth: tuple[str, ...]) -> AgentCard:
    return AgentCard("A", (Interface(URL, "1.0"),), streaming=True, auth=auth)


def test_a_bearer_token() -> None:
    assert sent(credentials(bearer_token=" secret\n"))["authorization"] == "Bearer secret"


def test_a_header_with_a_key() -> None:
    headers = sent(credentials(header_name="X-API-Key", header_value="k", bearer_token="t"))
    assert headers["x-api-key"] == "k"
    assert headers["authorization"] == "Bearer t"


def test_user_and_password_of_the_url() -> None:
    headers = sent(credentials("https://user:p%40ss@agent.example/"))
    assert headers["authorization"] == "Basic dXNlcjpwQHNz"
    headers = sent(credentials("https://user@agent.example/"))
    assert headers["authorization"] == "Basic dXNlcjo="


def test_nothing_configured_nothing_sent() -> None:
    assert "authorization" not in sent(credentials())


def test_credentials_go_to_admitted_addresses_only() -> None:
    auth = credentials(bearer_token="secret", allowed=("friend.example",))
    assert "authorization" in sent(auth, "https://friend.example/")
    for url in ("https://evil.example/", "https://agent.example:8443/", "http://agent.example/"):
        assert "authorization" not in sent(auth, url)


@pytest.mark.parametrize(
    "settings",
    [
        {"bearer_token": "schlüssel"},
        {"bearer_token": ""},
        {"bearer_token": "a\r\nX: y"},
        {"header_name": "X-Key", "header_value": "a\x00b"},
        {"header_name": "", "header_value": "a"},
    ],
)
def test_values_that_no_header_can_carry(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="SLACK_BOT_AGENT__") as caught:
        credentials(**settings)
    assert "schl" not in str(caught.value)


@pytest.mark.parametrize(
    ("auth", "settings"),
    [
        ((), {}),
        (((),), {}),
        ((("bearer",),), {"bearer_token": "t"}),
        ((("bearer",),), {"header_name": "Authorization", "header_value": "Bearer t"}),
        ((("oauth2",),), {"bearer_token": "t"}),
        ((("basic",),), {"url": "https://u:p@agent.example/"}),
        ((("mtls",), ("header X-Key",)), {"header_name": "x-key", "header_value": "v"}),
        (
            (("header X-Key", "bearer"),),
            {"header_name": "x-key", "header_value": "v", "bearer_token": "t"},
        ),
    ],
)
def test_a_card_that_is_satisfied(auth: tuple[tuple[str, ...], ...], settings: dict[str, Any]) -> None:
    assert missing(auth, AgentSettings(**{"url": URL, **settings})) is None


@pytest.mark.parametrize(
    ("auth", "settings", "wanted"),
    [
        ((("bearer",), ("header X-Key",)), {}, "bearer or header X-Key"),
        ((("bearer", "header X-Key"),), {"bearer_token": "t"}, "bearer with header X-Key"),
        ((("mtls",),), {"bearer_token": "t"}, "mtls"),
        ((("basic",),), {}, "basic"),
    ],
)
def test_a_card_that_asks_for_more(
    auth: tuple[tuple[str, ...], ...], settings: dict[str, Any], wanted: str
) -> None:
    said = missing(auth, AgentSettings(**{"url": URL, **settings}))
    assert said is not None
    assert f"asks for {wanted}," in said[0]


@pytest.mark.parametrize(
    ("scheme", "setting"),
    [("bearer", "BEARER_TOKEN"), ("basic", "A2A_AGENT_URL"), ("mtls", "CERTIFICATE"), ("oauth2", "ISSUER"),
     ("header X-Key", "API_KEY"), ("new", "docs/configure.md")],
)  # fmt: skip
def test_the_setting_that_a_card_s_login_needs_is_named(scheme: str, setting: str) -> None:
    said = missing(((scheme,),), AgentSettings(url=URL))
    assert said is not None and setting in said[1]


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({}, "SLACK_BOT_AGENT__BEARER_TOKEN"),
        ({"bearer_token": "t"}, "SLACK_BOT_AGENT__BEARER_TOKEN"),
        (
            {"bearer_token": "t", "header_name": "X-Team", "header_value": "v"},
            "SLACK_BOT_AGENT__BEARER_TOKEN",
        ),
        ({"header_name": "X-Key", "header_value": "v"}, "SLACK_BOT_AGENT__HEADER_VALUE"),
        ({"url": "https://u:p@agent.example/"}, "A2A_AGENT_URL"),
        ({"client": {"api_key": "k"}}, "SLACK_BOT_AGENT__CLIENT__API_KEY"),
        ({"client": {"token_file": "/t"}}, "SLACK_BOT_AGENT__CLIENT__TOKEN_FILE"),
        (
            {"client": {"id": "i", "secret": "s", "issuer": "https://login.example"}},
            "SLACK_BOT_AGENT__CLIENT__AUDIENCE",
        ),
    ],
)
def test_the_remedy_of_a_refused_login_names_the_setting_that_is_in_use(
    settings: dict[str, Any], setting: str
) -> None:
    named = re.findall(r"[A-Z][A-Z0-9_]{6,}", login_remedy(AgentSettings(**{"url": URL, **settings})))
    assert named[0] == setting and len(named) <= 2


# -- API keys: where the card says


@pytest.mark.parametrize(
    ("scheme", "url", "name", "value"),
    [
        ("header X-Key", URL, "x-key", "a key"),
        ("query key", f"{URL}?key=a+key", "", ""),
        ("cookie session", URL, "cookie", "session=a key"),
    ],
)
def test_an_api_key_goes_where_the_card_wants_it(scheme: str, url: str, name: str, value: str) -> None:
    auth = credentials(client={"api_key": "a key"}).with_api_keys([("bearer",), (scheme,)])
    request = requested(auth)
    assert str(request.url) == url
    assert request.headers.get(name, "") == value
    other = requested(auth, "https://evil.example/")
    assert "a key" not in str(other.headers) and str(other.url) == "https://evil.example/"
    assert missing(((scheme,),), AgentSettings(url=URL, client={"api_key": "a key"})) is None


def test_an_api_key_keeps_the_address_s_query_and_the_cookies() -> None:
    auth = Credentials(AgentSettings(url=URL, client={"api_key": "k"}), httpx.Cookies({"a": "b"}))
    request = requested(auth.with_api_keys([("query key", "cookie c")]), f"{URL}?x=1")
    assert (str(request.url), request.headers["cookie"]) == (f"{URL}?x=1&key=k", "a=b; c=k")


@pytest.mark.parametrize("scheme", ["header", "header X: y", "cookie a;b", "other", "header ä"])
def test_a_key_whose_name_cannot_be_sent_is_left_out(scheme: str) -> None:
    request = requested(credentials(client={"api_key": "k"}).with_api_keys([(scheme,)]))
    assert str(request.url) == URL and request.headers.keys() == httpx.Request("POST", URL).headers.keys()


# -- cookies: back to the agent in the thread where it set them, and nowhere else

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class StickyServer:
    """An agent behind a balancer: who comes without a cookie gets one. Keeps what came with each call."""

    def __init__(self, *tapes: Tape, cut_after: int | None = None) -> None:
        self.agent = ScriptedAgent(*tapes, cut_after=cut_after)
        self.calls: list[tuple[str, str, str]] = []  # the method, what it was about, its cookie
        self.cards: list[str | None] = []
        self.url = ""
        self._numbers = count(1)
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[StickyServer]:
        app = scripted_app(self.agent)

        @web.middleware
        async def stick(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._stick(request, handler)

        app.middlewares.append(stick)
        app.on_response_prepare.append(self._set)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
            yield self
        finally:
            await runner.cleanup()

    async def _stick(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method == "GET":
            self.cards.append(request.headers.get("Cookie"))
        else:
            body = json.loads(await request.read())
            params = body["params"]
            about = params["message"]["parts"][0]["text"] if "message" in params else params["id"]
            self.calls.append((body["method"], about, request.headers.get("Cookie", "")))
            self._changed.set()
        return await handler(request)

    async def _set(self, request: web.Request, response: web.StreamResponse) -> None:
        if "Cookie" not in request.headers:
            response.headers.add("Set-Cookie", f"replica={next(self._numbers)}; Path=/; HttpOnly")

    async def called(self, method: str) -> None:
        """Wait for a call of this method."""
        async with asyncio.timeout(60):
            while not any(each[0] == method for each in self.calls):
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def asked(server: StickyServer, **settings: Any) -> AsyncIterator[tuple[Workspace, App]]:
    async with server.running():
        settings["agent.url"] = server.url
        async with bot_on_network(**settings) as (workspace, _, app):
            yield workspace, app


def say(workspace: Workspace, app: App, text: str, thread: str | None = None, user: str = "U1") -> str:
    now = app.clock.wall()
    return workspace.say(user, CHANNEL, f"<@{workspace.bot.user_id}> {text}", now=now, thread_ts=thread)


async def read(workspace: Workspace, root: str, *texts: str) -> None:
    def is_there() -> bool:
        mine = [each for each in workspace.thread(CHANNEL, root) if each.is_bot]
        shown = [each.text for each in mine if each.state == "sealed"]
        return len(shown) == len(texts) and all(map(str.__contains__, shown, texts))

    await wait_until(is_there, workspace)


async def test_threads_side_by_side_have_their_own_cookies_and_a_follow_up_has_its_thread_s() -> None:
    server = StickyServer(*(answer(f"Answer {n}.", seconds=0.2, ids=str(n)) for n in (1, 2, 3, 4)))
    async with asked(server) as (workspace, app):
        first = say(workspace, app, "one")
        await read(workspace, first, "Answer 1.")
        second = say(workspace, app, "two", user="U2")
        await read(workspace, second, "Answer 2.")
        say(workspace, app, "three", first)
        await read(workspace, first, "Answer 1.", "Answer 3.")
        say(workspace, app, "four", second)
        await read(workspace, second, "Answer 2.", "Answer 4.")
    (set_first, *_), (set_second, *_) = (
        {cookie for _, text, cookie in server.calls if text == word} for word in ("three", "four")
    )
    assert [(text, cookie) for _, text, cookie in server.calls] == [
        ("one", ""),
        ("two", ""),
        ("three", set_first),
        ("four", set_second),
    ]
    assert set_first and set_second and set_first != set_second
    assert server.cards and not any(server.cards)


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_a_task_whose_stream_was_cut_is_found_again_with_the_thread_s_cookie(wire: str) -> None:
    text = "It goes on behind the cut."
    server = StickyServer(on_wire(answer(text, seconds=0.5), wire), cut_after=3)
    async with asked(server) as (workspace, app):
        root = say(workspace, app, "hi")
        await read(workspace, root, text)
    (method, _, cookie), *looks = server.calls
    assert cookie == ""
    assert looks, method
    assert {cookie for _, _, cookie in looks} == {looks[0][2]} != {""}
    assert {each for each, _, _ in looks} == (
        {"tasks/get"} if wire == "0.3" else {"GetTask", "SubscribeToTask"}
    )


async def test_a_stop_carries_the_thread_s_cookie() -> None:
    server = StickyServer(answer("Word after word after word.", seconds=30.0))
    async with asked(server) as (workspace, app):
        root = say(workspace, app, "hi")
        await server.called("message/stream")
        await wait_until(lambda: any(each.is_bot for each in workspace.thread(CHANNEL, root)), workspace)
        say(workspace, app, "stop", root)
        await server.called("tasks/cancel")
        await app.threads.idle()
    asking, stopping = server.calls[0], server.calls[-1]
    assert (asking[2], stopping[0]) == ("", "tasks/cancel")
    assert stopping[2].startswith("replica=")


async def test_the_threads_used_last_are_remembered() -> None:
    server = StickyServer(answer("Yes.", seconds=0.0))
    async with server.running():
        settings = AgentSettings(url=server.url, cookie_threads=2)
        async with new_http(settings) as http:
            agent = Agent(http, settings, system_clock())
            for key in ("a", "b", "a", "c", "a", "b"):
                async for _ in agent.in_conversation(key).ask(MessageRequest(key, "m")):
                    pass
            async for _ in agent.ask(MessageRequest("none", "m")):
                pass
    had = [(text, bool(cookie)) for _, text, cookie in server.calls]
    assert had == [
        ("a", False), ("b", False), ("a", True), ("c", False), ("a", True), ("b", False), ("none", False),
    ]  # fmt: skip


def setting(*cookies: str) -> httpx.Response:
    headers = [("Set-Cookie", each) for each in cookies]
    return httpx.Response(200, headers=headers, request=httpx.Request("POST", "http://agent.example/"))


@pytest.mark.parametrize(
    "cookies",
    [
        ["big=" + "x" * 9000],
        [f"c{number}=x" for number in range(51)],
    ],
)
def test_a_server_that_sets_too_much_gets_nothing_back(cookies: list[str]) -> None:
    jar = httpx.Cookies()
    keep(jar, setting(*cookies))
    assert not list(jar.jar)


def test_a_jar_does_not_grow_answer_by_answer() -> None:
    jar = httpx.Cookies()
    for number in range(100):
        keep(jar, setting(f"c{number}={'x' * 1000}"))
        assert sum(len(each.value or "") for each in jar.jar) <= 8192


async def test_the_client_itself_keeps_no_cookies() -> None:
    async with new_http(AgentSettings(url=URL)) as http:
        http.cookies.extract_cookies(setting("a=b"))
        assert not list(http.cookies.jar)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://Agent.Example/a", Origin("https", "agent.example", 443)),
        ("http://agent.example.:8000", Origin("http", "agent.example", 8000)),
        ("http://[::1]:9", Origin("http", "::1", 9)),
        ("ftp://agent.example", None),
        ("agent.example", None),
        ("http://", None),
        ("http://[bad", None),
        ("http://host:notaport", None),
        ("", None),
    ],
)
def test_place_of(url: str, place: Origin | None) -> None:
    assert origin_of(url) == place


def test_a_place_reads_well() -> None:
    assert str(origin_of("https://agent.example/x")) == "agent.example"
    assert str(origin_of("http://[::1]:9/x")) == "[::1]:9"


def test_bare_has_no_credentials() -> None:
    assert bare("https://user:pass@agent.example/a?b=c#d") == "https://agent.example/a?b=c"


@pytest.mark.parametrize(
    ("url", "admitted"),
    [
        ("https://agent.example/other", True),
        ("https://AGENT.example:443/", True),
        ("https://agent.example:8443/", False),
        ("http://agent.example:443/", False),
        ("https://evil.example/", False),
        ("https://agent.example.evil.example/", False),
        ("https://agent.example@evil.example/", False),
        ("https://friend.example:1234/", True),
        ("http://exact.example:81/", True),
        ("http://exact.example:82/", False),
        ("http://[2001:db8::1]:5/", True),
        ("no address", False),
    ],
)
def test_who_is_admitted(url: str, admitted: bool) -> None:
    allowed = ["Friend.example", "exact.example:81", "[2001:db8::1]:5"]
    assert admits(url, "https://agent.example", allowed) is admitted


def test_the_names_of_this_machine_are_one() -> None:
    assert admits("http://127.0.0.1:9000/", "http://localhost:9000")
    assert not admits("http://127.0.0.1:9001/", "http://localhost:9000")


def test_https_is_as_good_as_http_on_the_same_port() -> None:
    assert admits("https://agent.example:9000/", "http://agent.example:9000")


def test_without_a_configured_address_nobody_is() -> None:
    assert not admits("http://agent.example/", "")


# -- a token that is renewed


def refusal(request: httpx.Request, **headers: str) -> httpx.Response:
    return httpx.Response(401, headers=headers, stream=httpx.ByteStream(b"no"), request=request)


async def test_a_new_token_is_tried_once_and_the_cookies_of_both_answers_are_kept(tmp_path: Path) -> None:
    file, jar = tmp_path / "token", httpx.Cookies()
    file.write_text("one")
    tokens = FileTokens(str(file), "SETTING")
    flow = Credentials(AgentSettings(url=URL), jar, tokens).async_auth_flow(httpx.Request("POST", URL))
    request = await anext(flow)
    assert request.headers["authorization"] == "Bearer one"
    file.write_text("two")
    request = await flow.asend(refusal(request, **{"set-cookie": "a=1"}))
    assert request.headers["authorization"] == "Bearer two"
    with pytest.raises(StopAsyncIteration):
        await flow.asend(refusal(request, **{"set-cookie": "b=2"}))
    assert dict(jar) == {"a": "1", "b": "2"}


async def test_the_same_token_is_not_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    tokens = FileTokens(str(file), "SETTING")
    flow = Credentials(AgentSettings(url=URL), tokens=tokens).async_auth_flow(httpx.Request("POST", URL))
    with pytest.raises(StopAsyncIteration):
        await flow.asend(refusal(await anext(flow)))


async def test_no_token_is_read_for_another_server(tmp_path: Path) -> None:
    tokens = FileTokens(str(tmp_path / "gone"), "SETTING")
    flow = Credentials(AgentSettings(url=URL), tokens=tokens).async_auth_flow(
        httpx.Request("POST", "https://evil.example/")
    )
    assert "authorization" not in (await anext(flow)).headers
    await flow.aclose()
