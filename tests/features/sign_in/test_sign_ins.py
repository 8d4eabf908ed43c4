"""A person signs in once, and the agent acts with that person's rights."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from slack_bot.store.sign_ins import SIGNED_IN
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.text.sign_in_words import SIGN_IN_PAGE_DONE, SIGN_IN_PAGES
from tests.features.sign_in.town import (
    ALICES,
    KEY,
    browser,
    host,
    new_workspace,
    nothing_is_kept,
    page_words,
    sign_in,
    town,
)
from tests.openid_server import SECRET, OpenIDServer


async def test_a_question_waits_until_its_asker_has_signed_in_and_goes_on_by_itself(
    provider: OpenIDServer,
) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        assert await sign_in(here) == SIGN_IN_PAGE_DONE
        assert await here.answered(root) == "echo one"
        (token,) = provider.tokens()
        assert token.account == "alice" and set(here.guard.taken) == {token.access}
        assert f"Sign in at {host(provider)} once." in here.private()[0]
        (label,) = here.link_labels()
        assert label.startswith("Sign in to ") and label.endswith(f" at {host(provider)}")
        assert await here.answered(here.ask("echo two")) == "echo two"
        assert len(here.links()) == 1


async def test_each_person_signs_in_and_is_asked_for_with_their_own_token(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        first, second = here.ask("echo one"), here.ask("echo two", "U2")
        await sign_in(here, "bob", "U2")
        assert await here.answered(second, "U2") == "echo two"
        (bobs,) = provider.tokens()
        assert set(here.guard.taken) == {bobs.access}
        await sign_in(here)
        assert await here.answered(first) == "echo one"
        assert {each.account for each in provider.tokens()} == {"alice", "bob"}


async def test_the_home_tab_says_where_one_is_signed_in(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        await sign_in(here)
        await here.answered(root)
        for user in ("U1", "U2"):
            here.workspace.open_home(user, now=here.app.clock.wall())
        await here.until(lambda: here.workspace.home("U1") and here.workspace.home("U2"))
        said = f"Live agent acts with your rights: you signed in at {host(provider)}."
        assert said in here.workspace.home("U1") and said not in here.workspace.home("U2")


# -- another person's account


async def test_a_victim_who_completes_it_gives_nothing_away_and_both_read_that(
    provider: OpenIDServer,
) -> None:
    """Alice passes her link on to Bob."""
    async with town(provider) as here:
        here.ask("echo")
        page = await sign_in(here, "bob")
        assert page.startswith(
            "You are not the person who asked in Slack: your e-mail address is another one."
        )
        said = await here.told(2)
        assert said.startswith(f"The account that signed in at {host(provider)} is not yours,")
        await nothing_is_kept(here, provider)
        assert len(provider.tokens()) == 1  # it was given, and revoked
        async with browser("alice") as alice:  # a link is good once
            assert page_words(await alice.open(here.links()[0])) == SIGN_IN_PAGES["used"]


@pytest.mark.parametrize(
    "account",
    [
        pytest.param({"email": "alice@example.com"}, id="not verified"),
        pytest.param({"email": "alice@example.com", "email_verified": False}, id="refuted"),
        pytest.param({"email_verified": True}, id="without one"),
    ],
)
async def test_an_account_without_a_verified_address_is_no_one(
    provider: OpenIDServer, account: dict[str, Any]
) -> None:
    provider.change(people={"alice": account})
    async with town(provider) as here:
        here.ask("echo")
        assert "which verified e-mail address signed in" in await sign_in(here)
        assert "does not say which verified e-mail address signed in" in await here.refused()
        await nothing_is_kept(here, provider)


async def test_where_there_is_no_id_token_the_server_is_asked_who_it_was(provider: OpenIDServer) -> None:
    provider.change(id_tokens=False)
    async with town(provider) as here:
        root = here.ask("echo")
        await sign_in(here)
        assert await here.answered(root) == "echo"


async def test_a_person_without_a_verified_address_in_slack_is_not_asked_to_sign_in(
    provider: OpenIDServer,
) -> None:
    workspace = new_workspace()
    workspace.add_user("U1")
    async with town(provider, workspace=workspace) as here:
        here.ask("echo")
        assert "Slack gives me no verified e-mail address of yours" in await here.refused(number=1)
        assert here.links() == [] and here.live.messages == []


async def test_a_team_that_is_not_trusted(provider: OpenIDServer) -> None:
    async with town(provider, trusted_teams=["TOTHER"]) as here:
        here.ask("echo")
        assert "Slack gives me no verified e-mail address of yours" in await here.refused(number=1)
        assert here.links() == []


# -- tokens


async def test_an_agent_that_wants_another_audience_is_a_sentence(provider: OpenIDServer) -> None:
    async with town(provider, audience="another") as here:
        root = here.ask("echo")
        await sign_in(here)
        await here.until(lambda: here.messages(root)[-1:] and here.messages(root)[-1].extras)
        assert "does not let you in" in " ".join(here.messages(root)[-1].extras)
        assert here.live.messages == []


async def test_an_expired_token_is_renewed_and_the_new_one_used(provider: OpenIDServer) -> None:
    provider.change(expires_in=1)
    async with town(provider) as here:
        root = here.ask("echo one")
        await sign_in(here)
        await here.answered(root)
        await here.until(lambda: not any(each.is_active for each in provider.tokens()))
        assert await here.answered(here.ask("echo two")) == "echo two"
        assert provider.asked("refresh_token") and len(here.links()) == 1
        refreshed = [each["refresh_token"] for each in provider.asked("refresh_token")]
        assert len(set(refreshed)) == len(refreshed)


async def test_who_was_signed_out_at_the_server_reads_it_and_signs_in_again(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        await sign_in(here)
        await here.answered(root)
        provider.change(revoke_all=True)
        root = here.ask("echo two")
        await here.until(lambda: here.messages(root)[-1:] and here.messages(root)[-1].extras)
        ended = f"Your sign-in at {host(provider)} has ended. Ask again, and I will ask you to sign in."
        assert ended in " ".join(here.messages(root)[-1].extras)
        await here.app.threads.idle()
        assert len(here.live.messages) == 1
        root = here.ask("echo three")
        await sign_in(here, number=2)
        assert await here.answered(root) == "echo three"


async def test_sign_out(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        await sign_in(here)
        await here.answered(root)
        here.ask("sign out")
        assert await here.refused() == "You are signed out of Live agent. What they gave me is deleted."
        assert await here.app.store.get(SIGNED_IN, ALICES) is None
        assert not any(each.is_active for each in provider.tokens())
        here.ask("Sign out.")
        assert await here.refused(number=3) == "You are not signed in for any agent."
        assert len(here.live.messages) == 1


# -- secrets


async def test_no_secret_is_in_the_log_or_readable_in_the_store(
    provider: OpenIDServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "slack_bot")
    store = MemoryStore()
    async with town(provider, store=store) as here:
        root = here.ask("echo one")
        await sign_in(here)
        await here.answered(root)
        (token,) = provider.tokens()
        (kept,) = [each async for each in store.records(SIGNED_IN)]
        ticket = here.links()[0].rpartition("/")[2]
        codes = [form["code"] for form in provider.asked()] + [
            form["code_verifier"] for form in provider.asked()
        ]
        for secret in (token.access, token.refresh, ticket, SECRET, KEY, *codes):
            assert secret not in caplog.text and secret not in str(kept)
        said = await here.answered(here.ask(f"echo {token.access}"))
        assert said == "echo [secret removed]"
