"""The API is off without keys and webhooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.features.feature import FeatureWork
from slack_bot.testing.harness import run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.api.place import FILE


@on_virtual_time
async def test_without_them_nothing_is_built() -> None:
    async with run_bot() as bot:
        assert bot.app.features["api"] == FeatureWork()


@on_virtual_time
async def test_a_webhook_without_its_secret_stops_the_start(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text(FILE, "utf-8")
    with pytest.raises(SettingsError, match="set SLACK_BOT_HOOKS__GITHUB__SECRET in the environment"):
        async with run_bot(config=str(file)):
            pass
