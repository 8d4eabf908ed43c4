"""A bot, an agent that checks tokens, an OpenID provider, and people with browsers."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from slack_bot.app import App
from slack_bot.clock import system_clock
from slack_bot.settings.load import Settings
from slack_bot.store.contracts import Store
from slack_bot.store.sign_ins import SIGNED_IN, SignInKey
from slack_bot.testing.harness import (
    bot_settings,
    build_in_memory,
    free_port,
    keep_delivering,
)
from slack_bot.testing.slack.rules import SHIPPED
from slack_bot.testing.slack.workspace import SeenMessage, Workspace
from tests.live_agent import Live, live_agent
from tests.openid_server import SECRET, Browser, OpenIDServer
from tests.token_guard import TokenGuard

KEY = base64.b64encode(b"k" * 32).decode()
OTHER_KEY = base64.b64encode(b"o" * 32).decode()
PEOPLE = {"U1": "alice", "U2": "bob"}


ALICES = SignInKey("T1", "U1", "default")


class Readers:
    """What people see of a bot."""

    patience = 20.0  # seconds

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def place(self, user: str = "U1") -> str:
        return self.workspace.direct(user)

    def messages(self, root: str, user: str = "U1") -> list[SeenMessage]:
        return [each for each in self.workspace.thread(self.place(user), root) if each.is_bot]

    def read(self, root: str, user: str = "U1") -> str:
        return " ".join(each.text for each in self.messages(root, user) if not each.ephemeral_for)

    def private(self, user: str = "U1") -> list[str]:
        """What the bot said to this person alone."""
        return [
            str(call.args["text"])
            for call in self.workspace.calls
            if call.method == "chat.postEphemeral" and call.args["user"] == user
        ]

    def links(self, user: str = "U1") -> list[str]:
        """The links that this person got, the newest last."""
        return [str(button["url"]) for button in self._link_buttons(user)]

    def link_labels(self, user: str = "U1") -> list[str]:
        """What stands on the buttons with these links."""
        return [str(button["text"]["text"]) for button in self._link_buttons(user)]

    def _link_buttons(self, user: str) -> list[dict[str, Any]]:
        calls = [each for each in self.workspace.calls if each.method == "chat.postEphemeral"]
        blocks = [
            block for each in calls if each.args["user"] == user for block in each.args.get("blocks", [])
        ]
        buttons = [button for block in blocks for button in block.get("elements", [])]
        return [button for button in buttons if "url" in button]

    async def link(self, user: str = "U1", number: int = 1) -> str:
        await self.until(lambda: len(self.links(user)) >= number)
        return self.links(user)[number - 1]

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(self.patience):
            while not condition():
                changed = asyncio.Event()
                stop = self.workspace.listen(lambda _, changed=changed: changed.set())  # type: ignore[misc]
                try:
                    async with asyncio.timeout(0.05):
                        await changed.wait()
                except TimeoutError:
                    continue
                finally:
                    stop()

    async def answered(self, root: str, user: str = "U1") -> str:
        """The answer, once it is whole."""
        await self.until(lambda: self.read(root, user) and not self.is_growing(root, user))
        return self.read(root, user)

    def is_growing(self, root: str, user: str) -> bool:
        return any(each.state == "streaming" for each in self.messages(root, user))


class Town(Readers):
    """One bot of several, and what people see of it."""

    def __init__(
        self,
        app: App,
        workspace: Workspace,
        live: Live,
        guard: TokenGuard,
        process: AsyncExitStack,
    ) -> None:
        super().__init__(workspace)
        self.app, self.live, self.guard = app, live, guard
        self._process = process

    async def end(self) -> None:
        """The process ends, and leaves what it had begun to the next one."""
        await self._process.aclose()

    def ask(self, text: str, user: str = "U1") -> str:
        """In a direct message."""
        return self.workspace.say(user, self.place(user), text, now=self.app.clock.wall())

    async def told(self, number: int, user: str = "U1") -> str:
        """The private message of this number."""
        await self.until(lambda: len(self.private(user)) >= number)
        return self.private(user)[number - 1]

    async def refused(self, user: str = "U1", number: int = 2) -> str:
        """What this person reads in the end; the link was the first."""
        await self.until(lambda: len(self.private(user)) >= number)
        await self.app.threads.idle()
        return self.private(user)[-1]


def settings_of(server: OpenIDServer, agent: str, port: int, **overrides: Any) -> Settings:
    oauth = {"issuer": server.url, "id": "bot", "secret": SECRET}
    return bot_settings(
        {
            "agent.identity": "oauth",
            **{f"agent.oauth.{name}": value for name, value in oauth.items()},
            "sign_in.keys": KEY,
            "sign_in.base_url": f"http://127.0.0.1:{port}",
            "sign_in.host": "127.0.0.1",
            "sign_in.port": port,
            "connect_retries": 0,
            **overrides,
        },
        agent,
    )


def new_workspace() -> Workspace:
    workspace = Workspace(manifest=replace(SHIPPED, scopes=SHIPPED.scopes | {"users:read.email"}))
    for user, account in PEOPLE.items():
        workspace.add_user(user, email=f"{account}@example.com")
        workspace.direct(user)
    return workspace


@asynccontextmanager
async def town(
    server: OpenIDServer,
    *,
    store: Store | None = None,
    workspace: Workspace | None = None,
    after: Town | None = None,
    audience: str = "",
    **overrides: Any,
) -> AsyncIterator[Town]:
    """A bot with pages of its own on a port. `after`: one that has ended; with its workspace and agent."""
    workspace, guard = workspace or new_workspace(), TokenGuard(server, audience)
    async with AsyncExitStack() as stack:
        if after is None:
            live = await stack.enter_async_context(live_agent(guard=guard))
        else:
            live, guard, workspace = after.live, after.guard, after.workspace
        settings = settings_of(server, live.url, free_port(), **overrides)
        process = await stack.enter_async_context(AsyncExitStack())
        app = await build_in_memory(workspace, settings, system_clock(), None, store=store)
        await process.enter_async_context(app)
        for receiver in app.receivers:
            await process.enter_async_context(receiver.listening(settings.slack))
        delivering = asyncio.create_task(keep_delivering(app, workspace))
        process.callback(delivering.cancel)
        yield Town(app, workspace, live, guard, process)


@asynccontextmanager
async def browser(account: str) -> AsyncIterator[Browser]:
    there = Browser(account)
    try:
        yield there
    finally:
        await there.close()


def host(provider: OpenIDServer) -> str:
    return provider.url.removeprefix("http://")


async def nothing_is_kept(here: Town, provider: OpenIDServer) -> None:
    assert await here.app.store.get(SIGNED_IN, ALICES) is None
    assert [each for each in provider.tokens() if each.is_active] == []
    assert here.live.messages == []


async def sign_in(here: Readers, account: str = "alice", user: str = "U1", number: int = 1) -> str:
    """The words of the page that this person's browser shows in the end."""
    async with browser(account) as there:
        return page_words(await there.open(await here.link(user, number)))


def page_words(page: Any) -> str:
    found = re.search(r"<h1>(.*)</h1><p>(.*)</p>", page.text)
    assert found is not None
    return f"{found[1]}. {found[2]}".replace("&#x27;", "'")
