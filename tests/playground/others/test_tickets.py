"""The playground's agent for tickets: whom it lets in, and what it says to whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
import pytest

from slack_bot.playground.others.accounts import ACCOUNTS, PlayedAccount
from slack_bot.playground.others.served_agent import serve_agent
from slack_bot.playground.others.tickets import SCOPE, build_tickets, tickets_of

TOKENS = {f"of-{subject}": account for subject, account in ACCOUNTS.items()}


@pytest.fixture
async def url() -> AsyncIterator[str]:
    asked: list[str] = []

    def account_of(token: str, resource: str, scope: str) -> PlayedAccount | None:
        return TOKENS.get(token) if (resource, scope) == (asked[0], SCOPE) else None

    build = partial(build_tickets, issuer="http://127.0.0.1:9", account_of=account_of)
    async with serve_agent(build) as served:
        asked.append(served)
        yield served


async def ask(url: str, authorization: str | None) -> httpx.Response:
    parts = [{"kind": "text", "text": "show my tickets"}]
    message: dict[str, Any] = {"kind": "message", "role": "user", "messageId": "m", "parts": parts}
    call = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
    headers = {} if authorization is None else {"Authorization": authorization}
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.post(url, json=call, headers=headers)


@pytest.mark.parametrize("subject", ACCOUNTS)
async def test_each_person_reads_their_own_tickets(url: str, subject: str) -> None:
    told = (await ask(url, f"Bearer of-{subject}")).json()["result"]
    words = told["parts"][0]["text"]
    for name, account in ACCOUNTS.items():
        assert all((each.number in words) is (name == subject) for each in account.tickets)


@pytest.mark.parametrize("login", [None, "", "Bearer", "Bearer unknown", "Basic of-maya", "of-maya"])
async def test_no_one_else_is_let_in(url: str, login: str | None) -> None:
    refused = await ask(url, login)
    assert refused.status_code == 401
    assert "invalid_token" in refused.headers["www-authenticate"]


async def test_the_card_is_for_everybody_and_says_what_is_wanted(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        card = (await http.get(f"{url}.well-known/agent-card.json")).json()
    assert list(card["securitySchemes"]) == ["login"]
    (interface,) = card["supportedInterfaces"]
    assert (interface["protocolBinding"], interface["protocolVersion"]) == ("JSONRPC", "0.3")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("show my tickets", ["T-104", "T-117"]),
        ("what became of my laptop?", ["T-104"]),
        ("Tickets for Lisbon", ["T-104"]),
        ("t-117!", ["T-117"]),
        ("T-98", ["T-104", "T-117"]),  # another one's: it is as if there were no such ticket
    ],
)
def test_the_tickets_that_a_question_names(question: str, shown: list[str]) -> None:
    words = tickets_of(ACCOUNTS["maya"], question)
    assert [each.number for each in ACCOUNTS["maya"].tickets if each.number in words] == shown
