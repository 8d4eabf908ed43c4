"""An agent on a2a-sdk repeats the token with which it was asked: nobody reads it, and it is not stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from slack_bot.app import App
from slack_bot.clock import system_clock
from slack_bot.store.contracts import Store
from slack_bot.testing.harness import CHANNEL, bot_settings, build_in_memory, keep_delivering, wait_until
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.text.masking import MASK
from tests.authorization_server import TokenServer
from tests.live_agent import Live, live_agent
from tests.people_keys import identity_overrides, identity_settings, let_exchange

SHOWN = f"You are {MASK}, I think."


def new_workspace() -> Workspace:
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    return workspace


@asynccontextmanager
async def bot(
    live: Live, workspace: Workspace, overrides: dict[str, Any], store: Store | None = None
) -> AsyncIterator[App]:
    settings = bot_settings({"channel.personal": True, "event_bytes": 100_000, **overrides}, live.url)
    async with await build_in_memory(workspace, settings, system_clock(), None, store=store) as app:
        delivering = asyncio.create_task(keep_delivering(app, workspace))
        try:
            yield app
        finally:
            delivering.cancel()


@asynccontextmanager
async def town(overrides: dict[str, Any]) -> AsyncIterator[tuple[App, Workspace, Live]]:
    workspace = new_workspace()
    async with live_agent() as live, bot(live, workspace, overrides) as app:
        yield app, workspace, live


def ask(user: str, app: App, workspace: Workspace) -> str:
    return workspace.say(user, CHANNEL, f"<@{workspace.bot.user_id}> login", now=app.clock.wall())


async def answer_to(user: str, app: App, workspace: Workspace) -> str:
    return await answer_in(ask(user, app, workspace), app, workspace)


async def answer_in(root: str, app: App, workspace: Workspace) -> str:
    def read() -> list[str]:
        thread = [each for each in workspace.thread(CHANNEL, root) if each.is_bot]
        return [each.text for each in thread if each.text and each.state != "streaming"]

    await wait_until(read, workspace)
    await app.threads.idle()
    (text,) = read()
    return text


async def stored_of(app: App, workspace: Workspace) -> str:
    """All events of the agent that are kept."""
    await app.close()
    turns = [f"T1:{CHANNEL}:{each.ts}" for each in workspace.history(CHANNEL)]
    return "".join([str(await app.store.events(turn)) for turn in turns])


def tokens_of(live: Live) -> list[str]:
    found = (each.get("authorization", "").removeprefix("Bearer ") for each in live.headers)
    return [each for each in dict.fromkeys(found) if each]


def pieces(token: str) -> list[str]:
    """It may be cut anywhere."""
    return [token[start : start + 12] for start in range(0, len(token) - 12)]


async def check(overrides: dict[str, Any]) -> None:
    async with town(overrides) as (app, workspace, live):
        assert [await answer_to(user, app, workspace) for user in ("U1", "U2")] == [SHOWN] * 2
        tokens, stored = tokens_of(live), await stored_of(app, workspace)
        assert len(tokens) == 2
        assert "You are" in stored
        shown = str([call.args for call in workspace.calls])
        assert [each for token in tokens for each in pieces(token) if each in shown + stored] == []


async def test_a_signed_token_is_masked(tmp_path: Path) -> None:
    await check({**identity_overrides(tmp_path), "agent.identity": "signed"})


def exchange_overrides(server: TokenServer, folder: Path) -> dict[str, Any]:
    identity = identity_settings(folder)
    exchange = let_exchange(server, identity, "U1", "U2")
    return {
        "identity.issuer": identity.issuer,
        "identity.keys": identity.keys,
        "agent.identity": "exchange",
        **{f"agent.exchange.{name}": value for name, value in exchange.items()},
    }


async def test_an_exchanged_token_is_masked_in_the_first_answer_too(
    server: TokenServer, tmp_path: Path
) -> None:
    await check(exchange_overrides(server, tmp_path))


async def test_an_exchanged_token_of_a_process_that_died_is_masked_by_the_next_one(
    server: TokenServer, tmp_path: Path
) -> None:
    store, workspace = MemoryStore(is_durable=True), new_workspace()
    overrides = exchange_overrides(server, tmp_path)
    async with live_agent() as live:
        live.hold = 1
        async with bot(live, workspace, overrides, store) as first:
            root = ask("U1", first, workspace)
            await live.begun.wait()
        store.handed_on()
        async with bot(live, workspace, overrides, store) as second:
            live.called.clear()
            await second.threads.replicas.start()
            await live.called.wait()
            live.release.set()
            assert await answer_in(root, second, workspace) == SHOWN
            tokens, stored = tokens_of(live), await stored_of(second, workspace)
        assert len(tokens) == 2
        shown = str([call.args for call in workspace.calls])
        assert [each for token in tokens for each in pieces(token) if each in shown + stored] == []
