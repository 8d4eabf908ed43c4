"""Each mistake of a login is found, with a sentence and its remedy. The servers are real ones."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from slack_bot.agents.wire.card import AgentCard
from slack_bot.errors import AgentRefused
from slack_bot.settings.models import AgentSettings, ClientSettings
from slack_bot.tools.doctor.login_checks import check_api_key, refused_login
from tests.authorization_server import SECRET, TokenServer
from tests.live_agent import live_agent
from tests.signing_keys import KeyPair
from tests.tls import new_certificate, strict_agent
from tests.token_guard import TokenGuard

from .operator import FAILED, UNKNOWN, WARNING, bad, environment, one, well

__all__ = ["environment"]

CLIENT = "SLACK_BOT_AGENT__CLIENT__"


def login(environment: dict[str, str], server: TokenServer, **changes: str) -> None:
    usual = {"ID": "bot", "SECRET": SECRET, "TOKEN_URL": f"{server.url}/token"}
    for name, value in {**usual, **changes}.items():
        environment[CLIENT + name] = value


async def test_a_login_that_works(environment: dict[str, str], server: TokenServer) -> None:
    login(environment, server)
    async with well(environment) as setup, live_agent(guard=TokenGuard(server)) as live:
        environment["A2A_AGENT_URL"] = live.url
        found = await setup.look()
        assert bad(found) == []
        told = [f"{each.check}: {each.text}" for each in found]
        assert f"agent token: {server.url.removeprefix('http://')} gives one" in told
        assert "agent login: the agent takes calls" in told


@pytest.mark.parametrize(
    ("changes", "text", "remedy"),
    [
        (
            {"SECRET": "old"},
            "does not accept the bot's client id or its proof (invalid_client)",
            "have expired",
        ),
        ({"SCOPE": "own"}, "does not give the scope (invalid_scope)", f"correct {CLIENT}SCOPE"),
        (
            {"AUDIENCE": "x"},
            "does not know the audience (invalid_target): Unknown audience",
            f"{CLIENT}AUDIENCE",
        ),
        ({"TOKEN_URL": "", "ISSUER": "URL/x"}, "no metadata of the issuer at", f"correct {CLIENT}ISSUER"),
        (
            {"TOKEN_URL": "", "ISSUER": "URL/"},
            "calls its issuer 'URL', not 'URL/'",
            f"set {CLIENT}ISSUER to exactly",
        ),
        (
            {"TOKEN_URL": "URL/nothing"},
            "nothing gives tokens at URL/nothing (HTTP 404)",
            f"{CLIENT}TOKEN_URL",
        ),
        (
            {"TOKEN_URL": "http://127.0.0.1:1"},
            "the token server 127.0.0.1:1 cannot be reached",
            "runs",
        ),
        (
            {"SECRET": "", "PRIVATE_KEY": "gone"},
            "gone cannot be read (No such file",
            f"correct {CLIENT}PRIVATE_KEY",
        ),
    ],
)
async def test_no_token(
    changes: dict[str, str], text: str, remedy: str, environment: dict[str, str], server: TokenServer
) -> None:
    server.change(audiences=[None])
    login(environment, server, **{name: value.replace("URL", server.url) for name, value in changes.items()})
    async with well(environment) as setup:
        found = await one(setup)
    assert (found.check, found.state) == ("agent token", FAILED)
    assert text.replace("URL", server.url) in found.text
    assert remedy in found.remedy
    assert SECRET not in str(found)


async def test_a_clock_that_the_token_server_does_not_share(
    environment: dict[str, str], server: TokenServer, tmp_path: Path
) -> None:
    pair = KeyPair()
    server.set_up(clients={"signer": {"methods": ["client_assertion_jwt"], "keys": pair.public}})
    key = str(pair.write_pem(tmp_path / "key"))
    login(environment, server, ID="signer", SECRET="", PRIVATE_KEY=key)
    async with well(environment) as setup:
        found = [each for each in bad(await setup.look(ahead=3_600.0)) if each.check == "agent token"]
    (clock,) = found
    assert "does not accept what the bot signed, and this machine's clock is 360" in clock.text
    assert "s ahead of the server's (invalid_client)" in clock.text
    assert clock.remedy == "set the clock (NTP)"


@pytest.mark.parametrize(
    ("audience", "scope", "text", "remedy"),
    [
        (
            "agent",
            "",
            "HTTP 401: invalid_token: The audience is wrong",
            f"let {CLIENT}AUDIENCE and {CLIENT}SCOPE",
        ),
        (
            "",
            "tell",
            "HTTP 403: insufficient_scope: The scope tell is wanted",
            f"set {CLIENT}SCOPE to the scope",
        ),
    ],
)
async def test_a_token_that_the_agent_refuses(
    audience: str, scope: str, text: str, remedy: str, environment: dict[str, str], server: TokenServer
) -> None:
    login(environment, server, SCOPE="ask")
    guard = TokenGuard(server, audience, scope)
    async with well(environment) as setup, live_agent(guard=guard) as live:
        environment["A2A_AGENT_URL"] = live.url
        found = await one(setup)
    assert (found.check, found.state) == ("agent login", FAILED)
    assert f"the agent refuses the bot's token with {text}" in found.text
    assert found.remedy.startswith(remedy)
    assert not any(token in str(found) for token in guard.refused)


def test_a_token_of_another_issuer_than_the_card_names() -> None:
    settings = AgentSettings.model_validate({"client": {"id": "bot", "issuer": "https://ours.example"}})
    error = AgentRefused("no", status=401, said="invalid_token")

    found = refused_login(error, settings, ("https://theirs.example/token", "nonsense"))
    assert found.text.endswith("its card says that tokens are from theirs.example, not ours.example")
    assert found.remedy == f"correct {CLIENT}ISSUER or {CLIENT}TOKEN_URL, or the card"
    for same in (["https://ours.example/.well-known/openid-configuration"], []):
        assert found.text.partition(";")[0] == refused_login(error, settings, same).text
    of_file = AgentSettings.model_validate({"client": {"token_file": "t"}})
    assert f"{CLIENT}TOKEN_FILE" in refused_login(error, of_file, ["https://theirs.example"]).remedy


async def test_an_api_key_for_which_the_card_has_no_place(environment: dict[str, str]) -> None:
    environment[f"{CLIENT}API_KEY"] = "the-key"
    async with well(environment) as setup:
        found = await one(setup, WARNING)
    assert found.check == "agent login"
    assert "the agent card says neither header, cookie nor query for it" in found.text
    assert "the-key" not in str(found)
    card = AgentCard("A", (), streaming=True, auth=(("query key",),))
    assert check_api_key(ClientSettings.model_validate({"api_key": "the-key"}), card) is None


async def test_tokens_of_a_file(environment: dict[str, str], server: TokenServer, tmp_path: Path) -> None:
    file = tmp_path / "token"
    environment[f"{CLIENT}TOKEN_FILE"] = str(file)
    async with well(environment) as setup:
        found = await one(setup)
        assert (found.check, found.state) == ("agent token", FAILED)
        assert found.text == f"{file} cannot be read (No such file or directory)"
        assert f"correct {CLIENT}TOKEN_FILE" in found.remedy
        file.write_text("a.b.c")
        assert bad(await setup.look()) == []


@pytest.mark.parametrize(
    ("files", "text", "remedy"),
    [
        (
            {"CERTIFICATE": "alone"},
            "alone holds no private key as PEM",
            f"set {CLIENT}CERTIFICATE_KEY to the file",
        ),
        ({"CERTIFICATE": "gone"}, "gone cannot be read", f"correct {CLIENT}CERTIFICATE"),
        (
            {"CERTIFICATE": "alone", "CERTIFICATE_KEY": "other/both.pem"},
            "is not that of the certificate in",
            f"correct {CLIENT}CERTIFICATE_KEY",
        ),
    ],
)
async def test_a_certificate_that_cannot_be_shown(
    files: dict[str, str], text: str, remedy: str, environment: dict[str, str], tmp_path: Path
) -> None:
    whole = new_certificate(tmp_path, "bot").read_text()
    (tmp_path / "alone").write_text(whole[whole.index("-----BEGIN CERTIFICATE") :])
    (tmp_path / "other").mkdir()
    new_certificate(tmp_path / "other", "other")
    for name, value in files.items():
        environment[CLIENT + name] = str(tmp_path / value)
    async with well(environment) as setup:
        found = await one(setup)
    assert (found.check, found.state) == ("agent certificate", FAILED)
    assert text in found.text
    assert remedy in found.remedy


async def test_a_certificate_that_can_be_shown(environment: dict[str, str], tmp_path: Path) -> None:
    environment[f"{CLIENT}CERTIFICATE"] = str(new_certificate(tmp_path, "bot"))
    async with well(environment) as setup:
        found = await setup.look()
    assert bad(found) == []
    assert "agent certificate" in [each.check for each in found]


async def test_an_agent_that_wants_a_certificate(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agent", "bot"):
        (tmp_path / name).mkdir()
    own, bots = new_certificate(tmp_path / "agent", "localhost"), new_certificate(tmp_path / "bot", "bot")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    async with well(environment) as setup, strict_agent(own, bots) as (url, _):
        environment["A2A_AGENT_URL"] = url
        found = await one(setup)
        assert "broke the connection" in found.text
        assert f"if it wants a certificate of the bot (mTLS), set {CLIENT}CERTIFICATE" in found.remedy
        environment[f"{CLIENT}CERTIFICATE"] = str(bots)
        assert "no agent card" in (await one(setup)).text  # there is none, but the connection is there


async def test_a_key_without_a_certificate_is_a_mistake_of_the_settings(environment: dict[str, str]) -> None:
    environment[f"{CLIENT}CERTIFICATE_KEY"] = "key.pem"
    async with well(environment) as setup:
        settings, agent = bad(await setup.look())
    assert f"{CLIENT}CERTIFICATE_KEY is set and {CLIENT}CERTIFICATE is not" in settings.text
    assert (agent.check, agent.state) == ("agent", UNKNOWN)


async def test_a_library_that_is_missing_is_one_finding(
    environment: dict[str, str], server: TokenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    login(environment, server)
    monkeypatch.setattr(
        "slack_bot.installing.find_spec", lambda name: None if name == "authlib" else find_spec(name)
    )
    async with well(environment) as setup:
        settings, agent = bad(await setup.look())
    assert "Authlib, which fetches tokens, is not here" in settings.text
    assert settings.remedy == "pip install --require-hashes -r deploy/run.txt"
    assert agent.state is UNKNOWN
