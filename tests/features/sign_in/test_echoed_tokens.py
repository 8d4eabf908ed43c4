"""An agent that repeats the token of its asker: nobody reads it, also where another process goes on."""

from __future__ import annotations

import pytest

from slack_bot.testing.memory_store import MemoryStore
from slack_bot.text.masking import MASK
from tests.features.sign_in.town import sign_in, town
from tests.openid_server import OpenIDServer


@pytest.mark.parametrize("is_renewed", [False, True], ids=["the same token", "renewed meanwhile"])
async def test_the_token_of_a_process_that_has_ended_is_masked_by_the_next_one(
    provider: OpenIDServer, is_renewed: bool
) -> None:
    store = MemoryStore(is_durable=True)
    if is_renewed:
        provider.change(expires_in=3)
    async with town(provider, store=store) as first:
        first.live.hold = 1
        root = first.ask("login")
        await sign_in(first)
        await first.until(lambda: first.live.tasks)
        await first.end()
        if is_renewed:
            await first.until(lambda: not any(each.is_active for each in provider.tokens()))
            provider.change(expires_in=3600)
        store.handed_on()
        async with town(provider, store=store, after=first) as second:
            await second.app.threads.replicas.start()
            calls = len(second.live.calls)
            await second.until(lambda: len(second.live.calls) > calls)
            second.live.release.set()
            assert await second.answered(root) == f"You are {MASK}, I think."
        assert len(provider.tokens()) == 1 + is_renewed
        shown = str([call.args for call in first.workspace.calls])
        assert [each.access for each in provider.tokens() if each.access[6:18] in shown] == []
