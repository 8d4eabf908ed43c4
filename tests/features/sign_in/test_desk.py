"""A code that is typed in at the server, in place of a link that is opened."""

from __future__ import annotations

import re

from slack_bot.store.sign_ins import SIGNED_IN
from slack_bot.testing.memory_store import MemoryStore
from tests.features.sign_in.town import Town, browser, new_workspace, town
from tests.openid_server import OpenIDServer

DEVICE = {"device_flow": True}


async def code(here: Town) -> str:
    await here.until(here.private)
    found = re.search(r"type in the code (\S+)\. ", here.private()[0])
    assert found is not None
    return found[1]


async def type_in(here: Town, provider: OpenIDServer, account: str) -> None:
    typed = await code(here)
    async with browser(account) as there:
        assert (await there.type_in(here.links()[0], typed)).status_code == 200


async def test_a_code_that_the_asker_types_in(provider: OpenIDServer) -> None:
    async with town(provider, **DEVICE) as here:
        root = here.ask("echo one")
        await type_in(here, provider, "alice")
        assert await here.answered(root) == "echo one"
        assert here.links() == [f"{provider.url}/device"]
        assert f"Open the page at {provider.url.removeprefix('http://')} and type in" in here.private()[0]


async def test_a_victim_who_types_it_in_gives_nothing_away_and_both_read_that(provider: OpenIDServer) -> None:
    async with town(provider, **DEVICE) as here:
        here.ask("echo one")
        await type_in(here, provider, "bob")
        assert (await here.told(2)).startswith("The account that signed in at")
        assert await here.app.store.get(SIGNED_IN, ("T1", "U1", "default")) is None
        assert [each for each in provider.tokens() if each.is_active] == [] and len(provider.tokens()) == 1
        assert here.live.messages == []
        posts = [each.args for each in here.workspace.calls if each.method == "chat.postMessage"]
        (warning,) = [each for each in posts if each["channel"] == "U2"]
        assert str(warning["text"]).startswith("You typed in a code that was another person's:")


async def test_another_process_goes_on_with_the_code(provider: OpenIDServer) -> None:
    store, workspace = MemoryStore(is_durable=True), new_workspace()
    async with town(provider, store=store, workspace=workspace, **DEVICE) as first:
        root = first.ask("echo one")
        await code(first)
        await first.app.close()
    store.handed_on()
    async with town(provider, store=store, workspace=workspace, **DEVICE) as second:
        await second.app.threads.replicas.start()
        await type_in(second, provider, "alice")
        assert await second.answered(root) == "echo one"
        assert len(second.private()) == 1


async def test_a_server_without_device_flow_is_a_sentence(provider: OpenIDServer) -> None:
    provider.change(fault="no devices")
    async with town(provider, **DEVICE) as here:
        here.ask("echo one")
        assert "you cannot sign in, so it was not asked" in await here.refused(number=1)
