"""What `doctor` says of keys and webhooks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from slack_bot.features.api.check import check
from slack_bot.observe.findings import Diagnosis
from slack_bot.testing.harness import bot_settings
from tests.features.api.place import FILE, SECRETS

HASH = "sha256:" + "0" * 64


def findings(folder: Path, text: str, secrets: Mapping[str, SecretStr]) -> list[Diagnosis]:
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")
    settings = bot_settings({"config": str(file)}).model_copy(update={"hook_variables": secrets})

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
    assert [each.text for each in found] == [
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
