"""The playground's other agents as processes of their own."""

from __future__ import annotations

import tomllib
from asyncio.subprocess import PIPE

import httpx
import pytest

from slack_bot import cli
from tests.loaded_program import loaded_program
from tests.processes import child


async def lines_of(*options: str) -> tuple[str, str]:
    """The address that the verb says, and the lines for the bot's file; the agent is asked for its card."""
    async with child(*loaded_program(), "agent", *options, stdout=PIPE) as process:
        assert process.stdout is not None
        told = (await process.stdout.readuntil(b"Ctrl-C ends it.\n")).decode()
        url = told.split()[4]
        async with httpx.AsyncClient(trust_env=False) as http:
            card = (await http.get(f"{url}.well-known/agent-card.json")).json()
            lines = told.partition("file:\n")[2].removesuffix("Ctrl-C ends it.\n")
            issuer = tomllib.loads(lines)["agents"][card["name"].lower()].get("oauth", {}).get("issuer")
            if issuer is not None:
                known = await http.get(f"{issuer}/.well-known/oauth-authorization-server")
                assert known.json()["issuer"] == issuer
    return url, lines


async def test_the_agent_for_trips_says_how_a_bot_knows_it() -> None:
    url, lines = await lines_of("--kind", "travel", "--port", "0")
    assert tomllib.loads(lines) == {"agents": {"travel": {"url": url, "icon": ":airplane:"}}}


async def test_the_agent_for_tickets_has_a_server_beside_it() -> None:
    url, lines = await lines_of("--kind", "tickets", "--port", "0")
    agent = tomllib.loads(lines)["agents"]["tickets"]
    assert (agent["url"], agent["identity"], agent["oauth"]["resource"]) == (url, "oauth", url)


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["travel", "--mode", "marker"], 2, "--mode is the guide's"),
        (["tickets", "--host", "0.0.0.0"], 2, "leave --host out"),
        (["travel", "--port", "99999"], 2, "There is no port 99999"),
        (["travel", "--host", "192.0.2.1"], 1, "give an address of this machine"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    options: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["agent", "--kind", *options]) == status
    (told,) = capsys.readouterr().err.splitlines()
    assert said in told
