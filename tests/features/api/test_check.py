"""What `doctor` says of keys and webhooks."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from slack_bot.features.api.check import check
from slack_bot.observe.findings import Diagnosis
from slack_bot.testing.harness import bot_settings, free_port
from slack_bot.testing.slack.workspace import APP_TOKEN
from tests.features.api.place import FILE, SECRETS, place

HASH = "sha256:" + "0" * 64


def findings(folder: Path, text: str, secrets: Mapping[str, SecretStr], **given: Any) -> list[Diagnosis]:
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")
    given = {"api.port": free_port(), "slack.app_token": APP_TOKEN, **given}
    settings = bot_settings({"config": str(file), **given}).model_copy(update={"hook_variables": secrets})

    async def run() -> list[Diagnosis]:
        return [each async for each in check(settings)]

    return asyncio.run(run())


def test_each_is_named(tmp_path: Path) -> None:
    found = findings(tmp_path, FILE, SECRETS)
    assert {each.state for each in found} == {"ok"}
    assert [each.text for each in found][-1] == "the webhook alerts is at /v1/hooks/alerts"


def test_what_can_be_guessed_or_does_too_much_is_a_warning(tmp_path: Path) -> None:
    text = (
        f'[keys.none]\nhash = "{HASH}"\n[keys.all]\nhash = "{HASH}"\nchannels = ["*"]\nmay_mention = true\n'
    )
    hook = '[hooks.h]\nverify = "bearer"\nchannel = "C1"\ntext = "t"\n'
    found = findings(tmp_path, text + hook, {"SLACK_BOT_HOOKS__H__SECRET": SecretStr("short")})
    assert [each.text for each in found][1:] == [
        "the key none may write nowhere",
        "the key all can ping everybody in every channel of the bot",
        "the secret of the webhook h is short",
    ]


def test_without_them_nothing_is_said_and_of_mistakes_the_check_of_the_file_speaks(tmp_path: Path) -> None:
    assert findings(tmp_path, "", {}) == []
    assert findings(tmp_path, '[keys.k]\nhash = "sbk_x"\n', {}) == []


def test_a_secret_without_a_file_is_a_mistake() -> None:
    secrets = {"SLACK_BOT_HOOKS__H__SECRET": SecretStr("hunter2-0042")}
    settings = bot_settings({}).model_copy(update={"hook_variables": secrets})

    async def run() -> list[Diagnosis]:
        return [each async for each in check(settings)]

    (found,) = asyncio.run(run())
    assert found.state == "failed" and "SLACK_BOT_HOOKS__H__SECRET is not a setting" in found.text
    assert "hunter2" not in found.text + found.remedy


KEY = f'[keys.k]\nhash = "{HASH}"\nchannels = ["C1"]\n'


def test_the_port_of_socket_mode_is_free_or_a_running_bot_s(tmp_path: Path) -> None:
    assert findings(tmp_path, KEY, {})[0].text.endswith(" is free")
    assert len(findings(tmp_path, KEY, {}, **{"slack.app_token": None})) == 1  # in HTTP mode it is Slack's
    port = free_port()
    (same, _) = findings(tmp_path, KEY, {}, **{"api.port": port, "health.port": port})
    assert (same.state, same.text) == ("failed", f"health and the API have the same port, {port}")
    with socket.create_server(("127.0.0.1", port)):
        (taken, _) = findings(tmp_path, KEY, {}, **{"api.port": port, "api.host": "127.0.0.1"})
    assert taken.state == "failed" and f"ort {port}" in taken.text


async def test_a_running_bot_has_its_port(tmp_path: Path) -> None:
    async with place(tmp_path, http=False) as there:
        given = {"api.port": there.port, "api.host": "127.0.0.1", "slack.app_token": APP_TOKEN}
        file = str(tmp_path / "slack_bot.toml")
        settings = bot_settings({"config": file, **given}).model_copy(update={"hook_variables": SECRETS})
        found = [each async for each in check(settings)]
    assert found[0].text == f"a bot that runs has the port {there.port}"
