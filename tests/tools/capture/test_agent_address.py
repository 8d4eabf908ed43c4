"""Which agent is asked, with whose credentials, and the remedy where there is none."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.errors import AgentRefused, UnreadableInput
from slack_bot.settings.load import Settings, load
from slack_bot.settings.models import ClientSettings
from slack_bot.testing.harness import bot_settings, free_port
from slack_bot.text.redaction import Redactor
from slack_bot.tools.capture.agent_address import card_of, is_address, settings_for, with_remedy
from tests.live_agent import live_agent

HOME = "https://agent.example/a2a"


def given(**more: str) -> Settings:
    env = {"A2A_AGENT_URL": HOME, "SLACK_BOT_AGENT__BEARER_TOKEN": "token-1", **more}
    return load(env, env_file=None, secrets_dir=None)


def test_the_settings_agent_gets_its_credentials(capsys: pytest.CaptureFixture[str]) -> None:
    settings = settings_for("https://agent.example/other", given())
    assert settings.agent.url == "https://agent.example/other"
    assert settings.agent.bearer_token is not None
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "url", ["https://elsewhere.example/", "https://agent.example:444/", "http://agent.example/"]
)
def test_another_address_gets_none(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = {"SLACK_BOT_AGENT__HEADER_NAME": "X-Key", "SLACK_BOT_AGENT__HEADER_VALUE": "v"}
    settings = settings_for(
        url, given(**more, SLACK_BOT_AGENT__IDLE_TIMEOUT="99", SLACK_BOT_AGENT__PROTOCOL_VERSION="0.3")
    )
    agent = settings.agent
    assert (agent.bearer_token, agent.header_name, agent.header_value) == (None, None, None)
    assert (agent.idle_timeout, agent.protocol_version) == (99, "0.3")
    note = capsys.readouterr().err
    assert "A2A_AGENT_URL" in note
    assert "token-1" not in note


@pytest.mark.parametrize(
    "client",
    [
        {"ID": "bot", "SECRET": "s", "TOKEN_URL": "https://tokens.example/token", "SCOPE": "ask"},
        {"TOKEN_FILE": "token"},
        {"CERTIFICATE": "bot.pem", "CERTIFICATE_KEY": "key.pem"},
        {"API_KEY": "k"},
    ],
)
def test_another_address_gets_no_login_either(
    client: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    env = {f"SLACK_BOT_AGENT__CLIENT__{name}": value for name, value in client.items()}
    ours = load({"A2A_AGENT_URL": HOME, **env}, env_file=None, secrets_dir=None)
    assert settings_for(HOME, ours).agent.client == ours.agent.client
    assert capsys.readouterr().err == ""
    assert settings_for("https://elsewhere.example/", ours).agent.client == ClientSettings()
    assert "the credentials of the settings are not sent to elsewhere.example" in capsys.readouterr().err


def test_an_allowed_host_is_the_settings_own(capsys: pytest.CaptureFixture[str]) -> None:
    settings = settings_for("https://b.example/", given(SLACK_BOT_AGENT__ALLOWED_HOSTS="b.example"))
    assert settings.agent.bearer_token is not None
    assert capsys.readouterr().err == ""


def test_without_credentials_there_is_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    settings = settings_for("http://127.0.0.1:1/", load({}, env_file=None, secrets_dir=None))
    assert (settings.agent.url, capsys.readouterr().err) == ("http://127.0.0.1:1/", "")


@pytest.mark.parametrize("url", ["ftp://x", "agent.example", "http://", "http://[x"])
def test_what_is_no_address_is_said(url: str) -> None:
    with pytest.raises(UnreadableInput, match="is not an address"):
        settings_for(url, given())


def test_an_address_is_no_file() -> None:
    assert is_address(HOME)
    assert not is_address("http.jsonl")


class Nothing(BaseHTTPRequestHandler):
    """A web server that is no agent."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with serving(Nothing) as url:
        yield url


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


class Locked(BaseHTTPRequestHandler):
    """An agent that wants a login: for its card too, or for questions only. Both answer `status`."""

    status = 401
    is_card_public = True

    def do_GET(self) -> None:
        if not self.is_card_public:
            self.send_error(self.status)
            return
        host, port = self.server.server_address[:2]
        body = json.dumps(
            {
                "name": "Locked",
                "url": f"http://{host}:{port}/",
                "protocolVersion": "0.3.0",
                "capabilities": {"streaming": True},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(self.status)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


LOGIN_VERBS = [
    ["trace", "{}", "hi"],
    ["capture", "{}", "hi", "-o", "x.jsonl"],
    ["conform", "--url", "{}"],
    ["play", "--port", "0", "--url", "{}"],
]


@pytest.mark.parametrize("is_known", [False, True], ids=["no credentials", "wrong credentials"])
@pytest.mark.parametrize("is_card_public", [True, False], ids=["public card", "locked card"])
@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("words", LOGIN_VERBS, ids=[words[0] for words in LOGIN_VERBS])
def test_an_agent_that_wants_a_login_is_one_sentence_that_names_the_settings(
    words: list[str],
    status: int,
    is_card_public: bool,
    is_known: bool,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("A2A_AGENT_URL", raising=False)
    handler = type("Handler", (Locked,), {"status": status, "is_card_public": is_card_public})
    with serving(handler) as url:
        if is_known:
            monkeypatch.setenv("A2A_AGENT_URL", url)
            monkeypatch.setenv("SLACK_BOT_AGENT__BEARER_TOKEN", "wrong-token-0042")
        assert main([word.format(url) for word in words]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    *progress, sentence = said.err.splitlines()
    assert progress == [] or words[0] == "capture"
    assert f"HTTP {status}" in sentence
    assert (
        f"set SLACK_BOT_AGENT__BEARER_TOKEN to {'a token that the agent takes' if is_known else 'its token'}"
        in sentence
    )
    assert ("no credentials are set for it; set A2A_AGENT_URL to this address" in sentence) is not is_known
    assert ("refuses the bot's credentials" in sentence) is is_known
    assert "wrong-token-0042" not in said.err


async def test_who_is_there_shows_a_card() -> None:
    async with live_agent() as live:
        assert (await card_of(bot_settings({}, live.url), "URL")).name


def test_any_other_problem_is_told_as_it_is() -> None:
    refused = AgentRefused("HTTP 503", status=503)
    assert str(with_remedy(refused, "URL", given())) == "HTTP 503"


def test_a_problem_that_quotes_a_secret_is_told_without_it() -> None:
    refused = AgentRefused("the agent said: no key-0042-here", status=400)
    assert (
        str(with_remedy(refused, "URL", given(), Redactor(["key-0042-here"])))
        == "the agent said: no [secret removed]"
    )
