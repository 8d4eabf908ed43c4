"""A question waits until its asker has signed in, over stops, time and restarts."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.errors import StoreError
from slack_bot.features.sign_in.gate import SignInGate
from slack_bot.features.sign_in.rules import SIGN_INS, SignInObstacle, SignInStage
from slack_bot.store.collection import Change, Collection, Key, R, Revision
from slack_bot.testing.harness import run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.sign_in_words import SIGN_IN_PAGES
from tests.features.sign_in.town import KEY, browser, new_workspace, page_words, town
from tests.openid_server import OpenIDServer

OAUTH: dict[str, Any] = {
    "agent.identity": "oauth",
    "agent.oauth.issuer": "http://127.0.0.1:1",
    "agent.oauth.id": "bot",
    "sign_in.keys": KEY,
    "sign_in.base_url": "http://127.0.0.1:1",
}


@on_virtual_time
async def test_a_question_waits_for_ten_minutes() -> None:
    workspace = new_workspace()
    async with run_bot(**OAUTH) as bot:
        bot.workspace.state.manifest = workspace.state.manifest
        bot.workspace.add_user("U1", email="alice@example.com")
        began, direct = bot.now, bot.workspace.direct("U1")
        await bot.say("echo", channel=direct)
        await bot.idle()
        said = [str(each["text"]) for each in bot.calls("chat.postEphemeral")]
        assert said[-1] == (
            "You did not sign in at 127.0.0.1:1 within ten minutes, so default was not asked."
            " Please ask again."
        )
        assert 600 <= bot.now - began < 605 and bot.agent.questions == []
        (button,) = bot.calls("chat.postEphemeral")[0]["blocks"][-1]["elements"]
        gate = bot.app.threads.sign_in
        assert isinstance(gate, SignInGate)
        late = await gate.desk.open(button["url"].rpartition("/")[2])
        assert late.obstacle is SignInObstacle.EXPIRED
        assert SIGN_IN_PAGES[late.obstacle] == "This sign-in took too long. Ask again in Slack."


async def test_a_stop_ends_the_wait_and_the_link(provider: OpenIDServer) -> None:
    async with town(provider) as here, browser("alice") as alice:
        root = here.ask("echo")
        link = await here.link()
        here.workspace.say("U1", here.place(), "stop", now=here.app.clock.wall(), thread_ts=root)
        await here.until(lambda: here.messages(root))
        await here.app.threads.idle()
        assert page_words(await alice.open(link)) == SIGN_IN_PAGES["used"]
        assert here.live.messages == []


async def test_a_process_that_is_killed_while_a_question_waits(provider: OpenIDServer) -> None:
    """The next one goes on with it: the link still leads to it, and it is not sent again."""
    store, workspace = MemoryStore(is_durable=True), new_workspace()
    async with town(provider, store=store, workspace=workspace) as first:
        root = first.ask("echo one")
        link, port = await first.link(), first.app.settings.sign_in.port
        await first.app.close()
    store.handed_on()
    public = {"sign_in.base_url": f"http://127.0.0.1:{port}", "sign_in.port": port}
    async with town(provider, store=store, workspace=workspace, **public) as second:
        await second.app.threads.replicas.start()
        async with browser("alice") as alice:
            assert page_words(await alice.open(link)).startswith("You are signed in.")
        assert await second.answered(root) == "echo one"
        assert len(second.links()) == 1


class FullAtTheEnd(MemoryStore):
    """Fails where a sign-in is written that is done already."""

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        if collection.name == SIGN_INS.name:
            stored = await self.get(SIGN_INS, key)
            if stored is not None and stored.stage is SignInStage.DONE:
                raise StoreError("The store is full.")
        return await super().change(collection, key, revise, now)


async def test_a_sign_in_that_is_done_is_used_though_the_store_fails_at_its_message(
    provider: OpenIDServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with town(provider, store=FullAtTheEnd()) as here, browser("alice") as alice:
        root = here.ask("echo one")
        assert page_words(await alice.open(await here.link())).startswith("You are signed in.")
        assert await here.answered(root) == "echo one"
    assert "the message of a sign-in stays as it is: The store is full." in caplog.messages
