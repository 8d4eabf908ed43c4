"""An agent that wants its asker to sign in in the middle of a task."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from a2a.types import SecurityScheme

from slack_bot.testing.memory_store import MemoryStore
from tests.features.sign_in.cards import ELSEWHERE, by_code, by_metadata, by_openid, with_scheme
from tests.features.sign_in.town import Town, browser, host, page_words, sign_in, town
from tests.openid_server import OpenIDServer


def tokens_of_calls(here: Town) -> list[str]:
    """Those with which messages were sent."""
    sent = [headers for headers, body in here.live.calls if "message" in body["params"]]
    return [each["authorization"].removeprefix("Bearer ") for each in sent]


@pytest.mark.parametrize("scheme", [by_code, by_metadata, by_openid])
async def test_the_asker_signs_in_by_the_bot_s_own_link_and_the_task_goes_on_by_itself_once(
    provider: OpenIDServer, scheme: Callable[[str], SecurityScheme]
) -> None:
    async with town(provider) as here:
        here.live.publish = with_scheme(scheme(provider.url))
        root = here.ask("permit files")
        await sign_in(here)
        await here.until(lambda: "I need more rights." in here.read(root))
        link = await here.link(number=2)
        assert here.private()[-1].startswith(
            f"Live agent wants you to sign in at {host(provider)} again before"
        )
        assert len(here.live.messages) == 1
        async with browser("alice") as alice:
            assert page_words(await alice.open(link)).startswith("You are signed in.")
        await here.until(lambda: "I have signed in." in here.read(root))
        await here.app.threads.idle()
        first, second = provider.tokens()
        assert tokens_of_calls(here) == [first.access, second.access]
        asked, went_on = here.live.messages
        assert went_on["taskId"] == asked["taskId"]
        assert len(here.links()) == 2


async def test_an_agent_that_keeps_its_stream_open_meanwhile_goes_on_too(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        here.live.publish, here.live.hold = with_scheme(by_openid(provider.url)), 1
        root = here.ask("permit files")
        await sign_in(here)
        await sign_in(here, number=2)
        await here.until(lambda: len(here.live.calls) == 3)
        here.live.release.set()
        await here.until(lambda: "I have signed in." in here.read(root))
        await here.app.threads.idle()
        first, second = provider.tokens()
        assert tokens_of_calls(here) == [first.access, second.access]


async def test_a_scheme_that_the_settings_do_not_know_is_no_door(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        here.live.publish = with_scheme(by_code(ELSEWHERE))
        root = here.ask("permit files")
        await sign_in(here)
        await here.until(lambda: "I need more rights." in here.read(root))
        await here.app.threads.idle()
        assert len(here.links()) == 1 and len(here.live.messages) == 1


async def test_a_scheme_that_the_card_does_not_have_is_no_door(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        here.live.publish = with_scheme(by_openid(provider.url))
        root = here.ask("permit others")
        await sign_in(here)
        await here.until(lambda: "I need more rights." in here.read(root))
        await here.app.threads.idle()
        assert len(here.links()) == 1 and len(here.live.messages) == 1


async def test_a_victim_of_the_second_link_gives_nothing_away(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        here.live.publish = with_scheme(by_openid(provider.url))
        here.ask("permit files")
        await sign_in(here)
        page = await sign_in(here, "bob", number=2)
        assert page.startswith("You are not the person who asked in Slack")
        assert "is not yours" in await here.told(3)
        assert [each.account for each in provider.tokens() if each.is_active] == ["alice"]
        assert len(here.live.messages) == 1


async def test_the_next_process_goes_on_with_it(provider: OpenIDServer) -> None:
    store = MemoryStore(is_durable=True)
    async with town(provider, store=store) as first:
        first.live.publish = with_scheme(by_openid(provider.url))
        root = first.ask("permit files")
        await sign_in(first)
        link = await first.link(number=2)
        await first.end()
        store.handed_on()
        public = {"sign_in.base_url": first.app.settings.sign_in.base_url}
        public["sign_in.port"] = first.app.settings.sign_in.port
        async with town(provider, store=store, after=first, **public) as second:
            await second.app.threads.replicas.start()
            async with browser("alice") as alice:
                assert page_words(await alice.open(link)).startswith("You are signed in.")
            await second.until(lambda: "I have signed in." in second.read(root))
            await second.app.threads.idle()
            assert len(second.live.messages) == 2 and len(second.links()) == 2


async def test_a_code_to_type_in_is_asked_for_once_more(provider: OpenIDServer) -> None:
    async with town(provider, device_flow=True) as here, browser("alice") as alice:
        here.live.publish = with_scheme(by_openid(provider.url))
        root = here.ask("permit files")
        for number in (1, 2):
            link = await here.link(number=number)
            found = re.search(r"type in the code (\S+)\. ", here.private()[-1])
            assert found is not None
            await alice.type_in(link, found[1])
        await here.until(lambda: "I have signed in." in here.read(root))
        await here.app.threads.idle()
        first, second = provider.tokens()
        assert tokens_of_calls(here) == [first.access, second.access]
