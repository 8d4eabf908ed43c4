"""Who may ask an agent that is told who asks, and where one is asked that acts with the asker's rights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slack_bot.http_client import AsyncBaseTransport, Request, Response
from slack_bot.settings.identity import IdentitySettings
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.feature_words import RIGHTS_WANT_A_MENTION
from tests.features.reactions.test_feature import HEARS, react
from tests.people_keys import ISSUER, Checker, identity_overrides, public_of

ELSEWHERE = (
    "default shows what only you may see, so I do not ask it here, where others read along. Ask it in a"
    " direct message with me. (Who runs me can allow it in this channel: `personal = true`.)"
)
MEMBERS_ONLY = (
    "This agent must know who asks, and I can vouch for members of this workspace only: not for guests,"
    " people of other organisations or bots. So I did not ask it."
)
NOT_TOLD = (
    'In this channel agents do not learn who asks (`identity = "none"`), and default must know it. Ask it in'
    " a direct message with me."
)


def signed(folder: Path, **overrides: Any) -> dict[str, Any]:
    return {"agent.identity": "signed", **identity_overrides(folder), **overrides}


def exchanges(folder: Path, **overrides: Any) -> dict[str, Any]:
    url = "http://127.0.0.1:1/token"
    return signed(folder, **{"agent.identity": "exchange", "agent.exchange.token_url": url, **overrides})


async def refused(bot: BotHarness, words: str, user: str = "U1") -> None:
    """Nothing is asked, and `user` alone reads why."""
    root = await bot.ask("what is in my mail?", user=user)
    await bot.idle()
    (told,) = bot.calls("chat.postEphemeral")
    assert (told["channel"], told["user"], told["text"]) == (CHANNEL, user, words)
    assert bot.read(root) == [] and bot.agent.questions == []
    assert [each.outcome for each in await bot.store.turns_of(user, None)] == ["refused"]


@on_virtual_time
async def test_what_only_the_asker_may_read_is_not_asked_for_in_a_channel(tmp_path: Path) -> None:
    async with run_bot(answer("R."), **exchanges(tmp_path)) as bot:
        await refused(bot, ELSEWHERE)


@on_virtual_time
async def test_a_reaction_never_uses_the_token_of_a_person(tmp_path: Path) -> None:
    more = {"channel.personal": True, "reactions": (("robot_face", "ask"),), "manifest": HEARS}
    async with run_bot(answer("R."), **exchanges(tmp_path, **more)) as bot:
        root = await bot.say("what is in my mail?")
        await react(bot, root, user="U1")
        assert bot.agent.questions == []
        (told,) = bot.calls("chat.postEphemeral")
        assert (told["user"], told["text"]) == ("U1", RIGHTS_WANT_A_MENTION.format("default"))


@on_virtual_time
async def test_nor_does_a_message_that_was_not_addressed_to_the_bot_and_no_word_is_said(
    tmp_path: Path,
) -> None:
    async with run_bot(answer("R."), **signed(tmp_path, respond="channel")) as bot:
        root = await bot.say("what is in my mail?")
        await bot.idle()
        assert (bot.agent.questions, bot.calls("chat.postEphemeral")) == ([], [])
        assert len(bot.thread(root)) == 1
        assert [each.outcome for each in await bot.store.turns_of("U1", None)] == ["refused"]


@on_virtual_time
async def test_where_the_channel_says_so_it_is(tmp_path: Path) -> None:
    async with run_bot(answer("R."), **exchanges(tmp_path, **{"channel.personal": True})) as bot:
        await bot.ask("what is in my mail?")
        await bot.idle()
        assert bot.calls("chat.postEphemeral") == []


@on_virtual_time
async def test_who_is_only_told_who_asks_answers_anywhere(tmp_path: Path) -> None:
    async with run_bot(answer("R."), **signed(tmp_path)) as bot:
        root = await bot.ask("who am I?")
        await bot.idle()
        assert bot.read(root) == ["R."]


@pytest.mark.parametrize("about", [{"guest": "multi"}, {"team": "T9"}])
@on_virtual_time
async def test_a_guest_or_a_stranger_gets_no_token_and_no_answer(
    tmp_path: Path, about: dict[str, Any]
) -> None:
    async with run_bot(answer("R."), **signed(tmp_path, external="allow")) as bot:
        bot.workspace.add_user("U8", **about)
        await refused(bot, MEMBERS_ONLY, "U8")


@on_virtual_time
async def test_a_bot_gets_none_either(tmp_path: Path) -> None:
    async with run_bot(answer("R."), **signed(tmp_path, allowed_bots=["U7"])) as bot:
        bot.workspace.add_user("U7", is_bot=True)
        root = await bot.ask("who am I?", user="U7")
        await bot.idle()
        assert bot.agent.questions == []
        (seen,) = [each for each in bot.thread(root) if each.is_bot and not each.ephemeral_for]
        assert MEMBERS_ONLY in [seen.text, *seen.extras]


@on_virtual_time
async def test_a_channel_that_names_nobody_asks_no_agent_that_must_know(tmp_path: Path) -> None:
    async with run_bot(answer("R."), **signed(tmp_path, **{"channel.identity": "none"})) as bot:
        await refused(bot, NOT_TOLD)


@on_virtual_time
async def test_a_directory_that_does_not_answer_is_said_and_can_be_asked_again(tmp_path: Path) -> None:
    faults = {"users.info": ["missing_scope"]}
    async with run_bot(answer("R."), faults=faults, **signed(tmp_path)) as bot:
        await refused(
            bot, "This agent must know who asks, and Slack did not say who you are. So I did not ask it."
        )


@on_virtual_time
async def test_another_person_s_press_asks_nothing_again_with_the_asker_s_token(tmp_path: Path) -> None:
    settings = signed(tmp_path)
    async with run_bot(failure("no"), answer("R."), **settings) as bot:
        root = await bot.ask("who am I?", user="U1")
        await bot.idle()
        failed = bot.thread(root)[-1].ts
        for user in ("U2", "U1"):
            bot.workspace.press(user, CHANNEL, failed, "retry", now=bot.now)
            await bot.deliver()
            await bot.idle()
            assert len(bot.agent.questions) == (1 if user == "U2" else 2)
        identity = IdentitySettings(issuer=ISSUER, keys=settings["identity.keys"])
        checker = Checker(public_of(identity), "http://agent.invalid/")
        tokens = [each.headers["authorization"].removeprefix("Bearer ") for each in bot.agent.questions]
        assert [checker.claims_of(token, bot.now)["sub"] for token in tokens] == ["slack:T1:U1"] * 2


class Exchanging(AsyncBaseTransport):
    """Gives a token for whatever comes to its token endpoint."""

    def __init__(self, inner: AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: Request) -> Response:
        if request.url.path == "/token":
            return Response(200, json={"access_token": "the-token", "expires_in": 3600}, request=request)
        return await self._inner.handle_async_request(request)


@on_virtual_time
async def test_an_answer_with_the_asker_s_rights_has_no_button_that_sends_it_to_its_channel(
    tmp_path: Path,
) -> None:
    more = {"channel.personal": True, "channel.share": True, "through": Exchanging}
    async with run_bot(answer("R."), **exchanges(tmp_path, **more)) as bot:
        root = await bot.ask("what is in my mail?")
        await bot.idle()
        assert bot.read(root) == ["R."]
        assert "'share'" not in str(bot.thread(root)[-1].blocks)
    async with run_bot(answer("R."), **signed(tmp_path, **{"channel.share": True})) as bot:
        root = await bot.ask("who am I?")
        await bot.idle()
        assert "'share'" in str(bot.thread(root)[-1].blocks)
