"""The login of the bot at an agent: what is missing, and what is too much."""

from __future__ import annotations

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.load import Settings, load


def read(env: dict[str, str]) -> Settings:
    return load(env, None, None)


def problems(env: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read(env)
    return caught.value.problems


CLIENT = "SLACK_BOT_AGENT__CLIENT__"
FETCHED = {f"{CLIENT}ID": "bot", f"{CLIENT}SECRET": "s", f"{CLIENT}TOKEN_URL": "https://t.example/token"}


@pytest.mark.parametrize("url", ["http://t.example", "t.example", "http://localhost.example", "ftp://x"])
def test_secrets_go_by_https_alone(url: str) -> None:
    line = f"{CLIENT}TOKEN_URL is {url!r}: should be an address that begins with https:// (http:// only to"
    assert problems({**FETCHED, f"{CLIENT}TOKEN_URL": url})[0].startswith(line)
    for here in ("http://localhost:80/t", "http://127.0.0.1:1", "http://[::1]/"):
        assert read({**FETCHED, f"{CLIENT}TOKEN_URL": here}).agent.client.token_url == here


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"ID": ""}, f"{CLIENT}SECRET and {CLIENT}TOKEN_URL need {CLIENT}ID: set it to the bot's client id"),
        ({"TOKEN_URL": ""}, f"{CLIENT}ID needs either {CLIENT}TOKEN_URL or {CLIENT}ISSUER: set one of them"),
        (
            {"ISSUER": "https://i.example"},
            f"{CLIENT}ID needs either {CLIENT}TOKEN_URL or {CLIENT}ISSUER: set one of them",
        ),
        (
            {"SECRET": ""},
            f"{CLIENT}ID is set, and no proof of it: set {CLIENT}SECRET or {CLIENT}PRIVATE_KEY or"
            f" {CLIENT}ASSERTION_FILE",
        ),
        (
            {"METHOD": "private_key_jwt"},
            f"{CLIENT}ID is set, and no proof of it: set {CLIENT}PRIVATE_KEY or {CLIENT}ASSERTION_FILE",
        ),
        (
            {"METHOD": "client_secret_post", "SECRET": "", "PRIVATE_KEY": "k"},
            f"{CLIENT}ID is set, and no proof of it: set {CLIENT}SECRET",
        ),
        (
            {"METHOD": "tls_client_auth", "CERTIFICATE": "c"},
            f"{CLIENT}METHOD is tls_client_auth: set {CLIENT}CERTIFICATE_FOR to token or both",
        ),
        ({"GRANT": "jwt_bearer"}, f"{CLIENT}GRANT is jwt_bearer: set {CLIENT}PRIVATE_KEY, which signs"),
        (
            {"TOKEN_FILE": "f"},
            f"{CLIENT}TOKEN_FILE and {CLIENT}ID each give a token for the agent: set one of them",
        ),
        (
            {"CERTIFICATE_KEY": "k"},
            f"{CLIENT}CERTIFICATE_KEY is set and {CLIENT}CERTIFICATE is not: set both or neither",
        ),
    ],
)
def test_a_login_that_lacks_something_or_has_too_much(changes: dict[str, str], line: str) -> None:
    env = {**FETCHED, **{f"{CLIENT}{name}": value for name, value in changes.items()}}
    assert problems(env) == [line]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"TOKEN_URL": "", "ISSUER": "https://i.example"},
        {"SECRET": "", "PRIVATE_KEY": "k"},
        {"SECRET": "", "ASSERTION_FILE": "f", "METHOD": "private_key_jwt"},
        {"SECRET": "", "METHOD": "tls_client_auth", "CERTIFICATE": "c", "CERTIFICATE_FOR": "both"},
        {"SECRET": "", "GRANT": "jwt_bearer", "PRIVATE_KEY": "k"},
    ],
)
def test_a_login_that_is_whole(changes: dict[str, str]) -> None:
    env = {**FETCHED, **{f"{CLIENT}{name}": value for name, value in changes.items()}}
    assert read(env).agent.client.fetches_tokens


def test_a_bearer_token_is_not_fetched_too() -> None:
    (line,) = problems({**FETCHED, "SLACK_BOT_AGENT__BEARER_TOKEN": "t"})
    assert line.startswith(f"SLACK_BOT_AGENT__BEARER_TOKEN and {CLIENT}ID each give a token")


def test_tokens_are_fetched_by_a_library_that_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slack_bot.installing.find_spec", lambda name: None)
    assert problems(FETCHED) == [
        f"{CLIENT}ID is set, and Authlib, which fetches tokens, is not here: pip install --require-hashes -r"
        " deploy/run.txt"
    ]
    read({f"{CLIENT}TOKEN_FILE": "f"})
