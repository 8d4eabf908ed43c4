"""Whether there is an agent at an address, said of the argument that gave it, with the remedy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.errors import AgentRefused
from slack_bot.testing.harness import bot_settings, free_port
from slack_bot.tools.capture.reachability import card_of, with_remedy
from slack_bot.tools.capture.redaction import Redactor
from tests.live_agent import live_agent


class Nothing(BaseHTTPRequestHandler):
    """A web server that is no agent."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Nothing) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


VERBS = [
    ("URL", ["trace", "{}", "hi", "--svg", "x.svg"]),
    ("URL", ["capture", "{}", "hi", "-o", "x.jsonl"]),
    ("A", ["compare", "{}", "http://b/", "hi", "-o", "x.md"]),
    ("--url", ["conform", "--url", "{}", "--report", "x.md"]),
]


@pytest.mark.parametrize(("named", "words"), VERBS, ids=[words[0] for _, words in VERBS])
def test_an_address_without_a_card_is_one_sentence_that_names_the_argument(
    named: str,
    words: list[str],
    elsewhere: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("A2A_AGENT_URL", raising=False)
    assert main([word.format(elsewhere) for word in words]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"slack-bot {words[0]}: no agent card at {elsewhere} or below its /.well-known/ (HTTP 404);"
        f" {named} must be the agent's base address or the full address of its card\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("named", "words"), VERBS, ids=[words[0] for _, words in VERBS])
def test_nobody_at_the_address_is_one_sentence_that_names_it(
    named: str,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("A2A_AGENT_URL", raising=False)
    place = f"127.0.0.1:{free_port()}"
    assert main([word.format(f"http://{place}/") for word in words]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"slack-bot {words[0]}: {place} cannot be reached (ConnectError);"
        " is the agent running at this address?\n"
    )
    assert list(tmp_path.iterdir()) == []


async def test_who_is_there_shows_a_card() -> None:
    async with live_agent() as live:
        assert (await card_of(bot_settings({}, live.url), "URL")).name


def test_any_other_problem_is_told_as_it_is() -> None:
    refused = AgentRefused("HTTP 503", status=503)
    assert str(with_remedy(refused, "URL", Redactor())) == "HTTP 503"


def test_a_problem_that_quotes_a_secret_is_told_without_it() -> None:
    refused = AgentRefused("the agent said: no key-0042-here", status=403)
    assert (
        str(with_remedy(refused, "URL", Redactor(["key-0042-here"]))) == "the agent said: no [secret removed]"
    )
