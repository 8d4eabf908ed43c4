"""The bot's certificate, shown to an agent that wants one; and files of it that cannot be used."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from slack_bot.agents.wire.certificate import Certificate
from slack_bot.agents.wire.transport import map_exceptions, new_http
from slack_bot.errors import AgentError, SettingsError
from slack_bot.settings.models import AgentSettings, ClientSettings
from tests.tls import new_certificate, strict_agent


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[str], Path]:
    def new(name: str) -> Path:
        (tmp_path / name).mkdir()
        return new_certificate(tmp_path / name, name, "localhost")

    return new


async def get(url: str, client: dict[str, Any]) -> str:
    async with new_http(AgentSettings(url=url, client=ClientSettings(**client))) as http:
        with map_exceptions("the agent"):
            return (await http.get(url)).text


async def test_an_agent_that_wants_a_certificate_gets_it(
    folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, bots = folders("agent"), folders("bot")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    async with strict_agent(own, bots) as (url, seen):
        assert await get(url, {"certificate": str(bots)}) == "hello"
        with pytest.raises(AgentError):
            await get(url, {"certificate": str(bots), "certificate_for": "token"})
        with pytest.raises(AgentError):
            await get(url, {})
        with pytest.raises(AgentError):
            await get(url, {"certificate": str(folders("other"))})
        assert len(seen) == 1


async def test_a_key_of_its_own_with_a_password(
    folders: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, bots, key = folders("agent"), folders("bot"), tmp_path / "key.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    plain = serialization.load_pem_private_key(bots.read_bytes(), None)
    key.write_bytes(
        plain.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"open sesame"),
        )
    )
    client = {"certificate": str(bots), "certificate_key": str(key), "certificate_password": "open sesame"}
    async with strict_agent(own, bots) as (url, _):
        assert await get(url, client) == "hello"
    for password in ("wrong", ""):
        with pytest.raises(SettingsError) as caught:
            await get("https://localhost/", {**client, "certificate_password": password})
        assert "SLACK_BOT_AGENT__CLIENT__CERTIFICATE_PASSWORD is right" in str(caught.value)
        assert "sesame" not in str(caught.value)


async def test_a_renewed_certificate_is_shown_from_the_next_connection_on(
    folders: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, old, new, file = folders("agent"), folders("old"), folders("new"), tmp_path / "tls.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    file.write_bytes(old.read_bytes())
    async with strict_agent(own, old, new) as (url, seen):
        async with new_http(AgentSettings(url=url, client=ClientSettings(certificate=str(file)))) as http:
            await http.get(url)
            await http.get(url)
            os.replace(new, file)  # noqa: PTH105  as who writes it does
            await http.get(url)
            file.unlink()
            with pytest.raises(AgentError, match="cannot be read"):
                await http.get(url)
        assert len(seen) == 3
        assert seen[0] == seen[1] != seen[2]


def test_without_one_nothing_is_shown() -> None:
    assert Certificate.of(ClientSettings()) is None


@pytest.mark.parametrize(
    ("certificate", "key", "said"),
    [
        ("gone", None, "gone cannot be read (No such file or directory); correct SLACK_BOT_AGENT"),
        ("bot", "gone", "gone cannot be read (No such file or directory); correct SLACK_BOT_AGENT"),
        ("only certificate", None, "only certificate holds no private key as PEM; set SLACK_BOT_AGENT"),
        ("only key", None, "only key holds no certificate as PEM; correct SLACK_BOT_AGENT"),
        ("bot", "other", "is not that of the certificate in"),
        ("broken", None, "cannot be used; see whether the files are whole"),
    ],
)
def test_files_that_cannot_be_used(
    certificate: str, key: str | None, said: str, folders: Callable[[str], Path], tmp_path: Path
) -> None:
    both = folders("both").read_text()
    at = both.index("-----BEGIN CERTIFICATE")
    (tmp_path / "bot").write_text(both)
    (tmp_path / "only key").write_text(both[:at])
    (tmp_path / "only certificate").write_text(both[at:])
    (tmp_path / "other").write_text(folders("others").read_text())
    (tmp_path / "broken").write_text(both.replace("M", "N"))
    settings = ClientSettings(
        certificate=str(tmp_path / certificate), certificate_key=key and str(tmp_path / key)
    )
    found = Certificate.of(settings)
    assert found is not None
    with pytest.raises(SettingsError) as caught:
        found.shown_by(ssl.create_default_context())
    assert said in str(caught.value)
