"""The whole bot and an agent on a2a-sdk whose card is signed, or changes."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from a2a.types import AgentCard, APIKeySecurityScheme, SecurityRequirement, SecurityScheme, StringList
from aiohttp import web
from aiohttp.test_utils import TestServer

from slack_bot.app import App, build
from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError
from slack_bot.testing.harness import CHANNEL, bot_settings, keep_delivering, wait_until
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.workspace import SeenMessage, Workspace
from tests.card_signer import signed
from tests.live_agent import HELD, live_agent
from tests.redis_server import RedisServer
from tests.signing_keys import KeyPair
from tests.tools.doctor.operator import FAILED, OK, environment, one, well

__all__ = ["environment"]
REFUSED = "What the agent says of itself has to be checked before I may ask it."
ACCEPT = "SLACK_BOT_AGENT__ACCEPT_CARD="
GOOD, OTHER = KeyPair("EC", "good"), KeyPair("EC", "other")


class Town:
    """A bot and its workspace."""

    def __init__(self, app: App, workspace: Workspace) -> None:
        self.app, self.workspace = app, workspace

    def ask(self, text: str) -> str:
        return self.workspace.say("U1", CHANNEL, f"<@U0BOT> {text}", now=self.app.clock.wall())

    def _messages(self, root: str) -> list[SeenMessage]:
        return [each for each in self.workspace.thread(CHANNEL, root) if each.is_bot]

    def note(self, root: str) -> str:
        return " ".join(text for each in self._messages(root) for text in each.extras)

    def seen(self, root: str) -> str:
        return "".join(each.text for each in self._messages(root)) or self.note(root)

    async def until(self, condition: Callable[[], object]) -> None:
        await wait_until(condition, self.workspace)

    async def answer(self, text: str, *, is_alone: bool = True) -> str:
        root = self.ask(text)
        await self.until(lambda: self.seen(root))
        if is_alone:
            await self.app.threads.idle()
        return self.seen(root)


@asynccontextmanager
async def town(url: str, store: str = "memory://", **overrides: Any) -> AsyncIterator[Town]:
    """`overrides`: settings of the agent."""
    workspace, clock = Workspace(), system_clock()
    workspace.add_channel(CHANNEL)
    agent = {f"agent.{name}": value for name, value in {"card_ttl": 0.0, **overrides}.items()}
    settings = bot_settings({"store.url": store, **agent}, url)
    async with await build(
        settings, clock=clock, slack_session=SlackSession(workspace, clock, timeout=settings.slack.timeout)
    ) as app:
        delivering = asyncio.create_task(keep_delivering(app, workspace))
        try:
            yield Town(app, workspace)
        finally:
            delivering.cancel()


def keys(folder: Path, *pairs: KeyPair) -> str:
    file = folder / "card_keys.json"
    file.write_text(json.dumps({"keys": [pair.public["keys"][0] for pair in pairs]}))
    return str(file)


def renamed(card: AgentCard) -> AgentCard:
    card.name = "Another"
    return card


def with_key(card: AgentCard) -> AgentCard:
    """It wants an API key now."""
    scheme = APIKeySecurityScheme(location="header", name="X-Key")
    card.security_schemes["k"].CopyFrom(SecurityScheme(api_key_security_scheme=scheme))
    card.security_requirements.append(SecurityRequirement(schemes={"k": StringList()}))
    return card


def moved(url: str) -> Callable[[AgentCard], AgentCard]:
    def move(card: AgentCard) -> AgentCard:
        for each in card.supported_interfaces:
            each.url = url
        return card

    return move


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]


def fingerprint(said: str) -> str:
    return said.partition(ACCEPT)[2].split(",")[0]


async def test_a_signed_agent_is_asked(tmp_path: Path) -> None:
    async with live_agent() as live:
        live.publish = lambda card: signed(with_key(card), GOOD)
        async with town(live.url, card_keys=keys(tmp_path, OTHER, GOOD), **{"client.api_key": "s"}) as here:
            assert await here.answer("echo hello") == "echo hello"
            assert (await here.app.agent.ensure_card()).signed_by == "good"
        assert "s" in {each.get("x-key") for each in live.headers}


@pytest.mark.parametrize(
    ("publish", "why"),
    [
        (lambda card: card, "is not signed, and SLACK_BOT_AGENT__CARD_KEYS has good; let the agent sign it"),
        (lambda card: signed(card, OTHER), "is signed with other, and SLACK_BOT_AGENT__CARD_KEYS has good"),
        (lambda card: renamed(signed(card, GOOD)), "was changed after it was signed with good"),
    ],
    ids=["not signed", "another key", "changed"],
)
async def test_an_agent_that_cannot_prove_its_card(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, publish: Callable[[AgentCard], AgentCard], why: str
) -> None:
    async with live_agent() as live, town(live.url, card_keys=keys(tmp_path, GOOD)) as here:
        live.publish = publish
        for _ in range(2):
            assert REFUSED in await here.answer("echo hello")
        assert live.messages == []
        (said,) = errors(caplog)
        assert why in said
        assert "The agent's card is refused; see the log." in str(here.app.health.body())
        live.publish = lambda card: signed(card, GOOD)
        assert await here.answer("echo again") == "echo again"


async def test_a_new_key_needs_no_restart(tmp_path: Path) -> None:
    async with live_agent() as live, town(live.url, card_keys=keys(tmp_path, GOOD)) as here:
        live.publish = lambda card: signed(card, GOOD)
        assert await here.answer("echo 1") == "echo 1"
        live.publish = lambda card: signed(card, OTHER)
        assert REFUSED in await here.answer("echo 2")
        keys(tmp_path, OTHER)
        assert await here.answer("echo 3") == "echo 3"


async def test_keys_that_cannot_be_read_for_a_while_leave_the_card(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_agent() as live, town(live.url, card_keys=keys(tmp_path, GOOD)) as here:
        live.publish = lambda card: signed(card, GOOD)
        assert await here.answer("echo 1") == "echo 1"
        (tmp_path / "card_keys.json").unlink()
        assert await here.answer("echo 2") == "echo 2"
        assert "the agent card is kept though it is old" in caplog.text
    with pytest.raises(SettingsError, match=r"card_keys\.json cannot be read"):
        async with town(live.url, card_keys=str(tmp_path / "card_keys.json")):
            pass


async def test_addresses_of_keys_in_a_signature_are_never_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    async def serve(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.json_response(OTHER.public)

    app = web.Application()
    app.router.add_get("/{path:.*}", serve)
    async with TestServer(app) as server, live_agent() as live:
        jku, own = str(server.make_url("/keys")), OTHER.public["keys"][0]
        live.publish = lambda card: signed(card, OTHER, kid="good", jku=jku, x5u=jku, jwk=own)
        async with town(live.url, card_keys=keys(tmp_path, GOOD)) as here:
            assert REFUSED in await here.answer("echo hello")
            live.publish = lambda card: signed(card, GOOD, jku=jku, x5u=jku, jwk=own)
            assert await here.answer("echo hello") == "echo hello"
    assert asked == []


async def test_an_extended_card_counts_where_it_is_signed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_agent(extended="Secret skill") as live:
        live.publish = lambda card: signed(card, GOOD)
        async with town(live.url, card_keys=keys(tmp_path, GOOD)) as here:
            found = await here.app.agent.introduction()
            assert [skill.name for skill in found.skills] == ["Test", "Secret skill"]
        live.publish = lambda card: card if len(card.skills) > 1 else signed(card, GOOD)
        async with town(live.url, card_keys=keys(tmp_path, GOOD)) as here:
            found = await here.app.agent.introduction()
            assert [skill.name for skill in found.skills] == ["Test"]
            assert "the extended agent card is not used: " in caplog.text
            assert await here.answer("echo hello") == "echo hello"


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "redis":
        found: str = request.getfixturevalue("redis_server").url
        return found
    return f"sqlite:///{tmp_path / 'bot.sqlite'}"


async def test_a_changed_address_is_refused_until_it_is_accepted(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_agent() as live, live_agent() as second, live_agent() as third:
        hosts = {"allowed_hosts": tuple(urlsplit(each.url).netloc for each in (second, third))}
        async with town(live.url, store, **hosts) as here:
            assert await here.answer("echo 1") == "echo 1"
        live.publish = moved(second.url)
        async with town(live.url, store, **hosts) as here:  # after a restart
            for _ in range(2):
                assert REFUSED in await here.answer("echo 2")
        assert second.messages == []
        (said,) = errors(caplog)
        assert f"has changed the address ({live.url} -> {second.url}) since it was trusted" in said
        accepted = fingerprint(said)
        async with town(live.url, store, **hosts, accept_card=accepted) as here:
            assert await here.answer("echo 3") == "echo 3"
            live.publish = moved(third.url)  # while it runs
            assert REFUSED in await here.answer("echo 4")
        assert third.messages == []
        assert f"has changed the address ({second.url} -> {third.url})" in errors(caplog)[-1]
        live.publish = moved(second.url)
        async with town(live.url, store, **hosts) as here:  # what was accepted is remembered
            assert await here.answer("echo 5") == "echo 5"


async def test_changed_security_is_refused(store: str, caplog: pytest.LogCaptureFixture) -> None:
    async with live_agent() as live, town(live.url, store) as here:
        assert await here.answer("echo 1") == "echo 1"
        live.publish = lambda card: with_key(renamed(card))
        assert REFUSED in await here.answer("echo 2")
        (said,) = errors(caplog)
        assert "has changed the security (wants no login -> header X-Key, wants header X-Key)" in said
        live.publish = renamed
        assert await here.answer("echo 3") == "echo 3"


async def test_what_one_replica_accepts_the_others_believe(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    store = redis_server.url
    async with live_agent() as live, town(live.url, store) as here:
        assert await here.answer("echo 1") == "echo 1"
        live.publish = with_key
        assert REFUSED in await here.answer("echo 2")
        async with town(live.url, store, accept_card=fingerprint(errors(caplog)[0])) as replica:
            assert REFUSED in await here.answer("echo 3")
            assert await replica.answer("echo 4") == "echo 4"
            assert await here.answer("echo 5") == "echo 5"


async def test_a_card_that_is_signed_may_change(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = f"sqlite:///{tmp_path / 'bot.sqlite'}"
    async with live_agent() as live:
        async with town(live.url, store, card_keys=keys(tmp_path, GOOD)) as here:
            live.publish = lambda card: signed(card, GOOD)
            assert await here.answer("echo 1") == "echo 1"
            live.publish = lambda card: signed(with_key(card), GOOD)
            assert await here.answer("echo 2") == "echo 2"
        async with town(live.url, store) as here:  # without keys, it is the newest that counts
            assert await here.answer("echo 3") == "echo 3"
            live.publish = lambda card: card
            assert REFUSED in await here.answer("echo 4")
        assert len(errors(caplog)) == 1


async def test_an_answer_that_runs_is_finished_and_stopped(tmp_path: Path) -> None:
    async with live_agent() as live, town(live.url, f"sqlite:///{tmp_path / 'bot.sqlite'}") as here:
        live.hold = 2
        finished, stopped = here.ask("held"), here.ask("held")
        await here.until(
            lambda: HELD[0].strip() in here.seen(finished) and HELD[0].strip() in here.seen(stopped)
        )
        live.publish = with_key
        assert REFUSED in await here.answer("echo 1", is_alone=False)
        calls = len(live.headers)
        here.workspace.say("U1", CHANNEL, "stop", now=here.app.clock.wall(), thread_ts=stopped)
        await here.until(lambda: "Stopped" in here.note(stopped))
        live.release.set()
        await here.until(lambda: HELD[-1] in here.seen(finished))
        await here.app.threads.idle()
        assert len(live.headers) > calls
        assert "may still be working" not in here.note(stopped)


async def test_what_doctor_says_of_signatures(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup, live_agent() as live:
        environment["A2A_AGENT_URL"] = live.url
        live.publish = lambda card: signed(card, GOOD)
        said = next(each for each in await setup.look() if each.check == "agent card")
        assert said.state is OK and "its signature is not looked at" in said.text
        environment["SLACK_BOT_AGENT__CARD_KEYS"] = keys(tmp_path, GOOD)
        said = next(each for each in await setup.look() if each.check == "agent card")
        assert said.state is OK and said.text.endswith(", verified by the key good")
        for publish, why in (
            (lambda card: card, "is not signed"),
            (lambda card: signed(card, OTHER), "the key is another one"),
            (lambda card: renamed(signed(card, GOOD)), "was changed after it was signed with good"),
        ):
            live.publish = publish
            found = await one(setup)
            assert (found.check, found.state) == ("agent card", FAILED) and why in found.text
        (tmp_path / "card_keys.json").write_text("{}")
        found = await one(setup)
        assert "holds no public key" in found.text
        assert found.remedy == "correct SLACK_BOT_AGENT__CARD_KEYS"


async def test_what_doctor_says_of_a_changed_card(environment: dict[str, str], tmp_path: Path) -> None:
    async with well(environment) as setup, live_agent() as live:
        environment["A2A_AGENT_URL"] = live.url
        async with town(live.url, f"sqlite:///{tmp_path / 'bot.sqlite'}") as here:
            assert await here.answer("echo 1") == "echo 1"
        live.publish = with_key
        for _ in range(2):  # to look is not to accept
            found = await one(setup)
            assert found.check == "agent card" and "has changed the security" in found.text
        environment["SLACK_BOT_AGENT__ACCEPT_CARD"] = fingerprint(found.remedy)
        assert all(each.state is not FAILED for each in await setup.look())
        del environment["SLACK_BOT_AGENT__ACCEPT_CARD"]
        assert (await one(setup)).text == found.text
