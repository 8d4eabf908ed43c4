"""`[keys.NAME]` and `[hooks.NAME]`: one sentence for each mistake, and no secret in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from slack_bot.errors import SettingsError
from slack_bot.settings.api_access import ApiTable, secret_variable
from slack_bot.settings.config_file import read_api, read_config
from slack_bot.settings.load import read
from slack_bot.settings.secret_values import secrets_of
from slack_bot.testing.harness import bot_settings

HASH = "sha256:" + "0" * 64
KEY = f'[keys.k]\nhash = "{HASH}"\n'
HOOK = '[hooks.h]\nverify = "hmac"\nchannel = "C1"\n'
ASK = 'ask = "What?"\n'
SECRET = {"SLACK_BOT_HOOKS__H__SECRET": SecretStr("a secret of a hook")}


def table(folder: Path, text: str, secrets: dict[str, SecretStr] | None = None) -> ApiTable:
    (file := folder / "slack_bot.toml").write_text(text, "utf-8")
    read_config(str(file))
    settings = bot_settings({"config": str(file)})
    return read_api(settings.model_copy(update={"hook_variables": SECRET if secrets is None else secrets}))


def test_what_is_not_set_is_not_allowed(tmp_path: Path) -> None:
    found = table(tmp_path, KEY + HOOK + ASK)
    key, hook = found.keys["k"], found.hooks["h"]
    assert (key.channels, key.may_dm, key.may_ask, key.may_mention, key.agents) == (
        (),
        False,
        False,
        False,
        (),
    )
    assert (hook.header, hook.prefix, hook.rate) == ("X-Hub-Signature-256", "sha256=", 60)
    assert hook.secret is not None and "a secret" not in repr(found)
    assert not table(tmp_path, "", {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[keys.k]\nhash = "sbk_the-key"\n', "keys.k.hash: should be the hash that"),
        ("[keys.k]\n", "keys.k.hash is not set"),
        (KEY + 'channels = ["general"]\n', "should be ids of channels (C0123456), or"),
        (KEY + "rate = 0\n", "keys.k.rate is 0: should be a whole number, greater than 0"),
        (KEY + 'agents = ["ops"]\n', "keys.k.agent is 'ops', which is no agent"),
        (HOOK, "hooks.h: set either ask or text, which is what is said"),
        (HOOK + ASK + 'text = "t"\n', "hooks.h: set either ask or text"),
        (HOOK + ASK + 'user = "U1"\n', "hooks.h: set either channel or user"),
        (HOOK + ASK + 'once = "{a}"\nonce_header = "X-Id"\n', "hooks.h: set once or once_header"),
        (HOOK + ASK + 'header = "X Id"\n', "hooks.h.header is 'X Id': should be the name of an HTTP header"),
        (
            HOOK + ASK + 'secret = "s"\n',
            "hooks.h.secret does not belong here: set SLACK_BOT_HOOKS__H__SECRET",
        ),
        (HOOK.replace("hmac", "hmca") + ASK, "should be hmac or bearer; did you mean 'hmac'?"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        table(tmp_path, text, SECRET if "hooks" in text else {})
    lines = [line for line in str(refused.value).splitlines() if "SECRET is not a setting" not in line]
    assert len(lines) == 1 and problem in lines[0]


def test_the_secret_of_a_webhook_is_its_variable(tmp_path: Path) -> None:
    assert secret_variable("my-hook") == "SLACK_BOT_HOOKS__MY_HOOK__SECRET"
    with pytest.raises(SettingsError, match=r"hooks\.h has no secret: set SLACK_BOT_HOOKS__H__SECRET"):
        table(tmp_path, HOOK + ASK, {})
    with pytest.raises(SettingsError, match="SLACK_BOT_HOOKS__G__SECRET is not a setting"):
        table(tmp_path, HOOK + ASK, {**SECRET, "SLACK_BOT_HOOKS__G__SECRET": SecretStr("x")})


def test_the_variable_is_read_and_masked() -> None:
    settings, problems, _ = read({"SLACK_BOT_HOOKS__H__SECRET": "a secret of a hook"}, None, None)
    assert problems == []
    assert "a secret of a hook" in secrets_of(settings)
    assert "a secret of a hook" not in repr(settings)
